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

const said = t.Object({ role: t.String(), content: t.String() });
const session = {
  id: t.String(),
  status: t.String(),
  messageCount: t.Integer(),
  createdAt: t.Number({ description: "Epoch ms" }),
  lastActivity: t.Number({ description: "Epoch ms" }),
};
const skill = t.Object({ id: t.String(), name: t.String(), description: t.String(), enabled: t.Boolean() });

/** What `GET /api/agent` shows, by its action; for the documents alone. */
export const agentView = t.Union([
  t.Object(
    { apiVersion: t.String(), platformVersion: t.String(), endpoints: t.Record(t.String(), t.String()) },
    { description: "Without an action" },
  ),
  t.Object(
    {
      status: t.String(),
      version: t.String(),
      apiVersion: t.String(),
      uptime: t.Number({ description: "Milliseconds" }),
      model: t.Union([t.String(), t.Null()]),
      channels: t.Array(t.String()),
      skills: t.Array(skill),
      lastSeen: t.Union([t.Number(), t.Null()], { description: "Epoch ms" }),
      agentId: t.Optional(t.String()),
      runtimeVersion: t.Optional(t.String()),
    },
    { description: "health" },
  ),
  t.Object({ sessions: t.Array(t.Object(session)) }, { description: "sessions" }),
  t.Object({ ...session, messages: t.Array(said) }, { description: "session" }),
  t.Object({ memory: t.Array(said) }, { description: "memory" }),
  t.Object({ skills: t.Array(skill) }, { description: "skills" }),
  t.Object({ credentials: t.Record(t.String(), t.Boolean()) }, { description: "credentials" }),
]);

/** What `POST /api/agent` answers, by its action; for the documents alone. */
export const done = t.Union([
  t.Object(
    { sessionId: t.String(), reply: t.String(), timestamp: t.Number({ description: "Epoch ms" }) },
    { description: "chat" },
  ),
  t.Object({ sessionId: t.String(), status: t.String() }, { description: "create-session" }),
  t.Object({ success: t.Boolean(), skillId: t.String(), enabled: t.Boolean() }, { description: "update-skill" }),
  t.Object({ success: t.Boolean(), key: t.String(), configured: t.Boolean() }, { description: "set-credential" }),
]);

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
