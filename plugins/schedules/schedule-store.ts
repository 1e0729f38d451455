// Stores schedules: an owner's changes, the limits of plans, and the job that wakes each schedule at its next run.
import { and, asc, desc, eq, getTableColumns, lt } from "drizzle-orm";
import { GuardFailed, guard, type Statement, statement } from "../../src/kernel/database/database.ts";
import { AppError, invalidInput, notFound } from "../../src/kernel/errors.ts";
import type { Kernel } from "../../src/kernel/plugin.ts";
import { InvalidCron } from "../../src/kernel/util/cron/cron.ts";
import type { Agent } from "../agents/index.ts";
import { planSettings } from "../auth/settings.ts";
import { TAINT, type Taint } from "../skills/index.ts";
import {
  type DeliverTo,
  type MissedPolicy,
  type Schedule,
  type ScheduleRun,
  scheduleRuns,
  schedules,
} from "./schema.ts";
import { nextRuns, parseMoment } from "./timing.ts";

export const JOB = "schedule";
/** The most schedules of one agent. */
export const MAX_PER_AGENT = 200;

/** What an owner says about a schedule. */
export interface ScheduleFields {
  name: string;
  prompt: string;
  /** Either this or `at` is set. */
  cron: string | null;
  /** ISO 8601, in the schedule's zone unless it has an offset. */
  at: string | null;
  timezone: string;
  deliver: DeliverTo;
  missed: MissedPolicy;
  enabled: boolean;
}

interface Origin {
  origin: Schedule["origin"];
  taint: Taint;
  digest?: string;
  /** The id, if a call makes it that may be repeated: a schedule that has it already is returned. */
  id?: string;
}

export interface ScheduleStore {
  find(agentId: string, id: string): Promise<Schedule | undefined>;
  /** Throws 404 `SCHEDULE_NOT_FOUND`. */
  require(agentId: string, id: string): Promise<Schedule>;
  /** Newest first. */
  list(agentId: string, page: { limit: number; offset: number }): Promise<Schedule[]>;
  /** Newest first; `before` is the id of a run. */
  runs(scheduleId: string, page: { limit: number; before?: string | undefined }): Promise<ScheduleRun[]>;
  /** Throws 400 `INVALID_SCHEDULE`, 429 `SCHEDULE_LIMIT_REACHED`. */
  create(agent: Agent, fields: ScheduleFields, origin: Origin): Promise<Schedule>;
  /**
   * Changes a schedule; switching it on forgets its failures. Throws 400 `INVALID_SCHEDULE`, 404 `SCHEDULE_NOT_FOUND`.
   * @param configured its origin, if it is made from a configuration
   */
  change(
    schedule: Schedule,
    fields: Partial<ScheduleFields>,
    configured?: { digest: string; taint: Taint },
  ): Promise<Schedule>;
  /** False if there is none. */
  remove(agentId: string, id: string): Promise<boolean>;
  /** Throws 429 `SCHEDULE_LIMIT_REACHED` where an import, or a smaller plan, has left more than may be switched on. */
  requireWithinLimit(agent: Agent): Promise<void>;
  /** How many more schedules the agent may have; negative if it has more than it may. */
  room(agent: Agent): Promise<number>;
  /** The schedules that come from the agent's configuration. */
  listConfigured(agentId: string): Promise<Schedule[]>;
}

const OF_ACCOUNT =
  "(SELECT count(*) FROM agents JOIN schedules ON schedules.agent_id = agents.id WHERE agents.user_id = ?1)";
const OF_AGENT = "(SELECT count(*) FROM schedules WHERE agent_id = ?3)";
const COLUMNS = Object.values(getTableColumns(schedules)).map(({ name }) => name);

/** Enqueues the job that runs a schedule; there is at most one for each. */
export const wakeStatement = (jobs: Pick<Kernel["jobs"], "enqueueStatement">, id: string, runAt: number): Statement =>
  jobs.enqueueStatement(JOB, { id }, { runAt, uniqueKey: id, maxAttempts: 20 });

export const invalidSchedule = (path: string, message: string) => invalidInput({ path, message }, "INVALID_SCHEDULE");

interface Deps extends Pick<Kernel, "database" | "jobs" | "config" | "audit"> {
  now: () => number;
}

