// The overview of the instance in one answer: what is wrong first, then what runs, waits and costs. Its facts are gathered first, so
// that those of several cells can be joined before they are judged.
import type { Static } from "elysia";
import { version } from "../../../package.json";
import type { Kernel, ServiceOf } from "../../../src/kernel/plugin.ts";
import type { Outages } from "../../../src/kernel/telemetry/outages.ts";
import type { ai as aiPlugin } from "../../ai/index.ts";
import type { channels as channelsPlugin } from "../../channels/index.ts";
import type { DatabaseBackups } from "../backups/database-backups.ts";
import type { FigureRecorder } from "../figures/figures.ts";
import type { Runs } from "../instance/runs.ts";
import type { SettingsReport } from "../instance/settings-report.ts";
import type { StorageReport } from "../instance/storage.ts";
import type { overviewResponse } from "../model.ts";
import type { FleetCounts, Queue } from "./counts.ts";
import { isoOrNull } from "./days.ts";
import { findProblems } from "./problems/find-problems.ts";
import type { ProblemFacts } from "./problems/problem.ts";

/** What one cell knows of itself. All of it can be sent as JSON. */
export interface OverviewFacts extends ProblemFacts {
  database: StorageReport["database"];
  /** Since the start of the process. */
  turns: { ended: number; failed: number };
  streams: { live: number };
  /** ISO 8601. */
  startedAt: string;
}

/** Of this process. */
export const startedAt = new Date(Date.now() - process.uptime() * 1000).toISOString();

/** Minutes of which the worst delay counts. */
const LAG_MINUTES = 5;

interface Deps extends Pick<Kernel, "database" | "metrics"> {
  ai: Pick<ServiceOf<typeof aiPlugin>, "providerReports" | "isDemo">;
  channels: Pick<ServiceOf<typeof channelsPlugin>, "fleet">;
  counts: () => Promise<FleetCounts>;
  storage: () => Promise<StorageReport>;
  settings: () => Promise<SettingsReport>;
  backups: Pick<DatabaseBackups, "health">;
  figures: Pick<FigureRecorder, "read">;
  runs: Pick<Runs, "suddenEnds">;
  outages: Pick<Outages, "current">;
}

export function createOverview(deps: Deps) {
  const { database, metrics, ai, channels, counts, storage, settings, backups, figures, runs, outages } = deps;
  let databaseCreatedAt: Promise<number> | undefined;

  /** The time of the first migration: a new instance needs no backup yet. */
  async function readCreation(): Promise<number> {
    const { rows } = await database.read("SELECT min(applied_at) AS at FROM migrations");
    return Number(rows[0]?.at ?? Date.now());
  }

  return async (): Promise<OverviewFacts> => {
    databaseCreatedAt ??= readCreation().catch((error: unknown) => {
      databaseCreatedAt = undefined;
      throw error;
    });
    const [counted, states, stored, report, health, createdAt, databaseWorks, suddenEnds] = await Promise.all([
      counts(),
      channels.fleet.counts(),
      storage(),
      settings(),
      backups.health(),
      databaseCreatedAt,
      database.ready().catch(() => false),
      runs.suddenEnds(),
    ]);
    const delays = figures.read(1, LAG_MINUTES).figures.lagMs.map((ms) => ms ?? 0);
    return {
      now: Date.now(),
      counts: counted,
      channels: states,
      providers: ai.providerReports(),
      isDemo: ai.isDemo(),
      databaseWorks,
      backups: database.file === undefined ? undefined : { ...health, databaseCreatedAt: createdAt },
      disk: stored.disk,
      database: stored.database,
      settings: report.findings,
      lagMs: Math.max(...delays),
      suddenEnds,
      outages: [...outages.current.values()],
      turns: {
        ended: metrics.sum("berth_turns_total"),
        failed: metrics.sum("berth_turns_total", { outcome: "failed" }),
      },
      streams: { live: metrics.sum("berth_live_streams") },
      startedAt,
    };
  };
}

const toQueue = ({ waiting, oldestAt }: Queue) => ({ waiting, oldestAt: isoOrNull(oldestAt) });

/** The overview as it goes over the wire. */
export function toOverview(facts: OverviewFacts): Static<typeof overviewResponse> {
  const { counts, channels, disk, database, turns, streams } = facts;
  const { jobs, webhooks, today, monthUsd, inbox, outbox, users, agents } = counts;
  const { waiting, late, running, failed } = jobs;
  return {
    problems: findProblems(facts),
    users,
    agents,
    channels,
    today,
    month: { costUsd: monthUsd },
    inbox: toQueue(inbox),
    outbox: toQueue(outbox),
    webhooks: { ...toQueue(webhooks), disabledEndpoints: webhooks.disabledEndpoints },
    jobs: { waiting, late, running, failed },
    turns,
    schedules: { late: counts.schedulesLate },
    approvals: { waiting: counts.approvalsWaiting },
    streams,
    disk,
    database,
    version,
    startedAt: facts.startedAt,
  };
}
