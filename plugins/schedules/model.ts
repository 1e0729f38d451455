// Defines the schemas of requests and responses about schedules.
import { type Static, t } from "elysia";
import { oneLine } from "../../src/kernel/util/text/quoted-text.ts";
import { TAINT } from "../skills/index.ts";
import type { Schedule, ScheduleRun } from "./schema.ts";
import { inWords } from "./words.ts";

export const MAX_NAME = 200;
export const MAX_PROMPT = 16_384;

const nullable = <Schema extends Parameters<typeof t.Union>[0][number]>(schema: Schema) => t.Union([schema, t.Null()]);
const time = (description: string) => t.String({ description: `ISO 8601. ${description}` });
const missed = t.Union([t.Literal("skip"), t.Literal("once"), t.Literal("all")], {
  description:
    "What happens to times that were missed: no run, one run for all (default), or a run for each, at most 100",
  error: "This must be skip, once or all.",
});
const status = t.Union([
  t.Literal("running"),
  t.Literal("done"),
  t.Literal("failed"),
  t.Literal("cancelled"),
  t.Literal("skipped"),
]);
const deliver = nullable(
  t.Union([
    t.Object(
      { platform: t.String({ maxLength: 64 }), peer: t.String({ minLength: 1, maxLength: 200 }) },
      { title: "ConversationTarget" },
    ),
    t.Object({ webhook: t.Literal(true) }, { title: "WebhookTarget" }),
  ]),
);
const DELIVER = 'This must be { "platform": …, "peer": … }, { "webhook": true } or null.';

const given = {
  name: t.String({ maxLength: MAX_NAME, error: `A name has at most ${MAX_NAME} characters.` }),
  prompt: t.String({
    minLength: 1,
    maxLength: MAX_PROMPT,
    description: "What the agent is told at that time",
    error: `Say in 1 to ${MAX_PROMPT} characters what the agent does.`,
  }),
  cron: t.String({
    maxLength: 200,
    description: "Five fields, or a name such as @daily",
    error: "A cron expression is text.",
  }),
  at: t.String({ maxLength: 64, description: "A single run, in ISO 8601", error: "This must be a time in ISO 8601." }),
  timezone: t.String({
    maxLength: 64,
    description: "Default: the agent's, else UTC",
    error: "This must be the name of a time zone, such as Europe/Vienna.",
  }),
  deliver: t.Union(deliver.anyOf, {
    description:
      "Where the answer goes: a conversation of a channel, webhooks (event `schedule.ended` with the reply), or null: it is " +
      "stored in the schedule's own conversation",
    error: DELIVER,
  }),
  missed,
  enabled: t.Boolean({ error: "Give true or false." }),
};

export const createBody = t.Object({
  name: t.Optional(given.name),
  prompt: given.prompt,
  cron: t.Optional(given.cron),
  at: t.Optional(given.at),
  timezone: t.Optional(given.timezone),
  deliver: t.Optional(given.deliver),
  missed: t.Optional(given.missed),
  enabled: t.Optional(given.enabled),
});
export const changeBody = t.Partial(t.Object(given));
export const previewBody = t.Object({
  cron: t.Optional(given.cron),
  at: t.Optional(given.at),
  timezone: t.Optional(given.timezone),
});

export const scheduleItem = t.Object(
  {
    id: t.String(),
    name: t.String(),
    prompt: t.String(),
    cron: nullable(t.String()),
    at: nullable(time("For a single run")),
    timezone: t.String(),
    words: t.String({ description: "When it runs, in words" }),
    deliver,
    missed,
    enabled: t.Boolean(),
    statusReason: nullable(t.String({ description: "Why it was paused" })),
    source: t.Union([t.Literal("owner"), t.Literal("agent"), t.Literal("config")], {
      description: "Who made it: the owner, the agent in a chat, or the agent's configuration, where it is changed",
    }),
    untrusted: t.Boolean({
      description:
        "Content from outside had a part in the prompt: tools that change, send or spend ask the owner first",
    }),
    nextRunAt: nullable(time("When it runs next")),
    lastRunAt: nullable(time("When it ran last")),
    lastStatus: nullable(status),
    failures: t.Integer({ description: "Failed runs in a row; after five it is paused" }),
    createdAt: time("When it was made"),
  },
  { title: "Schedule" },
);
export const scheduleList = t.Object({ schedules: t.Array(scheduleItem), count: t.Integer() });
export const scheduleResponse = t.Object({ schedule: scheduleItem });
export const removedResponse = t.Object({ success: t.Boolean(), id: t.String() });

