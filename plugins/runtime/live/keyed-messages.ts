// Finds messages by the Idempotency-Key of the request that has sent them. The answer to a request is stored after its message, and the
// process can be killed in between: then the repeated request finds the message here.
import { setTimeout as sleep } from "node:timers/promises";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import { DAY } from "../../../src/kernel/util/time.ts";
import { sha256Hex } from "../../../src/kernel/util/tokens.ts";
import type { Agent } from "../../agents/index.ts";
import type { StoredOutcome } from "../conversations/turn-list.ts";
import { noticeIdOf } from "../journal/suspensions.ts";
import { toSentFile } from "../reply-files/sent-files.ts";
import type { Reply } from "../turn/running-turns.ts";
import { type ChatRequest, unlessStored } from "../turn/turn-requests.ts";

/** The web surface passes it on to the backend. */
export const IDEMPOTENCY_KEY = "idempotency-key";
/** As long as the answers of other requests are kept. */
const VALID_MS = DAY;
/** How often a turn is looked at that an earlier process began. */
const LOOK_MS = 500;

/** ?3 is the name of the messages. Later ones have a number behind it, so that their order does not depend on clocks. */
export const NEWEST_NAMED = `SELECT id, session_id, received_at, suspended, platform_message_id AS message_id FROM inbox
  WHERE agent_id = ?1 AND platform = ?2 AND platform_message_id >= ?3 AND platform_message_id < ?3 || char(1114111)
  ORDER BY platform_message_id DESC LIMIT 1`;
const DIGITS = 6;
const NOTICE = "SELECT content, created_at FROM messages WHERE session_id = ? AND id = ? ORDER BY seq DESC LIMIT 1";

/** The name of messages with this key and content: with other content, a message is another one. */
export const nameOf = (key: string, ...content: unknown[]) => `key:${sha256Hex(JSON.stringify([key, ...content]))}`;

interface KeyedMessage {
  turnId: string;
  /** 0 for the first message under its name. */
  number: number;
  conversationId: string;
  /** Its turn waits for the owner's approval. */
  isSuspended: boolean;
  /** It came so recently that its key holds. */
  isValid: boolean;
}

/** The message that was stored last under this name. */
export async function findKeyed(
  { read }: Pick<Kernel["database"], "read">,
  agentId: string,
  platform: string,
  name: string,
  now = Date.now(),
): Promise<KeyedMessage | undefined> {
  const [row] = (await read(NEWEST_NAMED, [agentId, platform, name])).rows;
  if (!row) return undefined;
  return {
    turnId: String(row.id),
    number: Number(String(row.message_id).slice(name.length + 1)),
    conversationId: String(row.session_id),
    isSuspended: Number(row.suspended) === 1,
    isValid: Number(row.received_at) > now - VALID_MS,
  };
}

/** The id of the next message under a name: the same for all that come at once. */
export const nextId = (name: string, former: Pick<KeyedMessage, "number"> | undefined) =>
  former === undefined ? name : `${name}#${String(former.number + 1).padStart(DIGITS, "0")}`;

interface Deps extends Pick<Kernel, "database"> {
  chat(request: ChatRequest): Promise<Reply>;
  outcomeOf(agent: Agent, turnId: string): Promise<StoredOutcome | undefined>;
  /** As it is now; throws if it was deleted. */
  current(agent: Agent): Promise<Agent>;
  /** Throws while the agent is stopped, or the service stops. */
  requireReady(agent: Agent): void;
}

/**
 * Makes a function that answers a message under its name. If the message was stored within a day, the caller gets the reply to it, or
 * its question to the owner; if its turn failed or was cancelled, it is stored anew. A turn that an earlier request began goes on when
 * `signal` aborts.
 */
export function createAskOnce({ database, chat, outcomeOf, current, requireReady }: Deps) {
  async function noticeOf({ turnId, conversationId }: KeyedMessage) {
    const [row] = (await database.read(NOTICE, [conversationId, noticeIdOf({ id: turnId })])).rows;
    return row && { text: String(row.content), at: Number(row.created_at), files: [] };
  }

  return async function askOnce(name: string, request: ChatRequest): Promise<Reply> {
    const { platform, signal } = request;
    let { agent } = request;
    for (;;) {
      const former = await findKeyed(database, agent.id, platform, name);
      const outcome = former?.isValid ? await outcomeOf(agent, former.turnId) : undefined;
      const isUnderWay = outcome?.status === "running" || outcome?.status === "waiting";
      const reply = outcome?.reply ?? (former?.isSuspended && isUnderWay ? await noticeOf(former) : undefined);
      if (former && outcome && reply) {
        const files = reply.files.map((file) => toSentFile(agent.id, file));
        const { turnId: inboxId, conversationId: sessionId } = former;
        const answer = { inboxId, agentId: agent.id, sessionId, reply: reply.text, timestamp: reply.at };
        return { ...answer, ...(files.length > 0 && { files }) };
      }
      requireReady(agent);
      if (!isUnderWay) {
        const answer = await unlessStored(chat({ ...request, messageId: nextId(name, former) }));
        if (answer) return answer;
      }
      await sleep(LOOK_MS, undefined, { signal });
      agent = await current(agent);
    }
  };
}
