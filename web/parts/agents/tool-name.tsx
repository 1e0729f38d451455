// A tool by what it does; its own name stands beside, or appears when it is pointed at.

import { visibleText } from "../../../src/kernel/util/text/visible-text.ts";
import { toolLabel } from "../../data/tools.ts";

interface Props {
  name: string;
  /** The name that programs use stands beside the words, where people write it elsewhere. */
  isRawShown?: boolean;
}

export function ToolName({ name, isRawShown = false }: Props) {
  const label = toolLabel(name);
  const raw = visibleText(name);
  if (label === name) return <code className="break-all font-mono">{raw}</code>;
  if (!isRawShown) return <span title={raw}>{label}</span>;
  return (
    <>
      {label} <code className="break-all font-mono text-soft text-sm">{raw}</code>
    </>
  );
}
