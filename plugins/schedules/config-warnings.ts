// Warns about configured schedules that will not run, or not under their name, when a configuration is saved.
import type { Agent, AgentSettings } from "../agents/index.ts";
import { namedSchedules } from "./configured.ts";
import type { ScheduleStore } from "./schedule-store.ts";

interface Deps {
  findAgent(id: string): Promise<Agent | undefined>;
  store: Pick<ScheduleStore, "listConfigured" | "room">;
}

export const createScheduleWarnings =
  ({ findAgent, store }: Deps) =>
  async (agentId: string, settings: AgentSettings) => {
    const wanted = namedSchedules(settings);
    if (wanted.length === 0) return [];
    const agent = await findAgent(agentId);
    if (!agent) return [];
    // Those that exist under their name stay; others take what room is left by all but those that go.
    const existing = new Set((await store.listConfigured(agentId)).map(({ name }) => name));
    const kept = wanted.filter(({ name }) => existing.has(name)).length;
    let room = (await store.room(agent)) + existing.size - kept;
    return wanted.flatMap(({ name, isRenamed }, index) => {
      const path = `schedules[${index}]`;
      const isLeftOut = !existing.has(name) && room-- <= 0;
      return [
        ...(isRenamed
          ? [{ path: `${path}.name`, message: `Another schedule has this name, so this one is called "${name}".` }]
          : []),
        ...(isLeftOut
          ? [
              {
                path,
                message:
                  "Your plan has no room for this schedule, so it does not run. Delete one, or choose a larger plan.",
              },
            ]
          : []),
      ];
    });
  };
