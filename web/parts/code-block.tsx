// Code or a value to copy, in a frame that scrolls by itself. It is a group, no landmark: a page may show the same twice.

import { CopyButton } from "./copy-button.tsx";

export const CodeBlock = ({ code, label }: { code: string; label: string }) => (
  <div className="relative rounded-large border border-edge bg-well">
    <pre tabIndex={0} aria-label={label} className="max-h-96 overflow-auto p-3 pr-12 font-mono text-sm" role="group">
      <code className="whitespace-pre">{code}</code>
    </pre>
    <div className="absolute top-1.5 right-1.5">
      <CopyButton value={code} />
    </div>
  </div>
);
