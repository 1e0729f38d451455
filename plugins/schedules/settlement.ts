// Records how the turn of each run ended, and pauses a schedule that fails again and again.
import { eq } from "drizzle-orm";
import { type Statement, statement } from "../../src/kernel/database/database.ts";
import type { Kernel, ServiceOf } from "../../src/kernel/plugin.ts";
import type { agents as agentsPlugin } from "../agents/index.ts";
import type { ScheduledOutcome, SettlementEffects } from "../runtime/index.ts";
import { type RunStatus, scheduleRuns, schedules } from "./schema.ts";

/** Failed runs in a row after which a schedule is paused. */
export const MAX_FAILURES = 5;

interface Deps extends Pick<Kernel, "database" | "events"> {
  agents: Pick<ServiceOf<typeof agentsPlugin>, "find" | "log">;
  now: () => number;
}

/** Returns the handler for `runtime.onScheduledSettled`. */
export function createSettlement({ database, events, agents, now }: Deps) {
  const { drizzle } = database;

  return async (
    { agentId, runId }: { agentId: string; runId: string },
    { status: ended, reply, error }: ScheduledOutcome,
  ): Promise<SettlementEffects> => {
    const [found] = await drizzle
      .select({ schedule: schedules })
      .from(scheduleRuns)
      .innerJoin(schedules, eq(schedules.id, scheduleRuns.scheduleId))
      .where(eq(scheduleRuns.id, runId));
    // The schedule was deleted meanwhile.
    if (!found) return { statements: [] };
    const { id: scheduleId, name, deliver, failures: before } = found.schedule;
    const status: RunStatus = ended === "parked" ? "failed" : ended;
    const failures = status === "failed" ? before + 1 : status === "done" ? 0 : before;
    const last = error ?? "no reply";
    const reason = `It failed ${failures} times in a row and was paused. The last time: ${last}`;
    const isPaused = failures >= MAX_FAILURES && status === "failed";
    const userId = (await agents.find(agentId))?.userId;
    const about = { userId, agentId };
    const data = { agentId, scheduleId, name, runId };
    const endRun = drizzle
      .update(scheduleRuns)
      .set({ status, error: error ?? null, endedAt: now() })
      .where(eq(scheduleRuns.id, runId));
    const mark = drizzle
      .update(schedules)
      .set({
        lastStatus: status,
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
    agents.log(agentId, "error", `The schedule "${name}" was paused. ${reason}`, "schedules", links);
    return {
      statements: [...statements, events.recordStatement("schedule.paused", { ...about, data: { ...data, reason } })],
      ownerNotice: `Your schedule "${name}" is paused. ${reason}`,
    };
  };
}
