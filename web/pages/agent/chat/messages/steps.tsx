// The tools that a reply has used: one line that unfolds into each call with its input and result.

import { Check, ChevronRight, LoaderCircle, X } from "lucide-react";
import { toolLabel } from "../../../../data/tools.ts";
import { ToolName } from "../../../../parts/agents/tool-name.tsx";
import { CodeBlock } from "../../../../parts/text/code-block.tsx";
import { formatDuration, t, tn } from "../../../../viewer/language.ts";
import type { StepView } from "../chat-data.ts";
import type { LiveStep } from "../live-turn.ts";

type Shown = Pick<LiveStep, "name" | "input" | "state" | "parent"> & {
  id: string;
  result?: string;
  ms?: number | null;
};
type Stored = Omit<StepView, "steps"> & Pick<Partial<StepView>, "steps">;

/** Those that were made within a step follow it. */
export const toShown = (steps: readonly Stored[], parent?: string): Shown[] =>
  steps.flatMap(({ steps: within = [], ok, ...step }, index) => {
    const id = parent === undefined ? String(index) : `${parent}.${index}`;
    return [
      { ...step, id, state: ok ? "done" : "failed", ...(parent !== undefined && { parent }) },
      ...toShown(within, id),
    ];
  });

const SUMMARY =
  "inline-flex max-w-full items-center gap-1.5 rounded-round px-1.5 py-0.5 hover:bg-hover [&::-webkit-details-marker]:hidden [details[open]>&>svg:first-child]:rotate-90";

export function Steps({ steps: all }: { steps: readonly Shown[] }) {
  const steps = all.filter(({ parent }) => parent === undefined);
  if (steps.length === 0) return null;
  const running = steps.filter(({ state }) => state === "called");
  const failed = steps.filter(({ state }) => state === "failed").length;
  const ms = steps.reduce((sum, step) => sum + (step.ms ?? 0), 0);
  return (
    <details className="-ml-1.5 text-soft text-sm">
      <summary className={`${SUMMARY} list-none`}>
        <ChevronRight className="size-3.5 shrink-0 transition-transform" aria-hidden="true" />
        {running.length > 0 ? (
          <>
            <LoaderCircle className="size-3.5 shrink-0 animate-spin text-sea" aria-hidden="true" />
            <span className="truncate">{t("Uses {tool}…", { tool: toolLabel(running[0]?.name ?? "") })}</span>
          </>
        ) : (
          <span className="truncate">
            {tn("Used {n} tool: {names}", "Used {n} tools: {names}", steps.length, {
              names: [...new Set(steps.map(({ name }) => toolLabel(name)))].join(", "),
            })}
            {failed > 0 && <span className="text-warn"> · {tn("{n} did not work", "{n} did not work", failed)}</span>}
            {ms > 0 && ` · ${formatDuration(ms)}`}
          </span>
        )}
      </summary>
      <ol className="mt-1 ml-2 flex flex-col border-edge border-l-2 pl-3">
        {steps.map((step) => (
          <li key={step.id} className="py-0.5">
            <Step step={step} all={all} />
          </li>
        ))}
      </ol>
    </details>
  );
}

function Step({ step: { id, name, input, state, result, ms }, all }: { step: Shown; all: readonly Shown[] }) {
  const within = all.filter(({ parent }) => parent === id);
  return (
    <details>
      <summary className={`${SUMMARY} list-none`}>
        <ChevronRight className="size-3.5 shrink-0 transition-transform" aria-hidden="true" />
        <StepMark state={state} />
        <span className="truncate text-ink">
          <ToolName name={name} />
        </span>
        {ms !== undefined && ms !== null && <span className="shrink-0">{formatDuration(ms)}</span>}
      </summary>
      <div className="mt-1 mb-2 ml-5 flex flex-col gap-1.5">
        <InputDetail input={input} />
        {within.length > 0 && (
          <div>
            <p className="text-xs">{t("Tools that it used")}</p>
            <ol aria-label={t("Tools that it used")} className="flex flex-col border-edge border-l-2 pl-3">
              {within.map((step) => (
                <li key={step.id} className="py-0.5">
                  <Step step={step} all={all} />
                </li>
              ))}
            </ol>
          </div>
        )}
        {result !== undefined && <Detail label={t("Result")} text={result} />}
      </div>
    </details>
  );
}

function StepMark({ state }: { state: Shown["state"] }) {
  if (state === "called") {
    return <LoaderCircle className="size-3.5 shrink-0 animate-spin text-sea" role="img" aria-label={t("runs")} />;
  }
  if (state === "done") return <Check className="size-3.5 shrink-0 text-good" role="img" aria-label={t("done")} />;
  return <X className="size-3.5 shrink-0 text-warn" role="img" aria-label={t("did not work")} />;
}

/** The input of a call; the code of a program as it was written. */
export function InputDetail({ input }: { input: unknown }) {
  const code = codeIn(input);
  if (code !== undefined) return <CodeBlock code={code} label={t("Code")} />;
  return <Detail label={t("Input")} text={typeof input === "string" ? input : JSON.stringify(input, undefined, 2)} />;
}

/** The program, if the input is nothing else. */
const codeIn = (input: unknown): string | undefined =>
  typeof input === "object" &&
  input !== null &&
  "code" in input &&
  typeof input.code === "string" &&
  Object.keys(input).length === 1
    ? input.code
    : undefined;

/** Text of a tool, as it is. */
export const Detail = ({ label, text }: { label: string; text: string | undefined }) => (
  <div>
    <p className="text-xs">{label}</p>
    <pre
      tabIndex={0}
      role="group"
      aria-label={label}
      className="max-h-60 overflow-auto whitespace-pre-wrap rounded-round border border-edge bg-well p-2 font-mono text-ink text-xs"
    >
      <bdi>{text === undefined || text === "" ? "–" : text}</bdi>
    </pre>
  </div>
);