export const runItem = t.Object(
  {
    id: t.String(),
    cause: t.Union([t.Literal("time"), t.Literal("missed"), t.Literal("manual")]),
    dueAt: time("The time that it is for"),
    missed: t.Integer({ description: "Further times that have no run of their own" }),
    status,
    turnId: nullable(t.String()),
    sessionId: nullable(t.String({ description: "The conversation that has the reply" })),
    error: nullable(t.String()),
    startedAt: time("When it began"),
    endedAt: nullable(time("When it ended")),
  },
  { title: "ScheduleRun" },
);
export const runList = t.Object({
  runs: t.Array(runItem),
  count: t.Integer(),
  nextCursor: nullable(t.String({ description: "For the next page" })),
});
export const runResponse = t.Object({ run: runItem });

export const preview = t.Object({
  next: t.Array(time("A run"), { description: "The next five runs" }),
  words: t.String(),
  timezone: t.String(),
});

export const targetList = t.Object({
  targets: t.Array(
    t.Object({
      platform: t.String(),
      peer: t.String(),
      name: t.String(),
      group: t.Boolean(),
      owner: t.Boolean({ description: "The owner's own chat: elsewhere the agent has only the rights of a guest" }),
      lastMessageAt: time("When somebody wrote there last"),
    }),
  ),
  count: t.Integer(),
});

const page = { limit: t.Optional(t.String({ description: "1 to 100, default 50" })) };
export const listQuery = t.Object({ ...page, offset: t.Optional(t.String({ description: "Default 0" })) });
export const runsQuery = t.Object({
  ...page,
  cursor: t.Optional(
    t.String({
      pattern: "^[0-9a-f-]{36}$",
      description: "The `nextCursor` of the page before",
      error: "Give the nextCursor of the page before, or leave it out.",
    }),
  ),
});

const iso = (at: number) => new Date(at).toISOString();
const isoOrNull = (at: number | null) => (at === null ? null : iso(at));

export const toScheduleItem = (schedule: Schedule): Static<typeof scheduleItem> => ({
  id: schedule.id,
  name: oneLine(schedule.name),
  prompt: schedule.prompt,
  cron: schedule.cron,
  at: isoOrNull(schedule.at),
  timezone: schedule.timezone,
  words: inWords(schedule),
  deliver: schedule.deliver,
  missed: schedule.missed,
  enabled: schedule.enabled,
  statusReason: schedule.statusReason,
  source: schedule.origin,
  untrusted: schedule.taint === TAINT.outside,
  nextRunAt: isoOrNull(schedule.nextRunAt),
  lastRunAt: isoOrNull(schedule.lastRunAt),
  lastStatus: schedule.lastStatus,
  failures: schedule.failures,
  createdAt: iso(schedule.createdAt),
});

/** A run counts as cancelled if its message was deleted with the agent's memory. */
export const toRunItem = (run: ScheduleRun, isPending: (inboxId: string) => boolean): Static<typeof runItem> => ({
  id: run.id,
  cause: run.cause,
  dueAt: iso(run.dueAt),
  missed: run.missed,
  status: run.status === "running" && !isPending(run.inboxId ?? "") ? "cancelled" : run.status,
  turnId: run.inboxId,
  sessionId: run.sessionId,
  error: run.error,
  startedAt: iso(run.startedAt),
  endedAt: isoOrNull(run.endedAt),
});
