// The history of a schedule: each run with its outcome, and the way to its conversation.

import { Link } from "wouter";
import { Button } from "../../../parts/button.tsx";
import { ErrorNote } from "../../../parts/error-note.tsx";
import { Skeleton } from "../../../parts/skeleton.tsx";
import { Status } from "../../../parts/values/status.tsx";
import { When } from "../../../parts/values/when.tsx";
import { t, tn } from "../../../viewer/language.ts";
import { type Run, type Schedule, useRuns } from "./data.ts";
import { STATUSES } from "./statuses.ts";

export function Runs({ agentId, schedule: { id, name } }: { agentId: string; schedule: Schedule }) {
  const runs = useRuns(agentId, id);
  const items = runs.data?.pages.flatMap((page) => page.runs);
  return (
    <section aria-label={t("History of {name}", { name })} className="border-edge border-t bg-page px-4 py-3">
      {runs.error && <ErrorNote error={runs.error} onRetry={() => void runs.refetch()} />}
      {!items && !runs.error && <Skeleton className="h-16" />}
      {items?.length === 0 && (
        <p className="text-soft">{t("It has not run yet. Its last hundred runs appear here.")}</p>
      )}
      {items && items.length > 0 && (
        <ol className="flex flex-col">
          {items.map((run) => (
            <RunRow key={run.id} agentId={agentId} run={run} />
          ))}
        </ol>
      )}
      {runs.hasNextPage && (
        <Button className="mt-2" isBusy={runs.isFetchingNextPage} onClick={() => void runs.fetchNextPage()}>
          {t("Show earlier runs")}
        </Button>
      )}
    </section>
  );
}

function RunRow({ agentId, run: { cause, status, missed, dueAt, sessionId, error } }: { agentId: string; run: Run }) {
  const { label, tone } = STATUSES[status];
  return (
    <li className="flex flex-wrap items-baseline gap-x-4 gap-y-0.5 border-edge border-b py-1.5 last:border-b-0">
      <span className="w-24 shrink-0">
        <Status tone={tone}>{t(label)}</Status>
      </span>
      <span className="w-40 shrink-0">
        <When at={dueAt} isExact />
      </span>
      <span className="min-w-40 flex-1 text-soft">
        {cause === "manual" && t("Started by hand.")}
        {cause === "missed" && status !== "skipped" && t("Made up for a missed time.")}
        {missed > 0 &&
          ` ${tn("It stands for {n} more that was missed.", "It stands for {n} more that were missed.", missed)}`}
        {error !== null && <span className={status === "failed" ? "text-bad" : ""}> {error}</span>}
      </span>
      {sessionId !== null && (
        <Link href={`/agents/${agentId}/chat/${sessionId}`} className="text-sea hover:underline">
          {t("See the conversation")}
        </Link>
      )}
    </li>
  );
}
