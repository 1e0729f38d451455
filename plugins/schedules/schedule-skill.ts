// The schedule skill: tools by which an agent's owner makes, lists and cancels schedules in a chat.
import { Type as t } from "@sinclair/typebox";
import { isChannelId } from "../../channels/registry.ts";
import type { ServiceOf } from "../../src/kernel/plugin.ts";
import { oneLine } from "../../src/kernel/util/text/quoted-text.ts";
import { agentNotFound, type agents as agentsPlugin } from "../agents/index.ts";
import {
  defineTool,
  highestTaint,
  idOfCall,
  type Skill,
  type Tool,
  type ToolContext,
  toolDeclined,
} from "../skills/index.ts";
import { MAX_PROMPT } from "./model.ts";
import type { ScheduleService } from "./schedule-service.ts";
import type { ScheduleStore } from "./schedule-store.ts";
import type { DeliverTo, Schedule } from "./schema.ts";
import { inWords, momentInWords } from "./words.ts";

const MAX_LISTED = 50;

interface Deps {
  agents: Pick<ServiceOf<typeof agentsPlugin>, "find" | "settings">;
  service: ScheduleService;
  store: Pick<ScheduleStore, "list" | "find">;
}

export function createScheduleSkill(deps: Deps): Skill {
  const tools = scheduleTools(deps);
  return {
    id: "schedule",
    name: "Schedules",
    description: "Does something again and again, at the times that you say.",
    category: "productivity",
    version: "1.0.0",
    enabledByDefault: true,
    tools: () => tools,
  };
}

function scheduleTools({ agents, service, store }: Deps): Tool[] {
  async function requireAgent({ agentId }: ToolContext) {
    const agent = await agents.find(agentId);
    if (!agent) throw agentNotFound();
    return agent;
  }

  async function nameAndTimes(agentId: string, id: string) {
    const found = await store.find(agentId, id);
    if (!found) throw noSuchSchedule();
    return [oneLine(found.name), inWords(found)];
  }

  return [
    defineTool({
      name: "schedule_task",
      ownerOnly: true,
      class: "write",
      effect: "idempotent",
      description:
        "Makes a task that repeats: at each of the times you are told the prompt and answer in this conversation. Times are in the agent's time zone unless you give another one. For something that happens once, set a reminder instead.",
      input: t.Object({
        name: t.String({ minLength: 1, maxLength: 100 }),
        prompt: t.String({
          minLength: 1,
          maxLength: MAX_PROMPT,
          description: "What to do each time, in full: nothing else of this conversation is known then.",
        }),
        cron: t.String({
          minLength: 1,
          maxLength: 200,
          description: "Five fields: minute, hour, day of month, month, weekday, such as 0 9 * * MON-FRI.",
        }),
        timezone: t.Optional(t.String({ maxLength: 64, description: "IANA name" })),
      }),
      async summarize({ name, cron, prompt, timezone }, { agentId }) {
        const zone = timezone ?? (await agents.settings(agentId)).timezone ?? "UTC";
        return `Make the schedule "${oneLine(name)}". ${inWords({ cron, at: null, timezone: zone })}: ${prompt}`;
      },
      async execute(input, context) {
        const agent = await requireAgent(context);
        const by = { taint: context.taint, id: idOfCall(context.callKey) };
        const made = await service.create(agent, { ...input, deliver: replyTo(context) }, by);
        return toToolResult(made);
      },
    }),
    defineTool({
      name: "list_schedules",
      ownerOnly: true,
      class: "read",
      description: "The tasks that repeat, with their ids.",
      input: t.Object({}),
      async execute(_input, { agentId, raiseTaint }) {
        const found = await store.list(agentId, { limit: MAX_LISTED, offset: 0 });
        raiseTaint(highestTaint(found.map(({ taint }) => taint)));
        return found.length === 0 ? "There are no schedules." : { schedules: found.map(toToolResult) };
      },
    }),
    defineTool({
      name: "cancel_schedule",
      ownerOnly: true,
      class: "write",
      effect: "idempotent",
      description: "Deletes one task that repeats. Its id comes from `list_schedules`.",
      input: t.Object({ id: t.String({ minLength: 1, maxLength: 64 }) }),
      async summarize({ id }, { agentId }) {
        const [name, times] = await nameAndTimes(agentId, id);
        return `Delete the schedule "${name}" (${times})`;
      },
      async execute({ id }, context) {
        const agent = await requireAgent(context);
        await declineUnknown(service.remove(agent, id));
        return { cancelled: true };
      },
    }),
    defineTool({
      name: "pause_schedule",
      ownerOnly: true,
      class: "write",
      effect: "idempotent",
      description: "Pauses one task that repeats, or lets it go on. Its id comes from `list_schedules`.",
      input: t.Object({
        id: t.String({ minLength: 1, maxLength: 64 }),
        paused: t.Boolean({ description: "false lets it go on." }),
      }),
      async summarize({ id, paused }, { agentId }) {
        const [name, times] = await nameAndTimes(agentId, id);
        return paused ? `Pause the schedule "${name}" (${times})` : `Go on with the schedule "${name}" (${times})`;
      },
      async execute({ id, paused }, context) {
        const agent = await requireAgent(context);
        return toToolResult(await declineUnknown(service.change(agent, id, { enabled: !paused })));
      },
    }),
  ];
}

const noSuchSchedule = () => toolDeclined("There is no such schedule. Look at list_schedules.");

async function declineUnknown<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "SCHEDULE_NOT_FOUND") {
      throw noSuchSchedule();
    }
    throw error;
  }
}

/** This conversation, if it is on a channel; else the answers are in the schedule's own conversation. */
const replyTo = ({ platform, peer }: ToolContext): DeliverTo => (isChannelId(platform) ? { platform, peer } : null);

const toToolResult = (schedule: Schedule) => {
  const { id, name, prompt, enabled, nextRunAt, timezone } = schedule;
  const next = nextRunAt === null ? "none" : momentInWords(nextRunAt, timezone);
  return { id, name, prompt, when: inWords(schedule), next, ...(enabled ? {} : { paused: true }) };
};
