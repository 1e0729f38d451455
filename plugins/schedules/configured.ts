// Makes the schedules that an agent's configuration lists, each known by its name, by a job of the write that stores it.
import type { Statement } from "../../src/kernel/database/database.ts";
import { AppError } from "../../src/kernel/errors.ts";
import type { Kernel, ServiceOf } from "../../src/kernel/plugin.ts";
import type { AgentSettings, agents as agentsPlugin, ScheduleSettings } from "../agents/index.ts";
import { TAINT } from "../skills/index.ts";
import { nameFor } from "./fields.ts";
import type { ScheduleFields, ScheduleStore } from "./schedule-store.ts";

const SYNC_JOB = "schedules.configure";

interface Deps extends Pick<Kernel, "jobs"> {
  agents: Pick<ServiceOf<typeof agentsPlugin>, "find" | "settings" | "log" | "registerConfigEffects">;
  store: ScheduleStore;
}

export function syncConfiguredSchedules({ jobs, agents, store }: Deps): void {
  agents.registerConfigEffects((agentId, text, isFirst): Statement[] => {
    // A key may be written with escapes.
    if (/schedules|\\u/.test(text)) return [jobs.enqueueStatement(SYNC_JOB, { agentId }, { uniqueKey: agentId })];
    return isFirst ? [] : [{ sql: REMOVE_CONFIGURED, args: [agentId] }];
  });

  jobs.handle(SYNC_JOB, async (payload) => {
    const agent = await agents.find(agentIdOf(payload));
    if (!agent) return;
    const settings = await agents.settings(agent.id);
    const wanted = new Map(namedSchedules(settings).map(({ name, fields }) => [name, fields]));
    const taint = settings.imported ? TAINT.outside : TAINT.none;
    for (const schedule of await store.listConfigured(agent.id)) {
      const fields = wanted.get(schedule.name);
      if (fields === undefined) {
        await store.remove(agent.id, schedule.id);
        continue;
      }
      wanted.delete(schedule.name);
      const digest = digestOf(fields, taint);
      // One that was paused, and not changed since, stays paused.
      if (digest === schedule.digest) continue;
      await attempt(agent.id, fields, () => store.change(schedule, fields, { digest, taint }));
    }
    for (const fields of wanted.values()) {
      const origin = { origin: "config" as const, taint, digest: digestOf(fields, taint) };
      await attempt(agent.id, fields, () => store.create(agent, fields, origin));
    }
  });

  /** A refused schedule becomes a line of the agent's log, because the configuration is stored already. */
  async function attempt(agentId: string, { name }: ScheduleFields, work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof AppError) || error.status >= 500) throw error;
      agents.log(
        agentId,
        "warning",
        `The schedule "${name}" of the configuration does not run. ${error.message}`,
        "schedules",
      );
    }
  }
}

/** The configured schedules in their order, each with a name that no other has. */
export function namedSchedules({ schedules = [], timezone = "UTC" }: Pick<AgentSettings, "schedules" | "timezone">) {
  const taken = new Set<string>();
  return schedules.map((schedule) => {
    const base = nameFor(schedule.name, schedule.prompt);
    let name = base;
    for (let n = 2; taken.has(name); n++) name = `${base} (${n})`;
    taken.add(name);
    return { name, isRenamed: name !== base, fields: toFields(schedule, name, timezone) };
  });
}

const toFields = (schedule: ScheduleSettings, name: string, timezone: string): ScheduleFields => ({
  name,
  prompt: schedule.prompt,
  cron: schedule.cron ?? null,
  at: schedule.at ?? null,
  timezone: schedule.timezone ?? timezone,
  deliver: schedule.deliver ?? null,
  missed: schedule.missed ?? "once",
  enabled: schedule.enabled ?? true,
});

const digestOf = (fields: ScheduleFields, taint: number) =>
  new Bun.CryptoHasher("sha256").update(JSON.stringify([fields, taint])).digest("base64url");

const REMOVE_CONFIGURED = "DELETE FROM schedules WHERE agent_id = ? AND origin = 'config'";

function agentIdOf(payload: unknown): string {
  if (typeof payload === "object" && payload !== null && "agentId" in payload) return String(payload.agentId);
  throw new Error("A job of configured schedules without an agent.");
}
