// Defines the schemas of requests and responses about turns and messages.
import { type Static, t } from "elysia";
import { cursor, integer } from "../../src/kernel/http/body/response-types.ts";
import { sentFiles } from "./reply-files/sent-files.ts";

export const chatBody = t.Object({
  message: t.String({ minLength: 1, maxLength: 100_000, error: "Give a message of 1 to 100000 characters." }),
  /** A session of this agent; without it, the active session or a new one. */
  sessionId: t.Optional(t.String({ maxLength: 64 })),
  /** The name of a separate conversation, instead of a session. */
  topic: t.Optional(t.String({ minLength: 1, maxLength: 200, error: "A topic has 1 to 200 characters." })),
});

/** The body that the web surface sends to the backend, with the route that the message came by. */
export const turnBody = t.Composite([chatBody, t.Object({ platform: t.Union([t.Literal("web"), t.Literal("api")]) })]);

export type TurnBody = typeof turnBody.static;

export const chatReply = t.Object(
  {
    inboxId: t.String(),
    agentId: t.String(),
    sessionId: t.String(),
    reply: t.String(),
    timestamp: t.Number({ description: "epoch ms" }),
    files: sentFiles,
  },
  { title: "AgentReply" },
);

export const newSession = t.Object({ sessionId: t.String(), status: t.String() });

export const messagesQuery = t.Object({
  limit: t.Optional(t.String({ description: "1 to 100, default 50" })),
  offset: t.Optional(t.String({ description: "Messages to skip at the beginning, default 0" })),
  cursor,
  include: t.Optional(
    t.String({ description: "`all`: also messages from the web, the API and the public page", examples: ["all"] }),
  ),
});

/** "a, b or c". */
const anyOf = (names: readonly string[]) => new Intl.ListFormat("en-GB", { type: "disjunction" }).format(names);

const createAgentMessage = (channels: readonly string[]) =>
  t.Object({
    id: t.String(),
    agentId: t.String(),
    sender: t.Union([t.Literal("user"), t.Literal("agent")]),
    content: t.String(),
    files: sentFiles,
    timestamp: t.String({ description: "ISO 8601" }),
    platform: t.String({ description: `${anyOf(channels)}; with \`include=all\` also web, api or public` }),
  });
export type AgentMessage = Static<ReturnType<typeof createAgentMessage>>;

/** The answer with an agent's messages; its description names the channels that there are. */
export const createMessagesPage = (channels: readonly string[]) =>
  t.Object({
    messages: t.Array(createAgentMessage(channels)),
    total: integer({
      description:
        "The offset plus the number of messages of this page: the offset of the next page, with the same cursor",
    }),
    limit: integer(),
    offset: integer(),
    nextCursor: t.Union([t.String({ description: "For the next page, which may be empty" }), t.Null()]),
    status: t.Literal("ok"),
  });
