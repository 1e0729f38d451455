// This server at a glance: what is wrong and what to do, what runs and waits, what it costs, and the last day in charts.

import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Link } from "wouter";
import { api } from "../../../api/api.ts";
import { useFleetLive } from "../../../api/fleet-events.ts";
import { lazyPart } from "../../../parts/lazy.tsx";
import { Loaded } from "../../../parts/page/loaded.tsx";
import { Figure, Page } from "../../../parts/page/page.tsx";
import { Skeleton } from "../../../parts/skeleton.tsx";
import { When } from "../../../parts/values/when.tsx";
import { formatBytes, formatNumber, formatUsd, t, tn } from "../../../viewer/language.ts";
import type { Overview, Queue } from "../api-types.ts";
import { MissingCells } from "../missing-cells.tsx";
import { ProblemList } from "./problem-list.tsx";

const DayCharts = lazyPart(
  async () => ({ default: (await import("./day-charts.tsx")).DayCharts }),
  () => <Skeleton className="h-96" />,
);

export default function OverviewPage() {
  const query = useQuery({
    queryKey: ["admin", "overview"],
    queryFn: () => api.get<Overview>("/api/admin/overview"),
    // Queues and providers change without an event.
    refetchInterval: 10_000,
  });
  useFleetLive(["admin", "overview"], ["agent.created", "agent.status", "agent.deleted", "channel.state"]);
  return (
    <Page
      title={t("This server")}
      intro={
        query.data && (
          <>
            Berth {query.data.version} · {t("started")} <When at={query.data.startedAt} />
          </>
        )
      }
    >
      <Loaded query={query} height="h-72">
        {(overview) => (
          <>
            <MissingCells cells={overview.cells} />
            <ProblemList problems={overview.problems} />
            <KeyFigures {...overview} />
          </>
        )}
      </Loaded>
      <DayCharts />
    </Page>
  );
}

function KeyFigures({ agents, channels, users, today, month, inbox, outbox, jobs, disk, database }: Overview) {
  const held = channels.connected + channels.connecting + channels.backing_off + channels.failed;
  return (
    <div className="mb-5 grid grid-cols-2 gap-2 sm:gap-3 lg:grid-cols-4">
      <Tile href="/admin/agents" label={t("Agents that answer")} value={ofAll(agents.up, agents.total)}>
        {t("{stopped} stopped, {failed} with an error", {
          stopped: formatNumber(agents.stopped),
          failed: formatNumber(agents.error),
        })}
      </Tile>
      <Tile href="/admin/channels" label={t("Channels connected")} value={ofAll(channels.connected, held)}>
        {t("{waiting} wait for their next try, {failed} failed", {
          waiting: formatNumber(channels.backing_off),
          failed: formatNumber(channels.failed),
        })}
      </Tile>
      <Tile href="/admin/usage" label={t("Cost today")} value={formatUsd(today.costUsd)}>
        {t("{amount} this month", { amount: formatUsd(month.costUsd) })}
      </Tile>
      <Tile href="/admin/agents?sort=errors" label={t("Errors today")} value={formatNumber(today.errors)}>
        {tn("in {n} call of models by agents", "in {n} calls of models by agents", today.agentCalls)}
      </Tile>
      <Tile href="/admin/jobs" label={t("Messages without a reply")} value={formatNumber(inbox.waiting)}>
        <Oldest {...inbox} />
      </Tile>
      <Tile href="/admin/jobs" label={t("Replies to deliver")} value={formatNumber(outbox.waiting)}>
        {jobs.failed > 0 ? (
          tn("{n} background job failed", "{n} background jobs failed", jobs.failed)
        ) : (
          <Oldest {...outbox} />
        )}
      </Tile>
      <Tile href="/admin/users" label={t("Accounts")} value={formatNumber(users.total)}>
        {tn("{n} new today", "{n} new today", users.newToday)}
      </Tile>
      <Tile href="/admin/storage" label={t("Free disk space")} value={formatBytes(disk.freeBytes)}>
        {database.bytes === null
          ? t("The database is on a server")
          : t("The database has {size}", { size: formatBytes(database.bytes + (database.logBytes ?? 0)) })}
      </Tile>
    </div>
  );
}

const ofAll = (part: number, all: number) => (
  <>
    {formatNumber(part)}{" "}
    <span className="font-normal text-base text-soft">{t("of {all}", { all: formatNumber(all) })}</span>
  </>
);

const Oldest = ({ oldestAt }: Queue) =>
  oldestAt === null ? (
    t("Nothing waits")
  ) : (
    <>
      {t("The oldest came")} <When at={oldestAt} />
    </>
  );

interface TileProps {
  href: string;
  label: string;
  value: ReactNode;
  children: ReactNode;
}

const Tile = ({ href, label, value, children }: TileProps) => (
  <Link
    href={href}
    className="rounded-large border border-edge bg-card px-3 py-2.5 transition-colors sm:px-4 sm:py-3 hover:border-line"
  >
    <dl>
      <Figure label={label} value={value} hint={children} />
    </dl>
  </Link>
);
