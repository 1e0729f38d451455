// Answers the questions of admins about the whole instance, or about one of its cells: the reports as they go over the wire.
import type { Static } from "elysia";
import { isChannelId } from "../../channels/registry.ts";
import { version } from "../../package.json";
import { programName } from "../../src/kernel/config/program-name.ts";
import { invalidInput } from "../../src/kernel/errors.ts";
import { readLimit } from "../../src/kernel/http/paging.ts";
import type { Kernel, ServiceOf } from "../../src/kernel/plugin.ts";
import { MINUTE } from "../../src/kernel/util/time.ts";
import { type ai as aiPlugin, dateOf, parseDayRange } from "../ai/index.ts";
import type { channels as channelsPlugin } from "../channels/index.ts";
import type { lifecycle as lifecyclePlugin } from "../lifecycle/index.ts";
import type { DatabaseBackup, DatabaseBackups } from "./backups/database-backups.ts";
import type { FigureRecorder } from "./figures/figures.ts";
import { MINUTES_PER_DAY } from "./figures/minute-ring.ts";
import type { SettingsReport } from "./instance/settings-report.ts";
import type { StorageReport } from "./instance/storage.ts";
import type { figuresQuery, figuresResponse, storageResponse, versionsResponse } from "./instance-model.ts";
import type {
  agentsQuery,
  agentsResponse,
  channelsQuery,
  channelsResponse,
  fleetUsageQuery,
  jobsQuery,
  jobsResponse,
  overviewResponse,
  providersResponse,
  usageResponse,
} from "./model.ts";
import type { FleetCounts, Queue } from "./reports/counts.ts";
import { dayOf, isoOrNull, monthStart } from "./reports/days.ts";
import type { FleetAgents } from "./reports/fleet-agents.ts";
import type { FleetJobs } from "./reports/fleet-jobs.ts";
import type { FleetUsageReport } from "./reports/fleet-usage.ts";
import { type OverviewFacts, startedAt, toOverview } from "./reports/overview.ts";

export interface ReportDeps extends Pick<Kernel, "config" | "database"> {
  ai: Pick<ServiceOf<typeof aiPlugin>, "providerReports">;
  channels: Pick<ServiceOf<typeof channelsPlugin>, "fleet">;
  lifecycle: Pick<ServiceOf<typeof lifecyclePlugin>, "runtimeVersions">;
  agents: FleetAgents;
  counts: () => Promise<FleetCounts>;
  figures: FigureRecorder;
  jobs: FleetJobs;
  overview: () => Promise<OverviewFacts>;
  settings: () => Promise<SettingsReport>;
  storage: () => Promise<StorageReport>;
  usage: FleetUsageReport;
  backups: DatabaseBackups;
}

type AgentsQuery = Static<typeof agentsQuery>;

export const PAGE = 50;
export const MAX_PAGE = 200;

const toQueue = ({ waiting, oldestAt }: Queue) => ({ waiting, oldestAt: isoOrNull(oldestAt) });

export const toBackupItem = ({ createdAt, ...backup }: DatabaseBackup) => ({
  ...backup,
  createdAt: new Date(createdAt).toISOString(),
});

export type FleetReports = ReturnType<typeof createFleetReports>;
/** What a cell tells of itself: of the overview its facts, which are judged together. */
export type CellReports = Omit<FleetReports, "overview" | "settings" | "backups"> & Pick<ReportDeps, "overview">;

