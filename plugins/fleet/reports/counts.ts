// Counts the users, agents and waiting work of the instance by a few queries on the addon's thread, kept for some seconds.
import type { Kernel } from "../../../src/kernel/plugin.ts";
import { DAY, firstIdAt, MINUTE, SECOND, timeOfId } from "../../../src/kernel/util/time.ts";
import { dayOf, monthStart } from "./days.ts";
import type { FleetUsageReport } from "./fleet-usage.ts";
import { createStaleCache } from "./stale-cache.ts";

/** Times are epoch ms. */
export interface FleetCounts {
  users: { total: number; disabled: number; newToday: number };
  agents: { total: number; up: number; stopped: number; error: number };
  runtimes: { version: string; agents: number }[];
  today: { calls: number; agentCalls: number; costUsd: number; ownKeyUsd: number; errors: number };
  monthUsd: number;
  inbox: Queue;
  outbox: Queue;
  webhooks: Queue & { disabledEndpoints: number };
  /** Channels that have replies to deliver. */
  undelivered: (Queue & { channel: string })[];
  schedulesLate: number;
  approvalsWaiting: number;
  jobs: { waiting: number; late: number; running: number; failed: number; oldestAt: number | null };
}

/** The number of waiting entries, and the time of the oldest. */
export interface Queue {
  waiting: number;
  oldestAt: number | null;
}

/** A job counts as late a minute after it was due. */
export const LATE_MS = MINUTE;

const USERS = `SELECT count(*) AS total, coalesce(sum(disabled_at IS NOT NULL), 0) AS disabled,
  coalesce(sum(created_at >= ?), 0) AS fresh FROM users WHERE email NOT LIKE '%@unclaimed.invalid'`;
const AGENTS = "SELECT status, count(*) AS count FROM agents GROUP BY status";
const RUNTIMES =
  "SELECT runtime_version AS version, count(*) AS count FROM agents GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 50";
const TODAY = `SELECT coalesce(sum(CASE WHEN agent_id <> '' THEN calls ELSE 0 END), 0) AS agentCalls, coalesce(sum(calls), 0) AS calls,
    coalesce(sum(cost_micro_usd), 0) AS cost, coalesce(sum(cost_micro_usd * own_key), 0) AS own
  FROM usage_days WHERE day = ?`;
// Without the name of the index, SQLite would read all of today's lines.
const ERRORS =
  "SELECT count(*) AS count FROM agent_logs INDEXED BY agent_logs_errors WHERE level = 'error' AND id >= ?";
/** Messages to a stopped agent, and turns that wait for approval, wait for their owner, not for the service. */
const INBOX = `SELECT count(*) AS count, min(inbox.received_at + inbox.waited_ms) AS since FROM inbox
  JOIN agents ON agents.id = inbox.agent_id AND agents.status <> 'stopped'
  WHERE inbox.status = 'pending' AND inbox.suspended IS NOT 1`;
const OUTBOX = `SELECT count(*) AS count, min(outbox.id) AS oldest FROM outbox
  JOIN agents ON agents.id = outbox.agent_id AND agents.status <> 'stopped' WHERE outbox.status = 'pending'`;
const UNDELIVERED = `SELECT outbox.platform AS channel, count(*) AS count, min(outbox.id) AS oldest
  FROM outbox INDEXED BY outbox_pending JOIN agents ON agents.id = outbox.agent_id AND agents.status <> 'stopped'
  WHERE outbox.status = 'pending' GROUP BY 1 ORDER BY 1`;
const SCHEDULES_LATE = "SELECT count(*) AS count FROM jobs WHERE kind = 'schedule' AND state = 'queued' AND run_at < ?";
const APPROVALS = "SELECT count(*) AS count FROM approvals WHERE status = 'pending' AND expires_at > ?";
const WEBHOOKS = `SELECT count(*) AS count, min(id) AS oldest,
    (SELECT count(*) FROM webhook_endpoints WHERE active = 0 AND disabled_reason IS NOT NULL) AS disabled
  FROM webhook_deliveries INDEXED BY webhook_deliveries_due WHERE status = 'pending'`;
