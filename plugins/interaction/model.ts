// Defines the schemas of the requests that people and programs send to their agent, and of the responses.
import { t } from "elysia";
import { cursor, integer, nextCursor } from "../../src/kernel/http/body/response-types.ts";
import { uiChatFields } from "../client-chats/index.ts";
import { sentFiles } from "../runtime/index.ts";

export const API_VERSION = "1.0.0";

const optionalText = (max: number, error: string, description?: string) =>
  t.Optional(t.String({ maxLength: max, error, ...(description !== undefined && { description }) }));

/** What `agentId` is in every request here. */
const agentId = optionalText(
  64,
  "An agent id has 36 characters.",
  "One of your agents. Left out: the newest that is not stopped, else the newest.",
);
/** Documents the names; the route itself refuses others, and lists those that there are. */
const action = (names: readonly string[], description: string) =>
  t.Optional(t.String({ maxLength: 32, error: "The action is a short word.", enum: names, description }));

export const agentQuery = t.Object({
  action: action(
    ["health", "sessions", "session", "memory", "skills", "credentials"],
    "The view. Left out: what there is.",
  ),
  sessionId: optionalText(64, "A session id has at most 64 characters.", "For `session`."),
  agentId,
});

export const agentBody = t.Object({
  action: action(["chat", "create-session", "update-skill", "set-credential"], "What to do. Left out: `chat`."),
  agentId,
  message: optionalText(100_000, "A message is text of at most 100000 characters.", "For `chat`: what you say."),
  sessionId: optionalText(
    64,
    "A session id has at most 64 characters.",
    "For `chat`: the conversation. Left out: the newest active one of the web, or a new one.",
  ),
  skillId: optionalText(128, "A skill id is text.", "For `update-skill`."),
  enabled: t.Optional(t.Boolean({ error: "Give true or false.", description: "For `update-skill`." })),
  key: optionalText(64, "The key names a credential kind.", "For `set-credential`: its kind, such as `provider_1`."),
  value: optionalText(
    8_192,
    "A credential is text of at most 8192 characters; empty clears it.",
    "For `set-credential`; an empty text clears it.",
  ),
  ...uiChatFields,
});

export const MESSAGE_MISSING = "Give a message of 1 to 100000 characters.";

export const sendMessageBody = t.Object({
  /** Only a request of `useChat` comes without it. */
  message: t.Optional(
    t.String({
      minLength: 1,
      maxLength: 100_000,
      error: MESSAGE_MISSING,
      description: "What you say to the agent. Required, except in a request of `useChat`, which has `messages`.",
    }),
  ),
  topic: t.Optional(
    t.String({
      minLength: 1,
      maxLength: 200,
      error: "A topic has 1 to 200 characters.",
      description:
        "A name of yours for a conversation. Left out: the newest active conversation of the web, however it began.",
    }),
  ),
  agentId,
  ...uiChatFields,
});

/** Every answer names the agent, because a request without `agentId` goes to the newest one. */
const usedAgent = { agentId: t.String({ description: "The agent that was asked" }) };
const shownAgent = { agentId: t.Union([t.String(), t.Null()], { description: "The agent shown; null without one" }) };

export const sentMessage = t.Object(
  {
    id: t.String(),
    agentId: t.String(),
    message: t.String(),
    topic: t.Union([t.String(), t.Null()]),
    status: t.String({ description: "sent or failed" }),
    timestamp: t.String({ description: "ISO 8601" }),
    reply: t.Union([t.String(), t.Null()]),
    files: sentFiles,
  },
  { title: "SentMessage" },
);

export const sentMessageList = t.Object({
  messages: t.Array(sentMessage),
  count: t.Number(),
  nextCursor,
  ...shownAgent,
});

export const sentMessagesQuery = t.Object({
  limit: t.Optional(t.String({ description: "1 to 100, default 50" })),
  offset: t.Optional(t.String({ description: "Messages to skip, default 0" })),
  cursor,
  topic: t.Optional(t.String({ description: "Only messages of this topic" })),
  agentId: t.Optional(t.String({ description: "Id of an agent of yours; by default the newest one" })),
});

