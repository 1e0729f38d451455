// Records how the turn of each run ended, and pauses a schedule that fails again and again.
import { and, desc, eq, gt, gte, inArray, lt } from "drizzle-orm";
import { type Statement, statement } from "../../src/kernel/database/database.ts";
import { pageText, translateText } from "../../src/kernel/pages/page-template.ts";
import type { Kernel, ServiceOf } from "../../src/kernel/plugin.ts";
import { oneLine } from "../../src/kernel/util/text/quoted-text.ts";
import type { agents as agentsPlugin } from "../agents/index.ts";
import type { ScheduledOutcome, SettlementEffects } from "../runtime/index.ts";
import { type Schedule, type ScheduleRun, scheduleRuns, schedules } from "./schema.ts";

/** Failed runs in a row after which a schedule is paused. */
export const MAX_FAILURES = 5;

interface Deps extends Pick<Kernel, "database" | "events"> {
  agents: Pick<ServiceOf<typeof agentsPlugin>, "find" | "log">;
  now: () => number;
}

const PAUSED = pageText(
  "I have paused the schedule “{name}”, because it failed {n} times in a row. The last time: {reason} Tell me to go on with it when that is mended.",
);

/** Returns the handler for `runtime.onScheduledSettled`. */
export function createSettlement({ database, events, agents, now }: Deps) {
  const { drizzle } = database;

  /** The failed runs in a row before this one, since the schedule was changed or switched on. */
  async function countFailuresBefore({ id }: ScheduleRun, { id: scheduleId, updatedAt }: Schedule): Promise<number> {
    const latest = await drizzle
      .select({ status: scheduleRuns.status })
      .from(scheduleRuns)
      .where(
        and(
          eq(scheduleRuns.scheduleId, scheduleId),
          gte(scheduleRuns.startedAt, updatedAt),
          inArray(scheduleRuns.status, ["done", "failed"]),
          lt(scheduleRuns.id, id),
        ),
      )
      .orderBy(desc(scheduleRuns.id))
      .limit(MAX_FAILURES);
    const lastSuccess = latest.findIndex(({ status }) => status === "done");
    return lastSuccess === -1 ? latest.length : lastSuccess;
  }

  const hasNewer = async ({ id, scheduleId }: ScheduleRun): Promise<boolean> =>
    (await drizzle.$count(scheduleRuns, and(eq(scheduleRuns.scheduleId, scheduleId), gt(scheduleRuns.id, id)))) > 0;

  return async (
    { agentId, runId }: { agentId: string; runId: string },
    { status: ended, reply, error }: ScheduledOutcome,
  ): Promise<SettlementEffects> => {
    const [found] = await drizzle
      .select({ schedule: schedules, run: scheduleRuns })
      .from(scheduleRuns)
      .innerJoin(schedules, eq(schedules.id, scheduleRuns.scheduleId))
      .where(eq(scheduleRuns.id, runId));
    // The schedule was deleted meanwhile.
    if (!found) return { statements: [] };
    const { schedule, run } = found;
    // The reply of a run that failed is only the word that it did.
    if (ended === "undelivered" && run.status !== "done") return { statements: [] };
    const { id: scheduleId, name, deliver } = schedule;
    const status = ended === "parked" || ended === "undelivered" ? "failed" : ended;
    const last = ended === "undelivered" ? `Its answer could not be delivered: ${error}` : (error ?? "no reply");
    const counts = {
      done: () => 0,
      failed: async () => 1 + (await countFailuresBefore(run, schedule)),
      cancelled: () => schedule.failures,
    };
    const failures = await counts[status]();
    // A reply is given up up to a day after its run.
    const isLatest = ended !== "undelivered" || !(await hasNewer(run));
    const reason = `It failed ${failures} times in a row and was paused. The last time: ${last}`;
    const isPaused = schedule.enabled && failures >= MAX_FAILURES && status === "failed";
    const userId = (await agents.find(agentId))?.userId;
    const about = { userId, agentId };
    const data = { agentId, scheduleId, name, runId };
    const endRun = drizzle
      .update(scheduleRuns)
      .set({ status, error: status === "done" || !error ? null : last, endedAt: run.endedAt ?? now() })
      .where(eq(scheduleRuns.id, runId));
    const mark = drizzle
      .update(schedules)
      .set({
        ...(isLatest && { lastStatus: status }),
        failures,
        ...(isPaused && { enabled: false, nextRunAt: null, statusReason: reason }),
      })
      .where(eq(schedules.id, scheduleId));
    const webhook = deliver !== null && "webhook" in deliver;
    const statements: Statement[] = [
      statement(endRun),
      statement(mark),
      events.recordStatement("schedule.ended", {
        ...about,
        data: { ...data, status, ...(webhook && reply !== undefined && { reply }) },
      }),
    ];
    const links = { schedule: scheduleId };
    if (!isPaused && status === "failed") {
      agents.log(agentId, "warning", `A run of the schedule "${name}" failed: ${last}`, "schedules", links);
    }
    if (!isPaused) return { statements };
    agents.log(agentId, "error", `The schedule "${name}" runs no more: ${reason}`, "schedules", links);
    return {
      statements: [...statements, events.recordStatement("schedule.paused", { ...about, data: { ...data, reason } })],
      ownerNotice: (language) =>
        translateText(PAUSED, language, { name: oneLine(name), n: String(failures), reason: last }),
    };
  };
}
