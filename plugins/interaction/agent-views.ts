// Builds the views of `GET /api/agent` from the shared database, so that they work while the backend is down.
import { version } from "../../package.json";
import { AppError, invalidInput, notFound } from "../../src/kernel/errors.ts";
import type { ServiceOf } from "../../src/kernel/plugin.ts";
import type { Agent, agents } from "../agents/index.ts";
import type { channels } from "../channels/index.ts";
import type { HistoryMessage, runtime, Session } from "../runtime/index.ts";
import { type Fact, type skills, TAINT } from "../skills/index.ts";
import { API_VERSION, ENDPOINTS } from "./model.ts";

/** A session shows its newest messages, so many. */
const SESSION_MESSAGES = 1_000;
/** The memory view shows the newest messages of the active session, and so many characters of each. */
const MEMORY_MESSAGES = 10;
const MEMORY_CHARACTERS = 100;
/** The newest facts, so many. */
const MEMORY_FACTS = 100;

interface Deps {
  agents: ServiceOf<typeof agents>;
  runtime: ServiceOf<typeof runtime>;
  skills: ServiceOf<typeof skills>;
  channels: ServiceOf<typeof channels>;
}

type View = (agent: Agent | undefined, query: { sessionId?: string | undefined }) => Promise<object> | object;

/** Without an action, `show` returns an overview of the endpoints. Every view says which agent it shows, or null. */
export function createAgentViews({ agents, runtime, skills, channels }: Deps): {
  show(
    action: string | undefined,
    agent: Agent | undefined,
    query: { sessionId?: string | undefined },
  ): Promise<object>;
} {
  const listSkills = async (agent: Agent) =>
    (await skills.list(agent.id)).map(({ id, name, description, enabled }) => ({ id, name, description, enabled }));

  const views: Record<string, View> = {
    async health(agent) {
      const common = { version, apiVersion: API_VERSION };
      if (!agent)
        return { status: "unknown", ...common, uptime: 0, model: null, channels: [], skills: [], lastSeen: null };
      return {
        status: agent.status,
        ...common,
        uptime: agent.status === "stopped" || !agent.startedAt ? 0 : Date.now() - agent.startedAt,
        model: (await runtime.chooseModel(agent)).label,
        channels: await channels.listChannelIds(agent.id),
        skills: await listSkills(agent),
        lastSeen: (await runtime.sessions.lastActivity(agent.id)) ?? agent.updatedAt,
        runtimeVersion: agent.runtimeVersion,
      };
    },

    sessions: async (agent) => ({ sessions: agent ? (await runtime.sessions.list(agent.id)).map(sessionItem) : [] }),

    async session(agent, { sessionId }) {
      if (!sessionId) throw invalidInput({ path: "sessionId", message: "Give the id of the session." });
      const session = agent && (await runtime.sessions.find(agent.id, sessionId));
      if (!session) throw notFound("This agent has no session with this id.", "SESSION_NOT_FOUND");
      const messages = await runtime.sessions.messages(session.id, SESSION_MESSAGES);
      return { ...sessionItem(session), messages: messages.map(messageItem) };
    },

    async memory(agent) {
      if (!agent) return { memory: [], facts: [] };
      const [active, facts] = await Promise.all([
        runtime.sessions.findActive(agent.id),
        skills.memories.list(agent.id, { limit: MEMORY_FACTS }),
      ]);
      const messages = active ? await runtime.sessions.messages(active.id, MEMORY_MESSAGES) : [];
      return {
        memory: messages.map(({ role, content }) => ({
          role,
          content: [...content].slice(0, MEMORY_CHARACTERS).join(""),
        })),
        facts: facts.map(factItem),
      };
    },

    skills: async (agent) => ({ skills: agent ? await listSkills(agent) : [] }),
    credentials: async (agent) => ({ credentials: await agents.credentials.summary(agent?.id ?? "") }),
  };

  return {
    async show(action, agent, query) {
      if (action === undefined || action === "") {
        return { agentId: agent?.id ?? null, apiVersion: API_VERSION, platformVersion: version, endpoints: ENDPOINTS };
      }
      const view = Object.hasOwn(views, action) ? views[action] : undefined;
      if (view) return { agentId: agent?.id ?? null, ...(await view(agent, query)) };
      const known = Object.keys(views).join(", ");
      throw new AppError(400, "INVALID_ACTION", `There is no action "${action.slice(0, 32)}". Actions: ${known}.`);
    },
  };
}

const sessionItem = ({ id, status, messageCount, createdAt, lastActivity }: Session) => ({
  id,
  status,
  messageCount,
  createdAt,
  lastActivity,
});

const messageItem = ({ role, content, timestamp }: HistoryMessage) => ({ role, content, timestamp });

/** A remembered fact; `saidBy` is the conversation it is from, and null for the owner's. */
const factItem = ({ id, content, circle, taint, createdAt }: Fact) => ({
  id,
  text: content,
  saidBy: circle === "" ? null : circle,
  untrusted: taint === TAINT.outside,
  createdAt: new Date(createdAt).toISOString(),
});