const sessionMessage = t.Object({ role: t.String(), content: t.String() }, { title: "SessionMessage" });
const session = {
  id: t.String(),
  status: t.String(),
  messageCount: integer(),
  createdAt: t.Number({ description: "Epoch ms" }),
  lastActivity: t.Number({ description: "Epoch ms" }),
};
const fact = t.Object({
  id: t.String(),
  text: t.String(),
  saidBy: t.Union([t.String(), t.Null()], { description: "The conversation it is from; null: the owner's" }),
  untrusted: t.Boolean({
    description:
      "Noted while content from outside was in the conversation: where it is in a prompt, calls of tools that change, " +
      "send or spend need the owner's approval",
  }),
  createdAt: t.String({ description: "ISO 8601" }),
});
const skill = t.Object(
  { id: t.String(), name: t.String(), description: t.String(), enabled: t.Boolean() },
  { title: "SkillSwitch" },
);

/** The response of `GET /api/agent`, by its action; for the API documents alone. */
export const agentView = t.Union([
  t.Object(
    { ...shownAgent, apiVersion: t.String(), platformVersion: t.String(), endpoints: t.Record(t.String(), t.String()) },
    { title: "AgentIndex", description: "Without an action" },
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
      ...shownAgent,
      runtimeVersion: t.Optional(t.String()),
    },
    { title: "AgentHealth", description: "With `action: health`" },
  ),
  t.Object(
    { ...shownAgent, sessions: t.Array(t.Object(session)) },
    { title: "AgentSessions", description: "With `action: sessions`" },
  ),
  t.Object(
    { ...shownAgent, ...session, messages: t.Array(sessionMessage) },
    { title: "AgentSession", description: "With `action: session`" },
  ),
  t.Object(
    {
      ...shownAgent,
      memory: t.Array(sessionMessage, { description: "The last 10 messages of the active session, shortened" }),
      facts: t.Array(fact, { description: "The newest 100 remembered facts, which outlive a session" }),
    },
    { title: "AgentMemoryView", description: "With `action: memory`" },
  ),
  t.Object(
    { ...shownAgent, skills: t.Array(skill) },
    { title: "AgentSkillsView", description: "With `action: skills`" },
  ),
  t.Object(
    { ...shownAgent, credentials: t.Record(t.String(), t.Boolean()) },
    { title: "AgentCredentialsView", description: "With `action: credentials`" },
  ),
]);

/** The response of `POST /api/agent`, by its action; for the API documents alone. */
export const actionResult = t.Union([
  t.Object(
    {
      ...{ ...usedAgent, sessionId: t.String(), reply: t.String() },
      timestamp: t.Number({ description: "Epoch ms" }),
      files: sentFiles,
    },
    { title: "ChatReply", description: "With `action: chat`" },
  ),
  t.Object(
    { ...usedAgent, sessionId: t.String(), status: t.String() },
    { title: "CreatedSession", description: "With `action: create-session`" },
  ),
  t.Object(
    { ...usedAgent, success: t.Boolean(), skillId: t.String(), enabled: t.Boolean() },
    { title: "SwitchedSkill", description: "With `action: update-skill`" },
  ),
  t.Object(
    { ...usedAgent, success: t.Boolean(), key: t.String(), configured: t.Boolean() },
    { title: "StoredCredential", description: "With `action: set-credential`" },
  ),
]);

/** The endpoints in the overview of `GET /api/agent`. */
export const ENDPOINTS = {
  "GET /api/agent?action=health": "its health: status, model, channels, skills",
  "GET /api/agent?action=sessions": "its conversations",
  "GET /api/agent?action=session&sessionId=…": "one conversation with its messages",
  "GET /api/agent?action=memory": "the last 10 messages of the active session, shortened, and the remembered facts",
  "GET /api/agent?action=skills": "its skills",
  "GET /api/agent?action=credentials": "which credentials are configured",
  "POST /api/agent { message }": "talk to it; with accept: text/event-stream the reply is streamed",
  'POST /api/agent { action: "create-session" }': "begin a new conversation",
  'POST /api/agent { action: "update-skill", skillId, enabled }': "switch a skill on or off",
  'POST /api/agent { action: "set-credential", key, value }': "store a provider key or connect a channel",
} as const;
