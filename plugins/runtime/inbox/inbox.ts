// Stores messages in the inbox table, each one once, before its platform gets the confirmation that it arrived.
import { and, asc, eq, inArray, sql } from "drizzle-orm";
import { preparedQuery, type Statement, statement, statementTemplate } from "../../../src/kernel/database/database.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import { toStorableText } from "../../../src/kernel/util/text/storable-text.ts";
import type { UploadService } from "../../uploads/index.ts";
import { inbox } from "../schema.ts";
import type { Sessions } from "../sessions/sessions.ts";
import { serializeAttachments } from "./attachments.ts";
import { parseCommand } from "./commands.ts";
import { type InboundMessage, type InboxEntry, type Platform, taintOf } from "./entries.ts";
import {
  COUNT_INTERRUPTED,
  endStatement,
  type FinalStatus,
  PENDING_INBOX,
  PENDING_OF,
  SAVE_WORDS,
  WAITING_CONVERSATIONS,
} from "./inbox-sql.ts";
import { listSentMessages, type SentMessage, type SentPage } from "./sent-messages.ts";

export interface WaitingConversation {
  platform: string;
  peer: string;
  /** The reader's, as the platform names it. */
  language: string | null;
}

export interface Inbox {
  /**
   * Stores the new messages in one write and returns their entries, in order. A second delivery of a message is dropped.
   * `beforeStore` is called with each entry right before the write, when no lane can see the entry yet.
   */
  accept(inboundMessages: readonly InboundMessage[], beforeStore?: (entry: InboxEntry) => void): Promise<InboxEntry[]>;
  /** The entry, and the statements for a batch of the caller; `onStored` is called once that is committed. */
  acceptStatements(
    inbound: InboundMessage,
    onStored: (entry: InboxEntry) => void,
  ): Promise<{ entry: InboxEntry; statements: Statement[] }>;
  /** An entry of this agent with its status. */
  find(agentId: string, id: string): Promise<{ entry: InboxEntry; status: SentMessage["status"] } | undefined>;
  /** The first entries of an agent that can run, oldest first. */
  listPending(agentId: string, limit: number): Promise<InboxEntry[]>;
  /** The entries of this entry's conversation whose turns wait for an approval. */
  listSuspended(of: Pick<InboxEntry, "agentId" | "platform" | "peer" | "sessionId">): Promise<InboxEntry[]>;
  /** Which of these entries are pending. */
  pendingOf(agentId: string, ids: readonly string[]): Promise<Set<string>>;
  /** The messages that were sent to an agent with `POST /api/chat`, newest first. */
  listSentMessages(agentId: string, page: SentPage): Promise<SentMessage[]>;
  /** Ids of agents that have pending entries. */
  agentsWithPending(): Promise<string[]>;
  /** The conversations on channels in which somebody waits for an answer of this agent, each once. */
  waitingConversations(agentId: string): Promise<WaitingConversation[]>;
  /** At startup, increments the attempts of each agent's oldest `perAgent` pending entries, which may have been running. */
  countInterruptedStatement(agentIds: readonly string[], perAgent: number): Statement;
  /** Stores the number of tries of these entries. */
  saveAttemptsStatements(entries: readonly InboxEntry[]): Statement[];
  /**
   * Settles a pending entry; a guard must follow, which fails if the entry was settled before. `done` must come right after
   * the statement that inserts the reply. Once committed, it is recorded as a turn, unless it is a command.
   */
  settleStatement(entry: InboxEntry, status: FinalStatus, error?: string): Statement;
  /** Settles a pending entry that a stopped agent refused. It does not count as a turn. */
  rejectStatement(entry: Pick<InboxEntry, "agentId" | "id">): Statement;
  /** Stores the text with the words of a recording, in a pending entry; a guard must follow. */
  saveWordsStatement(entry: InboxEntry, words: Pick<InboxEntry, "content" | "attachments">, model: string): Statement;
  /** Stores the id of the platform's message that shows a preview. */
  savePreviewStatement(entry: InboxEntry, previewId: string): Statement;
}

/** Literal text, since with a bound value SQLite can't tell that the partial index covers the query. */
const isPending = sql`${inbox.status} = 'pending'`;
const isNotSuspended = sql`${inbox.suspended} IS NOT 1`;

