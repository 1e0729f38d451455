// Code or a value to copy, in a frame that scrolls by itself. It is a group, no landmark: a page may show the same twice.

import { CopyButton } from "../values/copy-button.tsx";

interface Props {
  code: string;
  label: string;
  /** Long lines are broken, where their breaks have no meaning. */
  wraps?: boolean;
}

export const CodeBlock = ({ code, label, wraps = false }: Props) => (
  <div className="flex items-start rounded-large border border-edge bg-well">
    <pre
      tabIndex={0}
      aria-label={label}
      className="max-h-96 min-w-0 flex-1 overflow-auto rounded-large p-3 font-mono text-sm"
      role="group"
    >
      <code className={wraps ? "wrap-anywhere whitespace-pre-wrap" : "whitespace-pre"}>{code}</code>
    </pre>
    <div className="flex-none p-1.5">
      <CopyButton value={code} />
    </div>
  </div>
);