export function createScheduleStore({ database, jobs, config, audit, now }: Deps): ScheduleStore {
  const { table } = config.of(planSettings);
  const free = table.of("free").schedules;
  /** Schedules per plan, of all agents of an account together; admins may have any number. */
  const planLimit = `CASE WHEN (SELECT is_admin OR admin_by_group FROM users WHERE id = ?1) THEN 1000000 ELSE coalesce(
    (SELECT ${table.limitSql("schedules", free)} FROM subscriptions
      WHERE user_id = ?1 AND status IN ('active', 'trialing') AND current_period_end > ?2), ${free}) END`;
  const { drizzle } = database;
  const isOne = (agentId: string, id: string) => and(eq(schedules.agentId, agentId), eq(schedules.id, id));

  /** An entry of the audit log: by the agent, if its tool makes the change, else by who makes the request. */
  function audited(action: string, schedule: Pick<Schedule, "id" | "agentId" | "name">, by?: Agent, details = {}) {
    const { id, agentId, name } = schedule;
    const change = {
      action: `schedule.${action}`,
      target: { kind: "schedule", id, name },
      details: { agent: agentId, ...details },
    };
    if (!by) return audit.record(change);
    return audit.statementFor({ kind: "agent", id: by.id, name: by.name, address: null, requestId: null }, change);
  }

  /** The cron expression or moment, and the next run. */
  async function resolveTiming({ cron, at, timezone }: Pick<ScheduleFields, "cron" | "at" | "timezone">) {
    if ((cron === null) === (at === null)) throw invalidSchedule("cron", "Give either cron or, for a single run, at.");
    const moment = at === null ? null : parseMoment(at, timezone);
    if (moment === undefined)
      throw invalidSchedule("at", 'This must be a time in ISO 8601, such as "2030-01-31T09:00".');
    const timing = { cron: cron?.trim() ?? null, at: moment, timezone };
    try {
      const [next] = await nextRuns(timing, now());
      return { ...timing, nextRunAt: next ?? null };
    } catch (error) {
      if (error instanceof InvalidCron) throw invalidSchedule(cron === null ? "at" : "cron", error.message);
      throw error;
    }
  }

  async function limitError({ id, userId }: Agent): Promise<AppError> {
    const sql = `SELECT ${OF_ACCOUNT} AS current, ${planLimit} AS allowed, ${OF_AGENT} AS own`;
    const { rows } = await database.read(sql, [userId, now(), id]);
    const [current, allowed] = [Number(rows[0]?.current), Number(rows[0]?.allowed)];
    const extras =
      current >= allowed ? { current, limit: allowed } : { current: Number(rows[0]?.own), limit: MAX_PER_AGENT };
    const text =
      current >= allowed
        ? `Your plan has room for ${allowed} schedules. Delete one, or choose a larger plan.`
        : `An agent can have ${MAX_PER_AGENT} schedules. Delete one first.`;
    return new AppError(429, "SCHEDULE_LIMIT_REACHED", text, extras);
  }

  async function find(agentId: string, id: string): Promise<Schedule | undefined> {
    const [found] = await drizzle.select().from(schedules).where(isOne(agentId, id));
    return found;
  }

  async function require(agentId: string, id: string): Promise<Schedule> {
    const found = await find(agentId, id);
    if (!found) throw notFound("This agent has no schedule with this id.", "SCHEDULE_NOT_FOUND");
    return found;
  }

  return {
    find,
    require,

    async requireWithinLimit(agent) {
      const { rows } = await database.read(`SELECT ${OF_ACCOUNT} <= ${planLimit} AS ok`, [agent.userId, now()]);
      if (rows[0]?.ok !== 1) throw await limitError(agent);
    },

    list: (agentId, { limit, offset }) =>
      drizzle
        .select()
        .from(schedules)
        .where(eq(schedules.agentId, agentId))
        .orderBy(desc(schedules.id))
        .limit(limit)
        .offset(offset),

    async room({ id, userId }) {
      const sql = `SELECT min(${planLimit} - ${OF_ACCOUNT}, ${MAX_PER_AGENT} - ${OF_AGENT}) AS room`;
      const { rows } = await database.read(sql, [userId, now(), id]);
      return Number(rows[0]?.room);
    },

    listConfigured: (agentId) =>
      drizzle
        .select()
        .from(schedules)
        .where(and(eq(schedules.agentId, agentId), eq(schedules.origin, "config")))
        .orderBy(asc(schedules.id)),

    runs: (scheduleId, { limit, before }) =>
      drizzle
        .select()
        .from(scheduleRuns)
        .where(
          and(eq(scheduleRuns.scheduleId, scheduleId), before === undefined ? undefined : lt(scheduleRuns.id, before)),
        )
        .orderBy(desc(scheduleRuns.id))
        .limit(limit),

    async create(agent, { enabled, ...fields }, { origin, taint, digest, id = Bun.randomUUIDv7() }) {
      const known = await find(agent.id, id);
      if (known) return known;
      const timing = await resolveTiming(fields);
      const at = now();
      const schedule: Schedule = {
        ...{ id, agentId: agent.id, name: fields.name, prompt: fields.prompt },
        ...{ cron: timing.cron, at: timing.at, timezone: timing.timezone, deliver: fields.deliver },
        ...{ missed: fields.missed, enabled, statusReason: null, taint, origin, digest: digest ?? null },
        ...{ sessionId: null, nextRunAt: enabled ? timing.nextRunAt : null, lastRunAt: null, lastStatus: null },
        ...{ failures: 0, createdAt: at, updatedAt: at },
      };
      const insert = statement(drizzle.insert(schedules).values(schedule));
      const limited: Statement = {
        sql: `INSERT INTO schedules (${COLUMNS.join(", ")}) SELECT ${COLUMNS.map((_, n) => `?${n + 4}`).join(", ")}
          WHERE ${OF_ACCOUNT} < ${planLimit} AND ${OF_AGENT} < ${MAX_PER_AGENT}`,
        args: [agent.userId, at, agent.id, ...insert.args],
      };
      const wake = schedule.nextRunAt === null ? [] : [wakeStatement(jobs, schedule.id, schedule.nextRunAt)];
      try {
        const entry = audited("create", schedule, origin === "agent" ? agent : undefined, { origin });
        await database.write([limited, guard("schedules.limit"), entry, ...wake]);
      } catch (error) {
        if (error instanceof GuardFailed) throw await limitError(agent);
        throw error;
      }
      return schedule;
    },

    async change(schedule, fields, configured) {
      const { agentId, id } = schedule;
      const enabled = fields.enabled ?? schedule.enabled;
      const isRetimed = fields.cron !== undefined || fields.at !== undefined || fields.timezone !== undefined;
      const timing =
        isRetimed || (enabled && !schedule.enabled)
          ? await resolveTiming({
              // Naming one of them replaces the other.
              cron: fields.cron !== undefined ? fields.cron : fields.at ? null : schedule.cron,
              at: fields.at !== undefined ? fields.at : fields.cron ? null : isoOf(schedule.at),
              timezone: fields.timezone ?? schedule.timezone,
            })
          : undefined;
      const { name, prompt, deliver, missed } = { ...schedule, ...fields };
      const changed = {
        ...{ name, prompt, deliver, missed, enabled, updatedAt: now() },
        ...configured,
        // A prompt that its owner has written is trusted.
        ...(!configured && fields.prompt !== undefined && { taint: TAINT.none }),
        ...(timing && { cron: timing.cron, at: timing.at, timezone: timing.timezone }),
        // A change by the owner starts anew.
        ...(enabled && { failures: 0, statusReason: null }),
        ...(timing && enabled && { nextRunAt: timing.nextRunAt }),
        ...(!enabled && { nextRunAt: null }),
      };
      const update = statement(drizzle.update(schedules).set(changed).where(isOne(agentId, id)));
      const result: Schedule = { ...schedule, ...changed };
      const wake = result.nextRunAt === null ? [] : [wakeStatement(jobs, id, result.nextRunAt)];
      try {
        const entry = audited("update", result, undefined, { fields: Object.keys(fields) });
        await database.write([update, guard("schedule"), entry, ...wake]);
      } catch (error) {
        if (!(error instanceof GuardFailed)) throw error;
        throw notFound("This agent has no schedule with this id.", "SCHEDULE_NOT_FOUND");
      }
      return result;
    },

    async remove(agentId, id) {
      const schedule = await find(agentId, id);
      if (!schedule) return false;
      const removal = statement(drizzle.delete(schedules).where(isOne(agentId, id)));
      try {
        await database.write([removal, guard("schedule"), audited("delete", schedule)]);
        return true;
      } catch (error) {
        if (!(error instanceof GuardFailed)) throw error;
        return false;
      }
    },
  };
}

const isoOf = (at: number | null) => (at === null ? null : new Date(at).toISOString());
