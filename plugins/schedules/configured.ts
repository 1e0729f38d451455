// Makes the schedules that an agent's configuration lists, each known by its name, by a job of the write that stores it.
import type { Statement } from "../../src/kernel/database/database.ts";
import { AppError } from "../../src/kernel/errors.ts";
import type { Kernel, ServiceOf } from "../../src/kernel/plugin.ts";
import type { agents as agentsPlugin, CurrentSettings, ScheduleSettings } from "../agents/index.ts";
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
    const wanted = fieldsByName(settings);
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

function fieldsByName({ schedules = [], timezone = "UTC" }: CurrentSettings): Map<string, ScheduleFields> {
  const fields = new Map<string, ScheduleFields>();
  for (const schedule of schedules) {
    const base = nameFor(schedule.name, schedule.prompt);
    let name = base;
    for (let n = 2; fields.has(name); n++) name = `${base} (${n})`;
    fields.set(name, toFields(schedule, name, timezone));
  }
  return fields;
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
