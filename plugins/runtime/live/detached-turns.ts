// Accepts messages whose turns run without a listener, and cancels turns that wait or run.
import { GuardFailed, guard } from "../../../src/kernel/database/database.ts";
import { AppError, invalidInput, notFound } from "../../../src/kernel/errors.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import type { Agent } from "../../agents/index.ts";
import type { Taint } from "../../skills/index.ts";
import type { UploadService } from "../../uploads/index.ts";
import { agentStoppedError, alreadySettledError, cancelledError } from "../errors.ts";
import { type InboundMessage, type InboxEntry, toUserMessage } from "../inbox/entries.ts";
import type { Inbox } from "../inbox/inbox.ts";
import { PENDING_INBOX } from "../inbox/inbox-sql.ts";
import type { Lanes } from "../lanes/lanes.ts";
import type { Sessions } from "../sessions/sessions.ts";
import type { RunningTurns } from "../turn/running-turns.ts";
import { findKeyed, nameOf, nextId } from "./keyed-messages.ts";
import type { LiveTurns } from "./live-turns.ts";

export interface DetachedMessage {
  message?: string | undefined;
  /** Ids of uploads. */
  attachments?: readonly string[] | undefined;
  /** Ids of those that the owner has spoken for this message. */
  voice?: readonly string[] | undefined;
  /** Of words that are not the owner's own. */
  taint?: Taint | undefined;
  /** Written by a program: text that looks like a command, such as `/approve`, is none. */
  isNoCommand?: boolean | undefined;
}

/** A message that its sender names, so that it is stored once however often it comes. */
export interface NamedMessage {
  platform: "agent" | "public" | "api" | "web";
  /** A conversation by its address on the platform; on the web by the id of its session. */
  to: { peer: string } | { sessionId: string };
  /** Unique on this platform for the agent that gets it. */
  messageId: string;
  sender: { id: string; name: string };
  byOwner: boolean;
  taint: Taint;
  /** Text that looks like a command, such as `/approve`, is none. */
  text: string;
  /** Ids of uploads. */
  attachments?: readonly string[];
}

export interface AgentMessage extends Omit<NamedMessage, "to" | "attachments"> {
  /** `agent`: an agent of the same owner; `public`: one of somebody else. */
  platform: "agent" | "public";
  /** Names the conversation and the agents on the way: see plugins/peers/route.ts. */
  peer: string;
}

/** Where a message is: its turn and conversation. */
export interface AgentTurn {
  turnId: string;
  conversationId: string;
}

interface Deps extends Pick<Kernel, "database"> {
  inbox: Inbox;
  sessions: Sessions;
  runningTurns: RunningTurns;
  lanes: Pick<Lanes<InboxEntry>, "entriesOf">;
  liveTurns: LiveTurns;
  uploads: Pick<UploadService, "attachmentsOf" | "notesOf">;
  /** Hands a stored entry to its lane. */
  enqueue(entry: InboxEntry): void;
}

/** The most messages of an agent that wait: unlike other requests, these hold no connection that would limit them. */
const MAX_WAITING = 100;
const FIND_NAMED =
  "SELECT id, session_id, peer FROM inbox WHERE agent_id = ? AND platform = ? AND platform_message_id = ?";
const COUNT_WAITING = `SELECT count(*) AS count FROM
  (SELECT 1 FROM ${PENDING_INBOX} WHERE status = 'pending' AND agent_id = ? LIMIT ${MAX_WAITING})`;

export const turnNotFound = () => notFound("This agent has no turn with this id.", "TURN_NOT_FOUND");
export const conversationNotFound = () =>
  notFound("This agent has no conversation with this id.", "CONVERSATION_NOT_FOUND");

