// What turns and messages look like on the wire.
import { t } from "elysia";

export const chatBody = t.Object({
  message: t.String({ minLength: 1, maxLength: 100_000, error: "Give a message of 1 to 100000 characters." }),
  /** A session of this agent; left out: the active one, or a new one. */
  sessionId: t.Optional(t.String({ maxLength: 64 })),
  /** A conversation of its own by name, instead of a session. */
  topic: t.Optional(t.String({ minLength: 1, maxLength: 200, error: "A topic has 1 to 200 characters." })),
});

/** The web surface says through which of its doors the message came. */
export const turnBody = t.Composite([chatBody, t.Object({ platform: t.Union([t.Literal("web"), t.Literal("api")]) })]);

export type TurnBody = typeof turnBody.static;

export const chatReply = t.Object({
  inboxId: t.String(),
  sessionId: t.String(),
  reply: t.String(),
  timestamp: t.Number({ description: "epoch ms" }),
});

export const newSession = t.Object({ sessionId: t.String(), status: t.String() });

export const messagesQuery = t.Object({
  limit: t.Optional(t.String({ description: "1 to 100, default 50" })),
  offset: t.Optional(t.String({ description: "Messages to leave out at the beginning, default 0" })),
  include: t.Optional(
    t.String({ description: "`all`: those from the web, the API and the public page too", examples: ["all"] }),
  ),
});

export const agentMessage = t.Object({
  id: t.String(),
  agentId: t.String(),
  sender: t.Union([t.Literal("user"), t.Literal("agent")]),
  content: t.String(),
  timestamp: t.String({ description: "ISO 8601" }),
  platform: t.String({ description: "channel_a, channel_b or channel_c; with `include=all` also web, api or public" }),
});

export const messagesPage = t.Object({
  messages: t.Array(agentMessage),
  total: t.Integer({ description: "The offset and the number of messages here: where to go on" }),
  limit: t.Integer(),
  offset: t.Integer(),
  status: t.Literal("ok"),
});
