// Skills: what agents can do besides talking. The built-in ones, and the registry that all others join.
import { plugin } from "../../src/plugin.ts";
import { agents } from "../agents/index.ts";
import { figures } from "../figures/index.ts";
import { clock } from "./clock.ts";
import { createEstate } from "./estate.ts";
import { createMemories } from "./memories.ts";
import { createMemorySkill } from "./memory.ts";
import { createRegistry } from "./registry.ts";
import { createReminderSkill } from "./reminder.ts";
import { createReminders } from "./reminders.ts";
import { createWebFetchSkill } from "./web-fetch.ts";

export { type FactRow, factRow, fitsMemory, type ReminderRow } from "./estate.ts";
export type { Fact, FactSource, Memories, RecentFacts } from "./memories.ts";
export { asUntrusted, type OfferedTool, type ToolResult } from "./offered.ts";
export type { SkillItem } from "./registry.ts";
export type { Reminder, ReminderHandler } from "./reminders.ts";
export {
  type Audience,
  declined,
  defineTool,
  type Json,
  type JsonSchema,
  type PromptContext,
  type Skill,
  type SkillSource,
  type Tool,
  type ToolContext,
} from "./tool.ts";

export const skills = plugin("skills", (host) => {
  const { kernel } = host;
  const owners = host.use(agents);
  const counted = host.use(figures);
  const memories = createMemories(kernel);
  counted.holds(memories.held);
  const reminders = createReminders(kernel);

  /** What the configuration says is what counts until somebody uses the switch: the switch is the later, more deliberate word. */
  async function configured(agentId: string): Promise<ReadonlyMap<string, boolean>> {
    const settings = await owners.settings(agentId);
    const memory = settings.memory === undefined ? [] : [["memory", settings.memory] as const];
    return new Map([...memory, ...(settings.skills ?? [])]);
  }

  const registry = createRegistry({ ...kernel, configured });
  owners.onChange(registry.changed);
  owners.onDelete(registry.changed);
  const builtIn = [
    clock,
    createMemorySkill(memories),
    createWebFetchSkill(kernel.outbound, counted.traffic),
    createReminderSkill(reminders),
  ];
  registry.register({ id: "built-in", skillsFor: () => builtIn });

  return {
    service: {
      ...registry,
      memories,
      onReminder: reminders.onReminder,
      estate: createEstate({ ...kernel, memories, registry }),
      /** Forgets all that an agent remembers and has promised, as steps of the batch that resets it. */
      reset: (agentId: string) => [memories.forgetAll(agentId), reminders.cancelAll(agentId)],
    },
  };
});
