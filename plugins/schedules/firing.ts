// Runs schedules that are due: each run is a row in the same write as the message that it becomes, so none happens twice.
import { and, eq, inArray, ne } from "drizzle-orm";
import { GuardFailed, guard, type Statement, statement } from "../../src/kernel/database/database.ts";
import { AppError, notFound } from "../../src/kernel/errors.ts";
import type { Kernel, ServiceOf } from "../../src/kernel/plugin.ts";
import { MINUTE } from "../../src/kernel/util/time.ts";
import { type Agent, agentFrozenError, type agents as agentsPlugin, isFrozen } from "../agents/index.ts";
import type { runtime as runtimePlugin } from "../runtime/index.ts";
import { JOB, wakeStatement } from "./schedule-store.ts";
import { type Schedule, type ScheduleRun, scheduleRuns, schedules } from "./schema.ts";
import { MAX_MISSED, type PlannedRun, planRuns } from "./timing.ts";

/** Runs of a schedule that are stored; older ones are deleted. */
const KEPT_RUNS = 100;
/** Schedules that are handled at the same time. */
const CONCURRENCY = 8;
/** A schedule of an agent that is being deleted or moved is tried again. */
const RETRY_MS = MINUTE;

export interface Firing {
  /** Runs a schedule now, beside its times. Throws 404 `SCHEDULE_NOT_FOUND`, 409 `AGENT_STOPPED` or `AGENT_FROZEN`. */
  runNow(agent: Agent, schedule: Schedule): Promise<ScheduleRun>;
}

interface Deps extends Pick<Kernel, "database" | "events" | "jobs"> {
  agents: Pick<ServiceOf<typeof agentsPlugin>, "find" | "log">;
  runtime: Pick<ServiceOf<typeof runtimePlugin>, "acceptScheduled" | "pendingEntries">;
  now: () => number;
}

type Row = ScheduleRun & { statements: Statement[] };

