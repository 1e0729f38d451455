// The input of a tool call, field by field, as the tool gets it. It comes from a model, and is shown as text.

import { inputFields } from "../../data/approval.ts";
import { toolLabel } from "../../data/tools.ts";
import { ToolName } from "../../parts/agents/tool-name.tsx";
import { t } from "../../viewer/language.ts";

export function CallInput({ tool, input }: { tool: string; input: unknown }) {
  const fields = inputFields(input);
  return (
    <div
      className="max-h-72 overflow-auto rounded-round border border-edge bg-well px-3 py-2 font-mono text-sm"
      tabIndex={0}
      role="group"
      aria-label={t("What {tool} gets", { tool: toolLabel(tool) })}
    >
      <p className="break-all font-semibold">
        <ToolName name={tool} isRawShown />
      </p>
      <dl className="mt-1 grid grid-cols-[minmax(4rem,auto)_minmax(0,1fr)] gap-x-3 gap-y-1">
        {fields.map(([name, value]) => (
          <div key={name} className="contents">
            <dt className="break-all text-soft">{name}</dt>
            <dd className="whitespace-pre-wrap break-words">{value}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}