const JOBS = `SELECT
  (SELECT count(*) FROM jobs WHERE state = 'queued') AS waiting,
  (SELECT count(*) FROM jobs WHERE state = 'queued' AND run_at < ?1) AS late,
  (SELECT min(run_at) FROM jobs WHERE state = 'queued' AND run_at < ?1) AS oldest,
  (SELECT count(*) FROM jobs WHERE state = 'running') AS running,
  (SELECT count(*) FROM jobs WHERE state = 'failed') AS failed`;

interface Deps extends Pick<Kernel, "database"> {
  usage: FleetUsageReport;
}

export function createFleetCounts({ database, usage }: Deps, now = Date.now) {
  const cached = createStaleCache<FleetCounts>({ freshMs: 5 * SECOND, staleMs: 30 * SECOND, now });

  async function one(sql: string, args: (string | number)[] = []): Promise<Record<string, unknown>> {
    const { rows } = await database.readLong(sql, args);
    return rows[0] ?? {};
  }
  /** `since` is the time of the oldest, or `oldest` its id, which has the time in it. */
  const queueOf = ({ count, since, oldest }: Record<string, unknown>): Queue => ({
    waiting: Number(count),
    oldestAt: typeof since === "number" ? since : typeof oldest === "string" ? timeOfId(oldest) : null,
  });
  const usd = (micro: unknown) => Number(micro ?? 0) / 1e6;

  async function load(): Promise<FleetCounts> {
    const at = now();
    const day = dayOf(at);
    const midnight = day * DAY;
    const month = await usage({ from: monthStart(day), to: day }, "provider");
    const [users, agents, runtimes, today, errors, inbox, outbox, undelivered, late, approvals, webhooks, jobs] =
      await Promise.all([
        one(USERS, [midnight]),
        database.readLong(AGENTS),
        database.readLong(RUNTIMES),
        one(TODAY, [day]),
        one(ERRORS, [firstIdAt(midnight)]),
        one(INBOX),
        one(OUTBOX),
        database.readLong(UNDELIVERED),
        one(SCHEDULES_LATE, [at - LATE_MS]),
        one(APPROVALS, [at]),
        one(WEBHOOKS),
        one(JOBS, [at - LATE_MS]),
      ]);
    const byStatus = new Map(agents.rows.map(({ status, count }) => [String(status), Number(count)]));
    const total = [...byStatus.values()].reduce((sum, count) => sum + count, 0);
    const [stopped, error] = [byStatus.get("stopped") ?? 0, byStatus.get("error") ?? 0];
    const costUsd = usd(today.cost);
    return {
      users: { total: Number(users.total), disabled: Number(users.disabled), newToday: Number(users.fresh) },
      agents: { total, up: total - stopped - error, stopped, error },
      runtimes: runtimes.rows.map(({ version, count }) => ({ version: String(version), agents: Number(count) })),
      today: {
        calls: Number(today.calls),
        agentCalls: Number(today.agentCalls),
        costUsd,
        ownKeyUsd: usd(today.own),
        errors: Number(errors.count),
      },
      monthUsd: month.total.costUsd,
      inbox: queueOf(inbox),
      outbox: queueOf(outbox),
      undelivered: undelivered.rows.map((row) => ({ channel: String(row.channel), ...queueOf({ ...row }) })),
      schedulesLate: Number(late.count),
      approvalsWaiting: Number(approvals.count),
      webhooks: { ...queueOf(webhooks), disabledEndpoints: Number(webhooks.disabled) },
      jobs: {
        waiting: Number(jobs.waiting),
        late: Number(jobs.late),
        running: Number(jobs.running),
        failed: Number(jobs.failed),
        oldestAt: jobs.oldest === null || jobs.oldest === undefined ? null : Number(jobs.oldest),
      },
    };
  }

  return () => cached("all", load);
}