export function createFiring({ database, events, jobs, agents, runtime, now }: Deps): Firing {
  const { drizzle } = database;

  /** A run with the message that it becomes. */
  async function startRun(schedule: Schedule, planned: PlannedRun | undefined): Promise<Row> {
    const { id: scheduleId, agentId, name, prompt, taint, deliver, sessionId } = schedule;
    const id = Bun.randomUUIDv7();
    const to = deliver !== null && "peer" in deliver ? deliver : { sessionId };
    const accepted = await runtime.acceptScheduled({ agentId, runId: id, name, prompt, taint, to });
    const at = now();
    const run: ScheduleRun = {
      ...{ id, agentId, scheduleId, cause: planned?.cause ?? "manual", dueAt: planned?.dueAt ?? at },
      ...{ missed: planned?.missed ?? 0, status: "running", inboxId: accepted.inboxId },
      ...{ sessionId: accepted.sessionId, error: null, startedAt: at, endedAt: null },
    };
    const links = { schedule: scheduleId, turn: accepted.inboxId };
    const store: Statement = {
      ...statement(drizzle.insert(scheduleRuns).values(run)),
      after: () => agents.log(agentId, "info", `The schedule "${name}" runs.`, "schedules", links),
    };
    return { ...run, statements: [store, ...accepted.statements] };
  }

  function skipStatement({ id: scheduleId, agentId, name }: Schedule, planned: PlannedRun, reason: string): Statement {
    const at = now();
    const row: ScheduleRun = {
      ...{ id: Bun.randomUUIDv7(), agentId, scheduleId, ...planned, status: "skipped" },
      ...{ inboxId: null, sessionId: null, error: reason, startedAt: at, endedAt: at },
    };
    const text = `The schedule "${name}" was left out once: ${reason}`;
    return {
      ...statement(drizzle.insert(scheduleRuns).values(row).onConflictDoNothing()),
      after: () => agents.log(agentId, "warning", text, "schedules", { schedule: scheduleId }),
    };
  }

  const pruneStatement = (scheduleId: string): Statement => ({
    sql: `DELETE FROM schedule_runs WHERE schedule_id = ?1 AND id <= (
      SELECT id FROM schedule_runs WHERE schedule_id = ?1 ORDER BY id DESC LIMIT 1 OFFSET ${KEPT_RUNS})`,
    args: [scheduleId],
  });

  const startedEvent = ({ userId }: Agent, { id: scheduleId, agentId, name }: Schedule, runId: string) =>
    events.recordStatement("schedule.started", { userId, agentId, data: { agentId, scheduleId, name, runId } });

  /** Runs whose turn has not ended. */
  async function countRunning({ id, agentId }: Schedule): Promise<number> {
    const found = await drizzle
      .select({ inboxId: scheduleRuns.inboxId })
      .from(scheduleRuns)
      .where(and(eq(scheduleRuns.scheduleId, id), eq(scheduleRuns.status, "running")));
    const ids = found.flatMap(({ inboxId }) => inboxId ?? []);
    // The message of a run may have been deleted with the agent's memory.
    return (await runtime.pendingEntries(agentId, ids)).size;
  }

  /** A run for the same time exists only if the clock was set back. */
  async function withoutKnown(scheduleId: string, planned: readonly PlannedRun[]): Promise<PlannedRun[]> {
    const times = planned.map(({ dueAt }) => dueAt);
    const known = await drizzle
      .select({ dueAt: scheduleRuns.dueAt })
      .from(scheduleRuns)
      .where(
        and(
          eq(scheduleRuns.scheduleId, scheduleId),
          inArray(scheduleRuns.dueAt, times),
          ne(scheduleRuns.cause, "manual"),
        ),
      );
    const taken = new Set(known.map(({ dueAt }) => dueAt));
    return planned.filter(({ dueAt }) => !taken.has(dueAt));
  }

  /** Why planned runs don't begin now; undefined if they do. */
  function findObstacle(agent: Agent, { missed }: Schedule, running: number): string | undefined {
    if (missed === "all") return running >= MAX_MISSED ? `${running} runs wait already.` : undefined;
    if (running > 0) return "The run before it has not ended.";
    return missed === "skip" && agent.status === "stopped" ? "The agent was stopped." : undefined;
  }

  async function fire(schedule: Schedule & { nextRunAt: number }, agent: Agent): Promise<Statement[]> {
    const { id } = schedule;
    const plan = await planRuns(schedule, now());
    const planned = await withoutKnown(id, plan.runs);
    const obstacle = findObstacle(agent, schedule, await countRunning(schedule));
    const runs: Row[] = [];
    for (const run of obstacle === undefined ? planned : []) runs.push(await startRun(schedule, run));
    const left = obstacle === undefined ? [] : planned.slice(-1);
    const skips = [
      ...(plan.skipped ? [skipStatement(schedule, plan.skipped, "Berth was not running at that time.")] : []),
      ...left.map((run) =>
        skipStatement(schedule, { ...run, missed: run.missed + planned.length - 1 }, obstacle ?? ""),
      ),
    ];
    const advance = drizzle
      .update(schedules)
      .set({
        nextRunAt: plan.next,
        ...(plan.next === null && { enabled: false }),
        ...(runs.length > 0 && { lastRunAt: now(), lastStatus: "running", sessionId: ownSession(schedule, runs) }),
        ...(runs.length === 0 && { lastStatus: "skipped" }),
      })
      .where(and(eq(schedules.id, id), eq(schedules.enabled, true), eq(schedules.nextRunAt, schedule.nextRunAt)));
    return [
      statement(advance),
      // It was changed, switched off or deleted meanwhile: the job looks at it again.
      guard("schedule.due"),
      ...skips,
      ...runs.flatMap(({ id: runId, statements }) => [...statements, startedEvent(agent, schedule, runId)]),
      pruneStatement(id),
      ...(plan.next === null ? [] : [wakeStatement(jobs, id, plan.next)]),
    ];
  }

  jobs.handle(
    JOB,
    async (payload) => {
      const [schedule] = await drizzle
        .select()
        .from(schedules)
        .where(eq(schedules.id, scheduleIdOf(payload)));
      if (!schedule?.enabled || schedule.nextRunAt === null) return [];
      // Its time was moved, or the clock was set back.
      if (schedule.nextRunAt > now()) return [wakeStatement(jobs, schedule.id, schedule.nextRunAt)];
      const agent = await agents.find(schedule.agentId);
      if (!agent) return [wakeStatement(jobs, schedule.id, now() + RETRY_MS)];
      // What is due while an agent is frozen runs by its rule for missed times when the agent goes on.
      if (isFrozen(agent) && schedule.missed !== "skip") return [wakeStatement(jobs, schedule.id, now() + RETRY_MS)];
      return fire({ ...schedule, nextRunAt: schedule.nextRunAt }, agent);
    },
    { concurrency: CONCURRENCY },
  );

  return {
    async runNow(agent, schedule) {
      if (isFrozen(agent)) throw agentFrozenError();
      if (agent.status === "stopped") {
        throw new AppError(409, "AGENT_STOPPED", "This agent is stopped. Start it, then run the schedule again.");
      }
      const { statements, ...run } = await startRun(schedule, undefined);
      const mark = drizzle
        .update(schedules)
        .set({ lastRunAt: run.startedAt, lastStatus: "running", sessionId: ownSession(schedule, [run]) })
        .where(eq(schedules.id, schedule.id));
      try {
        await database.write([
          statement(mark),
          guard("schedule"),
          ...statements,
          startedEvent(agent, schedule, run.id),
          pruneStatement(schedule.id),
        ]);
      } catch (error) {
        if (!(error instanceof GuardFailed)) throw error;
        throw notFound("This agent has no schedule with this id.", "SCHEDULE_NOT_FOUND");
      }
      return run;
    },
  };
}

/** The conversation that the runs of a schedule share; those on a channel have that one. */
const ownSession = ({ deliver, sessionId }: Schedule, runs: readonly Pick<ScheduleRun, "sessionId">[]) =>
  deliver !== null && "peer" in deliver ? sessionId : (runs.at(-1)?.sessionId ?? sessionId);

function scheduleIdOf(payload: unknown): string {
  if (typeof payload === "object" && payload !== null && "id" in payload && typeof payload.id === "string")
    return payload.id;
  throw new Error("A job of a schedule without an id.");
}
