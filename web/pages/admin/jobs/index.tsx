// Queues and background jobs: what waits and since when, what is late, and what failed.

import { useInfiniteQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { api } from "../../../api/api.ts";
import { MoreButton } from "../../../parts/lists/more-button.tsx";
import { type Column, Table } from "../../../parts/lists/table.tsx";
import { Loaded } from "../../../parts/page/loaded.tsx";
import { Page, Section } from "../../../parts/page/page.tsx";
import { Status } from "../../../parts/values/status.tsx";
import { When } from "../../../parts/values/when.tsx";
import { formatNumber, t } from "../../../viewer/language.ts";
import type { JobKind, JobPage, Queue } from "../api-types.ts";
import { MissingCells } from "../missing-cells.tsx";
import { FailedJobs, RetryAll } from "./failed-jobs.tsx";

export default function JobsPage() {
  const query = useInfiniteQuery({
    queryKey: ["admin", "jobs"],
    queryFn: ({ pageParam }) => api.get<JobPage>("/api/admin/jobs", { limit: 50, cursor: pageParam || undefined }),
    initialPageParam: "",
    getNextPageParam: ({ next }) => next ?? undefined,
    refetchInterval: 5_000,
  });
  return (
    <Page
      title={t("Jobs and queues")}
      intro={t("Work that waits. Nothing of it is lost by a restart; what fails is tried again, later each time.")}
    >
      <Loaded query={query} height="h-96">
        {({ pages }) => {
          const [first] = pages;
          if (!first) return null;
          const failed = pages.flatMap((page) => page.failed);
          return (
            <>
              <MissingCells cells={first.cells} />
              <div className="mb-5 grid gap-3 sm:grid-cols-3">
                <QueueTile title={t("Messages without a reply")} lateAfterMs={60_000} {...first.queues.inbox} />
                <QueueTile title={t("Replies to deliver")} lateAfterMs={300_000} {...first.queues.outbox} />
                <QueueTile title={t("Webhook deliveries")} lateAfterMs={900_000} {...first.queues.webhooks} />
              </div>
              <Section
                title={t("Failed for good")}
                hint={t("They were tried several times. Repair the cause, then try them again; or discard them.")}
                actions={failed.length > 1 && <RetryAll jobs={failed} />}
              >
                {failed.length === 0 ? (
                  <p className="text-soft">{t("No job has failed.")}</p>
                ) : (
                  <FailedJobs jobs={failed} />
                )}
                <MoreButton query={query} />
              </Section>
              <Section title={t("Kinds of jobs")}>
                {first.kinds.length === 0 ? (
                  <p className="text-soft">{t("No job waits.")}</p>
                ) : (
                  <Table label={t("Kinds of jobs")} columns={columns()} rows={first.kinds} keyOf={({ kind }) => kind} />
                )}
              </Section>
            </>
          );
        }}
      </Loaded>
    </Page>
  );
}

interface TileProps extends Queue {
  title: string;
  lateAfterMs: number;
}

function QueueTile({ title, waiting, oldestAt, lateAfterMs }: TileProps) {
  const isLate = oldestAt !== null && Date.now() - Date.parse(oldestAt) > lateAfterMs;
  const state: ReactNode =
    oldestAt === null ? (
      <Status tone="good">{t("Nothing waits")}</Status>
    ) : (
      <Status tone={isLate ? "warn" : "busy"}>
        {t("The oldest came")} <When at={oldestAt} />
      </Status>
    );
  return (
    <section className="rounded-large border border-edge bg-card px-4 py-3">
      <h2 className="text-soft text-sm">{title}</h2>
      <p className="font-semibold text-lg">{formatNumber(waiting)}</p>
      <p className="text-sm">{state}</p>
    </section>
  );
}

const number = (value: number, isBad = false) =>
  value === 0 ? (
    <span className="text-soft">0</span>
  ) : (
    <span className={isBad ? "text-bad" : ""}>{formatNumber(value)}</span>
  );

const columns = (): Column<JobKind>[] => [
  { key: "kind", head: t("Kind"), cell: ({ kind }) => <code className="font-mono text-sm">{kind}</code> },
  { key: "waiting", head: t("Waiting"), isNumber: true, cell: ({ waiting }) => number(waiting) },
  { key: "running", head: t("Running"), isNumber: true, cell: ({ running }) => number(running) },
  { key: "late", head: t("Late"), isNumber: true, cell: ({ late }) => number(late, true) },
  { key: "failed", head: t("Failed"), isNumber: true, cell: ({ failed }) => number(failed, true) },
  { key: "next", head: t("Next one"), cell: ({ nextAt }) => (nextAt ? <When at={nextAt} /> : "–") },
];