export function createFleetReports(deps: ReportDeps) {
  const { config, database, ai, channels, lifecycle, agents, counts, figures, jobs, usage, backups } = deps;

  /** The agents that match, where that number is known; undefined otherwise. */
  async function countAgents({ query, status, owner }: Static<typeof agentsQuery>): Promise<number | null> {
    if (query?.trim()) return null;
    if (owner !== undefined) {
      if (status !== undefined) return null;
      const { rows } = await database.read("SELECT count(*) AS count FROM agents WHERE user_id = ?", [owner]);
      return Number(rows[0]?.count);
    }
    const { agents: totals } = await counts();
    return status === undefined ? totals.total : totals[status];
  }

  return {
    overview: async (): Promise<Static<typeof overviewResponse>> => toOverview(await deps.overview()),

    agents: async (query: AgentsQuery): Promise<Static<typeof agentsResponse>> => {
      const { limit, sort = "created", cell: _, ...filter } = query;
      const [page, total] = await Promise.all([
        agents.list({ ...filter, sort, limit: readLimit(limit, PAGE, MAX_PAGE) }),
        countAgents(query),
      ]);
      const items = page.agents.map(({ lastActivityAt, createdAt, ...agent }) => ({
        ...agent,
        lastActivityAt: isoOrNull(lastActivityAt),
        createdAt: new Date(createdAt).toISOString(),
      }));
      return { agents: items, total, next: page.next };
    },

    async usage({ by = "day", user, from, to }: Static<typeof fleetUsageQuery>): Promise<Static<typeof usageResponse>> {
      const range = parseDayRange({ from, to }, Date.now());
      const report = await usage(range, by, user);
      return { from: dateOf(range.from), to: dateOf(range.to), by, ...report };
    },

    async channels({
      state,
      channel,
      query,
      limit,
      cursor,
    }: Static<typeof channelsQuery>): Promise<Static<typeof channelsResponse>> {
      if (channel !== undefined && !isChannelId(channel)) {
        throw invalidInput({ path: "channel", message: "There is no such channel." });
      }
      const [{ connections, next }, states, { undelivered }] = await Promise.all([
        channels.fleet.page({ state, channel, query, after: cursor, limit: readLimit(limit, PAGE, MAX_PAGE) }),
        channels.fleet.counts(),
        counts(),
      ]);
      const items = connections.map(({ since, nextTryAt, ...one }) => ({
        ...one,
        since: new Date(since).toISOString(),
        nextTryAt: isoOrNull(nextTryAt),
      }));
      const waiting = undelivered.map(({ channel, ...queue }) => ({ channel, ...toQueue(queue) }));
      return { channels: items, counts: states, undelivered: waiting, next: next ?? null };
    },

    providers: async (): Promise<Static<typeof providersResponse>> => {
      const today = dayOf(Date.now());
      const [day, month] = await Promise.all([
        usage({ from: today, to: today }, "provider"),
        usage({ from: monthStart(today), to: today }, "provider"),
      ]);
      const spent = ({ rows }: typeof day, id: string) => rows.find(({ key }) => key === id)?.costUsd ?? 0;
      const now = Date.now();
      const providers = ai
        .providerReports()
        .map(({ retryAfterMs, reachable, calls, failed, medianMs, p95Ms, lastAt, ...one }) => ({
          ...one,
          reachable: reachable ?? null,
          retryAt: retryAfterMs > 0 ? new Date(now + retryAfterMs).toISOString() : null,
          recent: { calls, failed, medianMs: medianMs ?? null, p95Ms: p95Ms ?? null, lastAt: isoOrNull(lastAt) },
          todayUsd: spent(day, one.id),
          monthUsd: spent(month, one.id),
        }));
      return { providers };
    },

    async jobs({ limit, cursor }: Static<typeof jobsQuery>): Promise<Static<typeof jobsResponse>> {
      const [kinds, failed, { inbox, outbox, webhooks }] = await Promise.all([
        jobs.kinds(),
        jobs.failed(readLimit(limit, PAGE, MAX_PAGE), cursor),
        counts(),
      ]);
      return {
        kinds: kinds.map(({ nextAt, ...kind }) => ({ ...kind, nextAt: isoOrNull(nextAt) })),
        queues: { inbox: toQueue(inbox), outbox: toQueue(outbox), webhooks: toQueue(webhooks) },
        failed: failed.jobs.map(({ createdAt, ...job }) => ({ ...job, createdAt: new Date(createdAt).toISOString() })),
        next: failed.next,
      };
    },

    async figures({ step = "5" }: Static<typeof figuresQuery>): Promise<Static<typeof figuresResponse>> {
      const minutes = Number(step);
      await figures.load();
      const { from, figures: series } = figures.read(minutes, MINUTES_PER_DAY / minutes);
      return { from: new Date(from).toISOString(), stepSeconds: (minutes * MINUTE) / 1000, figures: series };
    },

    settings: deps.settings,

    storage: async (): Promise<Static<typeof storageResponse>> => {
      const [report, list] = await Promise.all([deps.storage(), backups.list()]);
      return { ...report, backups: list.map(toBackupItem) };
    },

    backups: async () => ({ backups: (await backups.list()).map(toBackupItem) }),

    versions: async (): Promise<Static<typeof versionsResponse>> => {
      const [{ runtimes }, { rows }] = await Promise.all([
        counts(),
        database.read("SELECT max(name) AS name FROM migrations"),
      ]);
      const available = lifecycle.runtimeVersions();
      const unused = available.filter((one) => runtimes.every((used) => used.version !== one));
      const all = [...runtimes, ...unused.map((one) => ({ version: one, agents: 0 }))];
      return {
        version,
        bun: Bun.version,
        platform: `${process.platform}-${process.arch}`,
        startedAt,
        role: config.role,
        program: programName(),
        migration: String(rows[0]?.name),
        runtimes: all.map((one) => ({ ...one, available: available.includes(one.version) })),
      };
    },
  };
}
