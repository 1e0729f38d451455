// Messages of other agents: each is stored once, under the id that its sender gives it, and answered in a conversation of its own.
import { setTimeout as sleep } from "node:timers/promises";
import { AppError } from "../../../src/kernel/errors.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import type { Agent } from "../../agents/index.ts";
import { listOutcomes } from "../conversations/conversation-outcomes.ts";
import type { StoredOutcome } from "../conversations/turn-list.ts";
import { cancelledError } from "../errors.ts";
import type { Reply } from "../turn/running-turns.ts";
import type { ChatRequest } from "../turn/turn-requests.ts";
import type { AgentMessage, AgentTurn, DetachedTurns } from "./detached-turns.ts";

interface Deps extends Pick<Kernel, "database"> {
  chat(request: ChatRequest): Promise<Reply>;
  detachedTurns: Pick<DetachedTurns, "sendAs" | "cancel">;
  outcomeOf(agent: Agent, turnId: string): Promise<StoredOutcome | undefined>;
}

/** How often a turn is looked at that an earlier process began. */
const LOOK_MS = 1_000;
const FIND = "SELECT id, session_id, peer FROM inbox WHERE agent_id = ? AND platform = ? AND platform_message_id = ?";

export function createAgentMessages({ database, chat, detachedTurns, outcomeOf }: Deps) {
  async function find(
    agentId: string,
    { platform, messageId }: Pick<AgentMessage, "platform" | "messageId">,
  ): Promise<(AgentTurn & { peer: string }) | undefined> {
    const [row] = (await database.read(FIND, [agentId, platform, messageId])).rows;
    return row && { turnId: String(row.id), conversationId: String(row.session_id), peer: String(row.peer) };
  }

  /** Waits for the end of a turn whose message was stored before a restart. */
  async function waitForReply(agent: Agent, turnId: string, signal: AbortSignal): Promise<string> {
    for (;;) {
      const found = await outcomeOf(agent, turnId);
      if (found?.reply) return found.reply.text;
      if (!found || (found.status !== "running" && found.status !== "waiting")) {
        throw found?.error ? new AppError(409, found.error.code, found.error.message) : cancelledError();
      }
      try {
        await sleep(LOOK_MS, undefined, { signal });
      } catch (error) {
        await detachedTurns.cancel(agent, turnId).catch(() => undefined);
        throw signal.reason ?? error;
      }
    }
  }

  return {
    find,

    /** Resolves with the reply; the turn is cancelled when the signal aborts. A message that is known is not sent again. */
    async ask(agent: Agent, { text, ...message }: AgentMessage, signal: AbortSignal): Promise<string> {
      const known = await find(agent.id, message);
      if (known) return waitForReply(agent, known.turnId, signal);
      return (await chat({ agent, ...message, message: text, isNoCommand: true, signal })).reply;
    },

    /** Stores a message whose turn runs by itself. */
    async send(agent: Agent, message: AgentMessage): Promise<AgentTurn> {
      return (await find(agent.id, message)) ?? detachedTurns.sendAs(agent, message);
    },

    outcome: outcomeOf,
    /** What became of the messages of a conversation, newest first. */
    list: (agent: Agent, conversation: { platform: string; peer: string }) =>
      listOutcomes(database, agent, conversation),
    cancel: detachedTurns.cancel,
  };
}
