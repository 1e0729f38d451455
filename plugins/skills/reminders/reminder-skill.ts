// The reminder skill: tools to set, list and cancel reminders.
import { Type as t } from "@sinclair/typebox";
import { MINUTE } from "../../../src/kernel/util/time.ts";
import { defineTool, type Skill, type Tool, toolDeclined } from "../skill.ts";
import { highestTaint } from "../taint.ts";
import { formatInWords, parseNextTime, resolveTimeZone } from "../time/time-parsing.ts";
import { MAX_REMINDER_LENGTH, type Reminder, type ReminderStore } from "./reminder-store.ts";

export function createReminderSkill(reminders: ReminderStore): Skill {
  const tools = reminderTools(reminders);
  return {
    id: "reminder",
    name: "Reminders",
    description: "Comes back to something at a given time, in the same conversation.",
    category: "productivity",
    version: "1.0.0",
    enabledByDefault: true,
    tools: () => tools,
  };
}

function reminderTools(reminders: ReminderStore): Tool[] {
  return [
    defineTool({
      name: "remind_me",
      followsUp: true,
      class: "write",
      effect: "idempotent",
      confined: true,
      description:
        "Sets a reminder: at that time you are told the text and answer in this conversation. Give `at` or `inMinutes`.",
      input: t.Object({
        text: t.String({ minLength: 1, maxLength: MAX_REMINDER_LENGTH, description: "What to remind of." }),
        at: t.Optional(
          t.String({
            maxLength: 64,
            description: "ISO 8601, in the agent's time zone unless it has an offset; or just HH:MM.",
          }),
        ),
        inMinutes: t.Optional(t.Number({ exclusiveMinimum: 0, maximum: 2_635_200 })),
      }),
      summarize({ text, at, inMinutes }) {
        const when = at === undefined ? `in ${inMinutes} minutes` : `at ${at}`;
        return `Set a reminder ${when}: ${text}`;
      },
      async execute({ text, at, inMinutes }, context) {
        if ((at === undefined) === (inMinutes === undefined)) throw toolDeclined("Give either `at` or `inMinutes`.");
        const zone = resolveTimeZone(undefined, context.timezone);
        const now = Date.now();
        const dueAt =
          at === undefined
            ? now + Math.round((inMinutes ?? 0) * MINUTE)
            : parseNextTime(at, zone, now).epochMilliseconds;
        const reminder = await reminders.set(context, { text, dueAt, key: at ?? String(inMinutes) });
        return toToolResult(reminder, zone);
      },
    }),
    defineTool({
      name: "list_reminders",
      followsUp: true,
      class: "read",
      description: "The reminders that are still to come, with their ids.",
      input: t.Object({}),
      async execute(_input, context) {
        const zone = resolveTimeZone(undefined, context.timezone);
        const open = await reminders.list(context.agentId, context);
        context.raiseTaint(highestTaint(open.map(({ taint }) => taint)));
        return open.length === 0
          ? "There are no reminders."
          : { reminders: open.map((reminder) => toToolResult(reminder, zone)) };
      },
    }),
    defineTool({
      name: "cancel_reminder",
      followsUp: true,
      class: "write",
      effect: "idempotent",
      confined: true,
      description: "Cancels one reminder. Its id comes from `list_reminders`.",
      input: t.Object({ id: t.String({ minLength: 1, maxLength: 64 }) }),
      async summarize({ id }, { agentId }) {
        const found = (await reminders.list(agentId)).find((one) => one.id === id);
        if (!found) throw noSuchReminder();
        return `Cancel the reminder: ${found.text}`;
      },
      // For everyone: the store lets people cancel only reminders of their own conversation.
      async execute({ id }, context) {
        const cancelled = await reminders.cancel(context.agentId, id, context);
        if (!cancelled) throw noSuchReminder();
        return { cancelled: true };
      },
    }),
  ];
}

const noSuchReminder = () => toolDeclined("There is no such reminder. Look at list_reminders.");

const toToolResult = ({ id, text, dueAt, enabled }: Reminder, zone: string) => {
  const due = Temporal.Instant.fromEpochMilliseconds(dueAt).toZonedDateTimeISO(zone);
  const at = due.toString({ timeZoneName: "never", smallestUnit: "second" });
  return { id, text, at, inWords: formatInWords(due), ...(enabled ? {} : { switchedOff: true }) };
};
