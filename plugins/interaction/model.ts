// What people and programs send to their agent, and what they get back. Interface "Agent interaction", contract §6b.
import { t } from "elysia";

export const API_VERSION = "1.0.0";

const text = (max: number, error: string) => t.Optional(t.String({ maxLength: max, error }));

export const agentQuery = t.Object({
  action: text(32, "The action is a short word."),
  sessionId: text(64, "A session id has at most 64 characters."),
  agentId: text(64, "An agent id has 36 characters."),
});

export const agentBody = t.Object({
  action: text(32, "The action is a short word."),
  agentId: text(64, "An agent id has 36 characters."),
  message: text(100_000, "A message is text of at most 100000 characters."),
  sessionId: text(64, "A session id has at most 64 characters."),
  skillId: text(128, "A skill id is text."),
  enabled: t.Optional(t.Boolean({ error: "Say true or false." })),
  key: text(64, "The key names a credential kind."),
  value: text(8_192, "A credential is text of at most 8192 characters; empty clears it."),
});

export const sendBody = t.Object({
  message: t.String({ minLength: 1, maxLength: 100_000, error: "Give a message of 1 to 100000 characters." }),
  topic: t.Optional(t.String({ minLength: 1, maxLength: 200, error: "A topic has 1 to 200 characters." })),
  agentId: text(64, "An agent id has 36 characters."),
});

export const sent = t.Object({
  id: t.String(),
  message: t.String(),
  topic: t.Union([t.String(), t.Null()]),
  status: t.String({ description: "sent or failed" }),
  timestamp: t.String({ description: "ISO 8601" }),
  reply: t.Union([t.String(), t.Null()]),
});

export const sentList = t.Object({ messages: t.Array(sent), count: t.Number() });

export const sentQuery = t.Object({
  limit: t.Optional(t.String()),
  offset: t.Optional(t.String()),
  topic: t.Optional(t.String()),
  agentId: t.Optional(t.String()),
});

/** What the overview of `GET /api/agent` tells. */
export const ENDPOINTS = {
  "GET /api/agent?action=health": "how your agent is: status, model, channels, skills",
  "GET /api/agent?action=sessions": "its conversations",
  "GET /api/agent?action=session&sessionId=…": "one conversation with its messages",
  "GET /api/agent?action=memory": "the last 10 messages of the active session, in short",
  "GET /api/agent?action=skills": "what it can do",
  "GET /api/agent?action=credentials": "which credentials are configured",
  "POST /api/agent { message }": "talk to it; with accept: text/event-stream the reply is streamed",
  'POST /api/agent { action: "create-session" }': "begin a new conversation",
  'POST /api/agent { action: "update-skill", skillId, enabled }': "switch a skill on or off",
  'POST /api/agent { action: "set-credential", key, value }': "store a provider key or connect a channel",
} as const;
