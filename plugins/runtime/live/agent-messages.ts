// Messages of other agents and of clients: each is stored once, under the id that its sender gives it, and answered in a
// conversation of its own.
import { setTimeout as sleep } from "node:timers/promises";
import { AppError } from "../../../src/kernel/errors.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import type { Agent } from "../../agents/index.ts";
import { listOutcomes } from "../conversations/conversation-outcomes.ts";
import type { StoredOutcome } from "../conversations/turn-list.ts";
import { cancelledError } from "../errors.ts";
import type { Reply } from "../turn/running-turns.ts";
import { type ChatRequest, unlessStored } from "../turn/turn-requests.ts";
import {
  type AgentMessage,
  type AgentTurn,
  type DetachedTurns,
  type NamedMessage,
  turnNotFound,
} from "./detached-turns.ts";

interface Deps extends Pick<Kernel, "database"> {
  chat(request: ChatRequest): Promise<Reply>;
  detachedTurns: Pick<DetachedTurns, "findNamed" | "sendNamed" | "cancel">;
  outcomeOf(agent: Agent, turnId: string): Promise<StoredOutcome | undefined>;
}

/** How often a turn is looked at that an earlier process began. */
const LOOK_MS = 1_000;

export const NAMES = `SELECT id, platform_message_id FROM inbox WHERE agent_id = ?1
  AND id IN (SELECT value FROM json_each(?2)) AND platform_message_id IS NOT NULL`;
/** ?3 and every text that begins with it: none of them has the character after it. */
export const WITH_PREFIX = `SELECT i.id, i.peer, m.content AS reply FROM inbox AS i
  LEFT JOIN messages AS m ON m.seq = i.reply AND m.inbox_id = i.id
  WHERE i.agent_id = ?1 AND i.platform = ?2 AND i.platform_message_id >= ?3 AND i.platform_message_id < ?3 || char(1114111)
  ORDER BY i.id DESC LIMIT 20`;

export interface PrefixedMessage {
  turnId: string;
  peer: string;
  reply: string | null;
}

export function createAgentMessages({ database, chat, detachedTurns, outcomeOf }: Deps) {
  const { findNamed: find } = detachedTurns;

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

  /** Stores a message whose turn runs by itself; one that is stored already, also by a call at the same time, keeps its turn. */
  async function sendOnce(agent: Agent, message: NamedMessage): Promise<AgentTurn & { isNew: boolean }> {
    const known = await find(agent.id, message);
    const stored = known ? undefined : await detachedTurns.sendNamed(agent, message);
    const { turnId, conversationId } = known ?? stored ?? (await find(agent.id, message)) ?? noTurn();
    return { turnId, conversationId, isNew: stored !== undefined };
  }

  return {
    find,
    sendOnce,

    /** The latest messages whose ids begin with this, newest first, with their replies: at most 20. */
    async withPrefix(agentId: string, platform: NamedMessage["platform"], prefix: string): Promise<PrefixedMessage[]> {
      const { rows } = await database.read(WITH_PREFIX, [agentId, platform, prefix]);
      return rows.map(({ id, peer, reply }) => ({
        turnId: String(id),
        peer: String(peer),
        reply: reply === null ? null : String(reply),
      }));
    },

    /** The ids that their senders have given the messages of these turns. */
    async names(agentId: string, turnIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
      const { rows } = await database.read(NAMES, [agentId, JSON.stringify(turnIds)]);
      return new Map(rows.map(({ id, platform_message_id }) => [String(id), String(platform_message_id)]));
    },

    /** Resolves with the reply; the turn is cancelled when the signal aborts. A message that is known is not sent again. */
    async ask(agent: Agent, { text, ...message }: AgentMessage, signal: AbortSignal): Promise<string> {
      for (;;) {
        const known = await find(agent.id, message);
        if (known) return waitForReply(agent, known.turnId, signal);
        const answer = await unlessStored(chat({ agent, ...message, message: text, isNoCommand: true, signal }));
        if (answer) return answer.reply;
      }
    },

    /** Stores a message whose turn runs by itself. */
    async send(agent: Agent, { peer, ...message }: AgentMessage): Promise<AgentTurn> {
      const { turnId, conversationId } = await sendOnce(agent, { ...message, to: { peer } });
      return { turnId, conversationId };
    },

    outcome: outcomeOf,
    /** What became of the messages of a conversation, newest first. */
    list: (agent: Agent, conversation: { platform: string; peer: string }) =>
      listOutcomes(database, agent, conversation),
    cancel: detachedTurns.cancel,
  };
}

/** The agent was deleted meanwhile, with its messages. */
const noTurn = (): never => {
  throw turnNotFound();
};
