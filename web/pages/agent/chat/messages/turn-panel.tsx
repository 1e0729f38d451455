// The turn behind a reply: each call of the model and of a tool, with time, tokens and cost.

import { useQuery } from "@tanstack/react-query";
import type { turnWithSteps } from "../../../../../plugins/runtime/conversations/model.ts";
import { api, path } from "../../../../api/api.ts";
import { ToolName } from "../../../../parts/agents/tool-name.tsx";
import { Dialog } from "../../../../parts/dialog.tsx";
import { ErrorNote } from "../../../../parts/error-note.tsx";
import { Figure } from "../../../../parts/page/page.tsx";
import { Skeleton } from "../../../../parts/skeleton.tsx";
import { formatDuration, formatNumber, formatTime, formatUsd, t, tn } from "../../../../viewer/language.ts";
import { Detail, InputDetail } from "./steps.tsx";

type Turn = typeof turnWithSteps.static;
type Step = Turn["steps"][number];

export default function TurnPanel({
  agentId,
  turnId,
  onClose,
}: {
  agentId: string;
  turnId: string;
  onClose: () => void;
}) {
  const { data, error, refetch } = useQuery({
    queryKey: ["turn", agentId, turnId],
    queryFn: () => api.get<Turn>(path`/api/agents/${agentId}/turns/${turnId}`),
  });
  return (
    <Dialog title={t("The turn behind this reply")} width="wide" onClose={onClose}>
      {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Skeleton className="h-40" />}
      {data && <TurnDetails {...data} />}
    </Dialog>
  );
}

function TurnDetails({ turn, steps }: Turn) {
  const { model, inputTokens, outputTokens, costUsd, startedAt, endedAt } = turn;
  const longest = Math.max(1, ...steps.map((step) => msOf(step) ?? 0));
  return (
    <div className="flex flex-col gap-4">
      <dl className="grid grid-cols-2 gap-3 sm:grid-cols-4">
        <Figure label={t("Cost")} value={formatUsd(costUsd)} />
        <Figure
          label={t("Tokens")}
          value={formatNumber(inputTokens + outputTokens)}
          hint={t("{input} read, {output} written", {
            input: formatNumber(inputTokens),
            output: formatNumber(outputTokens),
          })}
        />
        <Figure
          label={t("Time")}
          value={endedAt ? formatDuration(Date.parse(endedAt) - Date.parse(startedAt)) : "–"}
          hint={formatTime(Date.parse(startedAt), { dateStyle: "short", timeStyle: "medium" })}
        />
        <Figure label={t("Model")} value={<span className="text-base">{model ?? "–"}</span>} />
      </dl>
      {steps.length === 0 ? (
        <p className="text-soft">{t("No step of this turn was recorded: it was answered without a model.")}</p>
      ) : (
        <ol aria-label={t("Steps")} className="flex flex-col">
          {steps
            .filter(({ parent }) => parent === null)
            .map((step) => (
              <li key={step.seq} className="border-edge border-b py-2 last:border-b-0">
                <StepRow step={step} longest={longest} />
                <StepsWithin steps={steps.filter(({ parent }) => parent === step.seq)} longest={longest} />
              </li>
            ))}
        </ol>
      )}
      <p className="text-soft text-sm">
        {t("Tokens are the pieces of words in which models count. What is read includes the conversation so far.")}
      </p>
    </div>
  );
}

const msOf = ({ startedAt, endedAt }: Step) =>
  startedAt && endedAt ? Math.max(0, Date.parse(endedAt) - Date.parse(startedAt)) : undefined;

function StepState({ state }: Pick<Step, "state">) {
  if (state === "done") return null;
  const words = {
    failed: t("did not work"),
    unknown: t("outcome unknown"),
    waiting: t("waits for your approval"),
    running: t("is running"),
    cancelled: t("was not run"),
  };
  const isTrouble = state === "failed" || state === "unknown";
  return <span className={`text-sm ${isTrouble ? "text-warn" : "text-soft"}`}>{words[state]}</span>;
}

/** What a step has called itself: the parts of a task that it has delegated. */
function StepsWithin({ steps, longest }: { steps: readonly Step[]; longest: number }) {
  if (steps.length === 0) return null;
  return (
    <details className="mt-1 ml-7 text-sm">
      <summary className="text-soft">{tn("{n} step within it", "{n} steps within it", steps.length)}</summary>
      <ol aria-label={t("Steps within it")} className="mt-1 flex flex-col border-edge border-l-2 pl-2">
        {steps.map((step) => (
          <li key={step.seq} className="border-edge border-b py-2 last:border-b-0">
            <StepRow step={step} longest={longest} />
          </li>
        ))}
      </ol>
    </details>
  );
}

function StepRow({ step, longest }: { step: Step; longest: number }) {
  const { seq, part, kind, name, state, inputTokens, outputTokens, costUsd, input, output } = step;
  const ms = msOf(step);
  return (
    <>
      <div className="flex items-baseline gap-2">
        <span className="w-5 shrink-0 text-right text-soft text-sm">{formatNumber(seq)}</span>
        <span className="w-16 shrink-0 text-soft text-sm">{kind === "model" ? t("Model") : t("Tool")}</span>
        <span className="min-w-0 flex-1 truncate text-sm">
          {kind === "tool" ? <ToolName name={name} /> : <span className="font-mono">{name}</span>}
        </span>
        {part !== null && <span className="shrink-0 text-soft text-sm">{t("Part {n}", { n: part })}</span>}
        <StepState state={state} />
        <span className="shrink-0 text-sm">{ms === undefined ? "–" : formatDuration(ms)}</span>
      </div>
      <div className="mt-1 ml-7 flex flex-col gap-1 text-soft text-sm">
        <span aria-hidden="true" className="h-1 rounded-full bg-well">
          <span
            className={`block h-1 min-w-1 rounded-full ${kind === "model" ? "bg-fill" : "bg-line"}`}
            style={{ width: `${(100 * (ms ?? 0)) / longest}%` }}
          />
        </span>
        {inputTokens !== null && outputTokens !== null && costUsd !== null && (
          <span>
            {t("{input} tokens read, {output} written, {cost}", {
              input: formatNumber(inputTokens),
              output: formatNumber(outputTokens),
              cost: formatUsd(costUsd),
            })}
          </span>
        )}
        {state === "unknown" && (
          <span>{t("It was interrupted, and nobody knows whether it worked. It was not repeated.")}</span>
        )}
        {kind === "model" && output !== null && (
          <span className="line-clamp-4 whitespace-pre-wrap">{String(output)}</span>
        )}
        {kind === "tool" && (
          <details>
            <summary>{t("Input and result")}</summary>
            <div className="mt-1 flex flex-col gap-1.5">
              <InputDetail input={input} />
              {output !== null && <Detail label={t("Result")} text={String(output)} />}
            </div>
          </details>
        )}
      </div>
    </>
  );
}