const columns = {
  id: inbox.id,
  agentId: inbox.agentId,
  sessionId: inbox.sessionId,
  platform: inbox.platform,
  platformMessageId: inbox.platformMessageId,
  peer: inbox.peer,
  senderId: inbox.senderId,
  senderName: inbox.senderName,
  language: inbox.language,
  byOwner: inbox.byOwner,
  isGroup: inbox.isGroup,
  kind: inbox.kind,
  content: inbox.content,
  taint: inbox.taint,
  attachments: inbox.attachments,
  repliesTo: inbox.repliesTo,
  topic: inbox.topic,
  attempts: inbox.attempts,
  hasSteps: inbox.hasSteps,
  suspended: inbox.suspended,
  waitedMs: inbox.waitedMs,
  previewId: inbox.previewId,
  receivedAt: inbox.receivedAt,
};

interface Deps extends Pick<Kernel, "database"> {
  sessions: Pick<Sessions, "findOrOpen">;
  uploads: Pick<UploadService, "useStatements">;
  /** `ms`: from the arrival of the message, without waits for approval; `at`: epoch ms. */
  recordTurn(agentId: string, turn: { outcome: "done" | "failed" | "cancelled"; ms: number; at: number }): void;
}

export function createInbox({ database, sessions, uploads, recordTurn }: Deps): Inbox {
  const { drizzle } = database;
  const placeholder = (name: string) => sql.placeholder(name);
  const insert = statementTemplate(
    drizzle
      .insert(inbox)
      .values({
        id: placeholder("id"),
        agentId: placeholder("agentId"),
        sessionId: placeholder("sessionId"),
        platform: placeholder("platform"),
        platformMessageId: placeholder("platformMessageId"),
        peer: placeholder("peer"),
        senderId: placeholder("senderId"),
        senderName: placeholder("senderName"),
        language: placeholder("language"),
        byOwner: placeholder("byOwner"),
        isGroup: placeholder("isGroup"),
        kind: placeholder("kind"),
        content: placeholder("content"),
        taint: placeholder("taint"),
        attachments: placeholder("attachments"),
        repliesTo: placeholder("repliesTo"),
        topic: placeholder("topic"),
        status: "pending",
        attempts: 0,
        hasSteps: false,
        receivedAt: placeholder("receivedAt"),
      })
      .onConflictDoNothing(),
  );
  const pendingInbox = sql.raw(PENDING_INBOX);
  const firstPending = sql`(SELECT id FROM ${pendingInbox} WHERE status = 'pending' AND suspended IS NOT 1
    AND agent_id = ${placeholder("agentId")} ORDER BY id LIMIT ${placeholder("limit")})`;
  const selectPending = preparedQuery(() =>
    drizzle
      .select(columns)
      .from(inbox)
      .where(and(eq(inbox.agentId, placeholder("agentId")), inArray(inbox.id, firstPending)))
      .orderBy(asc(inbox.id)),
  );

  type ResolvedSession = Awaited<ReturnType<Sessions["findOrOpen"]>>;

  const resolveSession = async ({ agentId, platform, to }: InboundMessage): Promise<ResolvedSession> =>
    "peer" in to ? sessions.findOrOpen(agentId, platform, to.peer) : { id: to.sessionId, statements: [] };

  /** `onStored` is called when the batch is committed, unless the message was stored before. */
  function prepare(
    inbound: InboundMessage,
    resolved: ResolvedSession,
    onStored: (entry: InboxEntry) => void,
  ): { entry: InboxEntry; statements: Statement[] } {
    const id = Bun.randomUUIDv7();
    const entry: InboxEntry = {
      id,
      agentId: inbound.agentId,
      sessionId: resolved.id,
      platform: inbound.platform,
      platformMessageId: inbound.platformMessageId ?? null,
      peer: "peer" in inbound.to ? inbound.to.peer : null,
      senderId: inbound.sender.id,
      senderName: toStorableText(inbound.sender.name),
      language: inbound.language ?? null,
      byOwner: inbound.byOwner,
      isGroup: inbound.group ?? false,
      kind: inbound.kind ?? (parseCommand(inbound.content) ? "command" : "message"),
      content: toStorableText(inbound.content),
      taint: taintOf(inbound),
      attachments: inbound.attachments ? serializeAttachments(inbound.attachments) : null,
      repliesTo: inbound.repliesTo ?? null,
      topic: inbound.topic ?? null,
      attempts: 0,
      hasSteps: false,
      suspended: null,
      waitedMs: 0,
      previewId: null,
      receivedAt: Date.now(),
    };
    const store: Statement = {
      ...insert({ ...entry }),
      after: ({ rowsAffected }) => rowsAffected > 0 && onStored(entry),
    };
    const used = inbound.attachments ? uploads.useStatements(entry.agentId, id, inbound.attachments) : [];
    return { entry, statements: [...resolved.statements, store, ...used] };
  }

  return {
    async accept(inboundMessages, beforeStore) {
      const resolved = await Promise.all(inboundMessages.map(resolveSession));
      const stored: InboxEntry[] = [];
      // Nothing awaits between making the ids and queueing the write, so that ids are in the order of the commits.
      const statements = resolved.flatMap((session, n) => {
        const inbound = inboundMessages[n];
        if (!inbound) return [];
        const { entry, statements } = prepare(inbound, session, (entry) => void stored.push(entry));
        beforeStore?.(entry);
        return statements;
      });
      await database.write(statements);
      return stored;
    },

    async acceptStatements(inbound, onStored) {
      return prepare(inbound, await resolveSession(inbound), onStored);
    },

    async find(agentId, id) {
      const [found] = await drizzle
        .select({ entry: columns, status: inbox.status })
        .from(inbox)
        .where(and(eq(inbox.agentId, agentId), eq(inbox.id, id)));
      return found;
    },
    listPending: (agentId, limit) => selectPending.execute({ agentId, limit }),

    listSuspended: ({ agentId, platform, peer, sessionId }) =>
      drizzle
        .select(columns)
        .from(inbox)
        .where(
          and(
            eq(inbox.agentId, agentId),
            inArray(
              inbox.id,
              sql`(SELECT id FROM ${pendingInbox} WHERE status = 'pending' AND suspended = 1 AND agent_id = ${agentId})`,
            ),
            // Where a conversation has no other side, as in the console, it is its session.
            peer === null
              ? eq(inbox.sessionId, sessionId)
              : and(eq(inbox.platform, platform as Platform), eq(inbox.peer, peer)),
          ),
        ),

    async pendingOf(agentId, ids) {
      if (ids.length === 0) return new Set();
      const { rows } = await database.read(PENDING_OF, [agentId, JSON.stringify(ids)]);
      return new Set(rows.map(({ id }) => String(id)));
    },

    listSentMessages: (agentId, page) => listSentMessages(database, agentId, page),

    async agentsWithPending() {
      const rows = await drizzle
        .selectDistinct({ id: inbox.agentId })
        .from(inbox)
        .where(and(isPending, isNotSuspended));
      return rows.map(({ id }) => id);
    },

    async waitingConversations(agentId) {
      const { rows } = await database.read(WAITING_CONVERSATIONS, [agentId]);
      return rows.map(({ platform, peer, language }) => ({
        platform: String(platform),
        peer: String(peer),
        language: language === null ? null : String(language),
      }));
    },

    countInterruptedStatement: (agentIds, perAgent) => ({
      sql: COUNT_INTERRUPTED,
      args: [JSON.stringify(agentIds), perAgent],
    }),
    saveAttemptsStatements: (entries) =>
      entries.map(({ agentId, id, attempts }) => ({
        sql: "UPDATE inbox SET attempts = ? WHERE agent_id = ? AND id = ?",
        args: [attempts, agentId, id],
      })),
    settleStatement(entry, status, error) {
      const { agentId, kind, receivedAt, waitedMs } = entry;
      const at = Date.now();
      const settle = endStatement(entry, status, error, at);
      // The same turns as `IS_TURN` in turn-counter.ts.
      if (kind === "command") return settle;
      const ms = at - receivedAt - waitedMs;
      const outcome = status === "parked" ? "failed" : status;
      return { ...settle, after: () => recordTurn(agentId, { outcome, ms, at }) };
    },
    rejectStatement: (entry) => endStatement(entry, "failed", "AGENT_STOPPED", Date.now()),
    saveWordsStatement: ({ agentId, id }, { content, attachments }, model) => ({
      sql: SAVE_WORDS,
      args: [content, attachments, model, agentId, id],
    }),
    savePreviewStatement: ({ agentId, id }, previewId) =>
      statement(
        drizzle
          .update(inbox)
          .set({ previewId })
          .where(and(eq(inbox.agentId, agentId), eq(inbox.id, id))),
      ),
  };
}
