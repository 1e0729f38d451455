// Defines the format `berth.agent/1`: an agent without its secrets as one JSON object.
import { type Static, t } from "elysia";
import { MAX_AGE_S } from "../../ai/index.ts";
import { exportedFile } from "../../knowledge/index.ts";
import { exportedPublicPage } from "../../public-page/index.ts";
import { platformIds } from "../../runtime/index.ts";
import { exportedSchedule } from "../../schedules/index.ts";
import { exportedMessageFile, filesLeftOut } from "./exported-files.ts";

export const EXPORT_FORMAT = "berth.agent/1";

const nullable = <Schema extends Parameters<typeof t.Union>[0][number]>(schema: Schema) => t.Union([schema, t.Null()]);
const time = t.String({
  pattern: "^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d(?::\\d\\d(?:\\.\\d{1,9})?)?(?:Z|[+-]\\d\\d:\\d\\d)$",
  description: "ISO 8601",
  error: "This must be a time in ISO 8601, with its zone.",
});
const peer = t.String({ maxLength: 500 });

const step = t.Object({ tool: t.String(), input: t.String(), result: t.String(), ok: t.Boolean() });

const message = t.Object({
  role: t.Union([t.Literal("user"), t.Literal("assistant")]),
  content: t.String(),
  steps: t.Optional(t.Array(step, { description: "What the agent did on the way to this reply" })),
  at: time,
  files: t.Optional(
    t.Array(exportedMessageFile, { maxItems: 10, description: "Uploads of the message, or files sent with the reply" }),
  ),
});

type PlatformSchema = ReturnType<typeof platformSchema>;
const platformSchema = (platforms: readonly string[]) =>
  t.Union(
    platforms.map((name) => t.Literal(name)),
    { error: `The platform is one of: ${platforms.join(", ")}.` },
  );

const createSession = (platform: PlatformSchema) =>
  t.Object({
    id: t.String({ maxLength: 100, description: "Identifies the session within this file" }),
    platform,
    peer: nullable(peer),
    status: t.Union([t.Literal("open"), t.Literal("completed")]),
    summary: nullable(t.String({ maxLength: 100_000 })),
    summarized: t.Number({ minimum: 0, multipleOf: 1, description: "How many of its messages the summary covers" }),
    createdAt: time,
    lastActivity: time,
    messages: t.Array(message),
  });

const memory = t.Object({
  content: t.String({ minLength: 1, maxLength: 2000 }),
  circle: t.String({ maxLength: 600, description: "`platform:peer` of the person it belongs to; empty for the owner" }),
  source: t.Union([t.Literal("agent"), t.Literal("compaction"), t.Literal("owner")]),
  kind: t.Optional(
    t.Union([t.Literal("owner"), t.Literal("person"), t.Literal("world")], { description: "What it is about" }),
  ),
  pinned: t.Optional(t.Boolean({ description: "In every prompt; an import ignores it" })),
  createdAt: time,
  updatedAt: time,
});

const createReminder = (platform: PlatformSchema) =>
  t.Object({
    text: t.String({ minLength: 1, maxLength: 2000 }),
    at: time,
    platform,
    peer: t.String({ maxLength: 500, description: "Empty for a session that is named by its id" }),
    session: t.String({ maxLength: 100 }),
    byOwner: t.Boolean(),
  });

/**
 * The schema of an exported agent. A function, because the channels are registered later than this module is loaded.
 * @param platforms ids of the platforms that a session may be of
 */
export function createExportedAgentSchema(platforms: readonly string[] = platformIds()) {
  const platform = platformSchema(platforms);
  return t.Object({
    format: t.Literal(EXPORT_FORMAT),
    exportedAt: t.Optional(time),
    name: t.String(),
    model: t.String(),
    tier: t.Optional(nullable(t.String())),
    config: t.Object({}, { additionalProperties: true, description: "The configuration, kept byte for byte" }),
    skills: t.Optional(
      t.Array(t.Object({ id: t.String({ minLength: 1, maxLength: 200 }), enabled: t.Boolean() }), {
        maxItems: 500,
        description: "Skills that were switched on or off",
      }),
    ),
    responseCache: t.Optional(
      nullable(
        t.Object(
          { maxAgeSeconds: t.Number({ multipleOf: 1, minimum: 1, maximum: MAX_AGE_S }) },
          { description: "The maximum age of cached responses; null or left out: no cache" },
        ),
      ),
    ),
    publicPage: t.Optional(nullable(exportedPublicPage)),
    memories: t.Optional(t.Array(memory)),
    reminders: t.Optional(t.Array(createReminder(platform), { maxItems: 1000 })),
    schedules: t.Optional(
      t.Array(exportedSchedule, { maxItems: 200, description: "Those of the configuration are in `config`" }),
    ),
    files: t.Optional(
      t.Array(exportedFile, {
        maxItems: 2_000,
        description: "Files that the agent knows, with their passages; the files themselves are not kept",
      }),
    ),
    sessions: t.Optional(t.Array(createSession(platform), { maxItems: 50_000 })),
    filesLeftOut: t.Optional(filesLeftOut),
  });
}

/** An exported agent; its configuration is also read as text, since it is kept byte for byte. */
export type ExportedAgent = Static<ReturnType<typeof createExportedAgentSchema>>;

export const exportQuery = t.Object({
  history: t.Optional(
    t.Union([t.Literal("0"), t.Literal("1")], {
      description: "`0` leaves out the sessions and their messages",
      error: "The history is 0 or 1.",
    }),
  ),
});