export function createDetachedTurns(deps: Deps) {
  const { database, inbox, sessions, runningTurns, lanes, liveTurns, uploads, enqueue } = deps;

  /** Messages with a key that are being stored, by agent and name. */
  const keyed = new Map<string, Promise<AgentTurn>>();

  async function readAttachments(agentId: string, { attachments = [], voice = [] }: DetachedMessage) {
    if (attachments.length === 0) return [];
    const found = await uploads.attachmentsOf(agentId, attachments);
    return found.map((file, n) => (voice.includes(attachments[n] ?? "") ? { ...file, voice: true } : file));
  }

  async function findNamed(
    agentId: string,
    { platform, messageId }: Pick<NamedMessage, "platform" | "messageId">,
  ): Promise<(AgentTurn & { peer: string }) | undefined> {
    const [row] = (await database.read(FIND_NAMED, [agentId, platform, messageId])).rows;
    return row && { turnId: String(row.id), conversationId: String(row.session_id), peer: String(row.peer) };
  }

  /** The text of a message, which names its files, and the files. */
  async function readContent(agentId: string, given: DetachedMessage) {
    const files = await readAttachments(agentId, given);
    const lines = [files.length > 0 ? uploads.notesOf(files) : "", given.message?.trim() ? given.message : ""];
    const content = lines.filter(Boolean).join("\n");
    if (content === "") throw invalidInput({ path: "message", message: "Give a message or a file." });
    return { content, ...(files.length > 0 && { attachments: files }) };
  }

  async function requireRoom(agentId: string): Promise<void> {
    const { rows } = await database.read(COUNT_WAITING, [agentId]);
    if (Number(rows[0]?.count) < MAX_WAITING) return;
    const text = `${MAX_WAITING} messages of this agent wait for their replies. Send the next one when some are answered.`;
    throw new AppError(429, "TOO_MANY_WAITING", text, {}, { headers: { "retry-after": "5" } });
  }

  function requireReady(agent: Agent): void {
    if (agent.status === "stopped") throw agentStoppedError(agent);
    if (runningTurns.isStopping()) throw new AppError(503, "STOPPING", "Berth is stopping. Try again shortly.");
  }

  /** Keeps what the turn produces from the moment at which it can begin. `isNew`: the message was not stored before. */
  async function store(inbound: InboundMessage): Promise<AgentTurn & { isNew: boolean }> {
    let found = { id: "", sessionId: "" };
    let stored: InboxEntry[];
    try {
      stored = await inbox.accept([inbound], (entry) => {
        found = entry;
        liveTurns.open(entry);
      });
      for (const entry of stored) enqueue(entry);
    } catch (error) {
      liveTurns.drop(found.id);
      throw error;
    }
    const isNew = stored.length > 0;
    if (!isNew) liveTurns.drop(found.id);
    return { turnId: found.id, conversationId: found.sessionId, isNew };
  }

  async function sendKeyed(
    agent: Agent,
    conversationId: string | undefined,
    given: DetachedMessage,
    name: string,
  ): Promise<AgentTurn> {
    const former = await findKeyed(database, agent.id, "web", name);
    if (former?.isValid) return { turnId: former.turnId, conversationId: former.conversationId };
    return sendNew(agent, conversationId, given, nextId(name, former));
  }

  async function sendNew(
    agent: Agent,
    conversationId: string | undefined,
    given: DetachedMessage,
    platformMessageId?: string,
  ): Promise<AgentTurn> {
    requireReady(agent);
    const content = await readContent(agent.id, given);
    await requireRoom(agent.id);
    const sessionId = conversationId ?? (await sessions.create(agent.id, "web")).id;
    if (conversationId !== undefined) await requireOwnConversation(agent.id, conversationId);
    const { turnId } = await store({
      agentId: agent.id,
      platform: "web",
      ...(platformMessageId !== undefined && { platformMessageId }),
      to: { sessionId },
      sender: { id: agent.userId, name: "" },
      byOwner: true,
      ...content,
      ...(given.taint !== undefined && { taint: given.taint }),
      ...(given.isNoCommand && { kind: "message" as const }),
    });
    return { turnId, conversationId: sessionId };
  }

  return {
    findNamed,
    requireReady,

    /**
     * Stores a message in a conversation of the web, or in a new one; its turn runs by itself. With the sender's `key`, the same
     * message is stored once: a kill right after that may have kept the answer to its first request from being stored.
     */
    async send(agent: Agent, conversationId: string | undefined, given: DetachedMessage, key: string | null = null) {
      if (key === null) return sendNew(agent, conversationId, given);
      const name = nameOf(key, conversationId, given);
      const place = `${agent.id} ${name}`;
      // Those that come at once are one, so that they begin one conversation.
      const sending = keyed.get(place) ?? sendKeyed(agent, conversationId, given, name);
      keyed.set(place, sending);
      try {
        return await sending;
      } finally {
        keyed.delete(place);
      }
    },

    /** Stores a message that its sender names; its turn runs by itself. Returns undefined if it is stored already. */
    async sendNamed(
      agent: Agent,
      { messageId, text, attachments, ...message }: NamedMessage,
    ): Promise<AgentTurn | undefined> {
      requireReady(agent);
      const content = await readContent(agent.id, { message: text, attachments });
      if ("sessionId" in message.to) await requireOwnConversation(agent.id, message.to.sessionId);
      await requireRoom(agent.id);
      const inbound = {
        agentId: agent.id,
        platformMessageId: messageId,
        kind: "message" as const,
        ...content,
        ...message,
      };
      const { isNew, ...turn } = await store(inbound);
      return isNew ? turn : undefined;
    },

    /** Cancels a turn: one that runs ends soon, one that waits at once. Throws 404 or 409 `ALREADY_SETTLED`. */
    async cancel(agent: Agent, turnId: string): Promise<void> {
      const found = await inbox.find(agent.id, turnId);
      if (!found) throw turnNotFound();
      const { entry, status } = found;
      if (status !== "pending") throw alreadySettledError();
      const isHeld = lanes.entriesOf(agent.id).some(({ id }) => id === turnId);
      if (runningTurns.cancelEntry(entry, isHeld)) return;
      const { peer, platform } = entry;
      const open = peer === null ? undefined : await sessions.findOrOpen(agent.id, platform, peer);
      const session = { id: open?.id ?? entry.sessionId, agentId: agent.id, platform, inboxId: turnId };
      try {
        await database.write([
          ...(open?.statements ?? []),
          ...(entry.suspended === null ? sessions.appendStatements(session, [toUserMessage(entry)]) : []),
          inbox.settleStatement(entry, "cancelled"),
          guard("settled"),
        ]);
      } catch (error) {
        if (error instanceof GuardFailed) throw alreadySettledError();
        throw error;
      }
      liveTurns.end(turnId, { error: cancelledError() });
    },
  };

  /** Two platforms writing into one conversation would have its turns run at the same time. */
  async function requireOwnConversation(agentId: string, id: string): Promise<void> {
    const session = await sessions.find(agentId, id);
    if (!session || session.platform === "") throw conversationNotFound();
    if (session.platform === "web") return;
    throw new AppError(400, "SESSION_ELSEWHERE", "This conversation is held elsewhere. Go on with it there.");
  }
}

export type DetachedTurns = ReturnType<typeof createDetachedTurns>;
