// The inbox: every message is stored once, whatever its entrance, before anybody is told that it arrived.
import { and, asc, desc, eq, ne, sql } from "drizzle-orm";
import { type Statement, statement, template } from "../../src/database.ts";
import type { Kernel } from "../../src/plugin.ts";
import { type Attachment, storedAttachments } from "./attachments.ts";
import { inbox, messages } from "./schema.ts";
import type { Sessions } from "./sessions.ts";
import { storable } from "./text.ts";

type Column = "status" | "error" | "settledAt" | "reply" | "attempts" | "previewId";

/** A pending message, with what its tries so far have left: how many there were, and a preview that was shown. */
export type InboxEntry = Readonly<Omit<typeof inbox.$inferSelect, Column>> & {
  attempts: number;
  previewId: string | null;
};
/** `public` is the agent's public page. */
export type Platform = "web" | "api" | "public" | "channel_a" | "channel_b" | "channel_c";

/** A message at an entrance. */
export interface Arrival {
  agentId: string;
  platform: Platform;
  /** Unique for this agent on this platform; left out where the entrance has none of its own. */
  platformMessageId?: string;
  /** The conversation: its address on the platform, or the id of a session. */
  to: { peer: string } | { sessionId: string };
  sender: { id: string; name: string };
  byOwner: boolean;
  group?: boolean;
  kind?: InboxEntry["kind"];
  content: string;
  /** Files that came with it; `content` names them too, each on a line of its own in brackets. */
  attachments?: readonly Attachment[];
  topic?: string | undefined;
}

/** A message sent through the API, with what became of it. */
export interface Sent {
  id: string;
  message: string;
  topic: string | null;
  status: "pending" | "done" | "failed" | "cancelled" | "parked";
  reply: string | null;
  /** Epoch ms. */
  timestamp: number;
}

export interface Inbox {
  /**
   * Stores what is new in one write and answers just that, in order. A second delivery of a message is dropped here.
   * `storing` is told each entry right before the write: what it prepares is there before anybody can see the entry.
   */
  accept(arrivals: readonly Arrival[], storing?: (entry: InboxEntry) => void): Promise<InboxEntry[]>;
  /** The same as statements for a batch of the caller's; `stored` is told once it is committed. */
  accepting(arrival: Arrival, stored: (entry: InboxEntry) => void): Promise<Statement[]>;
  /** The first pending entries of an agent, oldest first. */
  pending(agentId: string, limit: number): Promise<InboxEntry[]>;
  /** What was sent to an agent with `POST /api/chat`, newest first. */
  sent(agentId: string, page: { limit: number; offset: number; topic?: string | undefined }): Promise<Sent[]>;
  /** Agents that have something pending. */
  waitingAgents(): Promise<string[]>;
  /** For the start: counts a try for what may have been in work when the process ended, so many sessions of each of these agents. */
  countInterrupted(agentIds: readonly string[], perAgent: number): Statement;
  /** Keeps how often an entry was tried. */
  tried(entries: readonly InboxEntry[]): Statement[];
  /**
   * Ends an entry, whoever comes first: to be followed by a guard. `done` right after its reply was inserted.
   */
  settled(entry: Pick<InboxEntry, "agentId" | "id">, status: Ending, error?: string): Statement;
  /** A preview became a message on the platform. */
  previewed(entry: InboxEntry, previewId: string): Statement;
}

/** How an entry ends. */
export type Ending = "done" | "failed" | "cancelled" | "parked";

/** What runs one after the other: a conversation on a platform, over all its sessions, or a session named by its id. */
export const conversationOf = ({ platform, peer, sessionId }: InboxEntry) =>
  peer === null ? sessionId : `${platform} ${peer}`;

/** As text: with a bound value SQLite can't know that the partial index holds all of them. */
const isPending = sql`${inbox.status} = 'pending'`;

const columns = {
  id: inbox.id,
  agentId: inbox.agentId,
  sessionId: inbox.sessionId,
  platform: inbox.platform,
  platformMessageId: inbox.platformMessageId,
  peer: inbox.peer,
  senderId: inbox.senderId,
  senderName: inbox.senderName,
  byOwner: inbox.byOwner,
  isGroup: inbox.isGroup,
  kind: inbox.kind,
  content: inbox.content,
  attachments: inbox.attachments,
  topic: inbox.topic,
  attempts: inbox.attempts,
  previewId: inbox.previewId,
  receivedAt: inbox.receivedAt,
};

export function createInbox({ database }: Pick<Kernel, "database">, sessions: Sessions): Inbox {
  const { drizzle } = database;
  const hole = (name: string) => sql.placeholder(name);
  const insert = template(
    drizzle
      .insert(inbox)
      .values({
        id: hole("id"),
        agentId: hole("agentId"),
        sessionId: hole("sessionId"),
        platform: hole("platform"),
        platformMessageId: hole("platformMessageId"),
        peer: hole("peer"),
        senderId: hole("senderId"),
        senderName: hole("senderName"),
        byOwner: hole("byOwner"),
        isGroup: hole("isGroup"),
        kind: hole("kind"),
        content: hole("content"),
        attachments: hole("attachments"),
        topic: hole("topic"),
        status: "pending",
        attempts: 0,
        receivedAt: hole("receivedAt"),
      })
      .onConflictDoNothing(),
  );
  const selectPending = drizzle
    .select(columns)
    .from(inbox)
    .where(and(isPending, eq(inbox.agentId, hole("agentId"))))
    .orderBy(asc(inbox.id))
    .limit(hole("limit"))
    .prepare();

  type Opened = Awaited<ReturnType<Sessions["openFor"]>>;

  const open = async ({ agentId, platform, to }: Arrival): Promise<Opened> =>
    "peer" in to ? sessions.openFor(agentId, platform, to.peer) : { id: to.sessionId, statements: [] };

  function prepare(arrival: Arrival, opened: Opened): { entry: InboxEntry; statements: Statement[] } {
    const id = Bun.randomUUIDv7();
    const entry: InboxEntry = {
      id,
      agentId: arrival.agentId,
      sessionId: opened.id,
      platform: arrival.platform,
      platformMessageId: arrival.platformMessageId ?? null,
      peer: "peer" in arrival.to ? arrival.to.peer : null,
      senderId: arrival.sender.id,
      senderName: storable(arrival.sender.name),
      byOwner: arrival.byOwner,
      isGroup: arrival.group ?? false,
      kind: arrival.kind ?? "message",
      content: storable(arrival.content),
      attachments: arrival.attachments ? storedAttachments(arrival.attachments) : null,
      topic: arrival.topic ?? null,
      attempts: 0,
      previewId: null,
      receivedAt: Date.now(),
    };
    return { entry, statements: [...opened.statements, insert({ ...entry })] };
  }

  return {
    async accept(arrivals, storing) {
      const opened = await Promise.all(arrivals.map(open));
      const stored: InboxEntry[] = [];
      // Ids are made in the same breath as the write, so that their order is that of the commits.
      const statements = opened.flatMap((session, n) => {
        const arrival = arrivals[n];
        if (!arrival) return [];
        const prepared = prepare(arrival, session);
        storing?.(prepared.entry);
        const last = prepared.statements.at(-1);
        if (last) last.after = ({ rowsAffected }) => rowsAffected > 0 && stored.push(prepared.entry);
        return prepared.statements;
      });
      await database.write(statements);
      return stored;
    },

    async accepting(arrival, stored) {
      const { entry, statements } = prepare(arrival, await open(arrival));
      const last = statements.at(-1);
      if (last) last.after = ({ rowsAffected }) => rowsAffected > 0 && stored(entry);
      return statements;
    },

    pending: (agentId, limit) => selectPending.execute({ agentId, limit }),

    sent: (agentId, { limit, offset, topic }) =>
      drizzle
        .select({
          id: inbox.id,
          message: inbox.content,
          topic: inbox.topic,
          status: inbox.status,
          reply: messages.content,
          timestamp: inbox.receivedAt,
        })
        .from(inbox)
        // Numbers of messages that are gone are given to others.
        .leftJoin(messages, and(eq(messages.seq, inbox.reply), eq(messages.inboxId, inbox.id)))
        .where(
          and(
            eq(inbox.agentId, agentId),
            eq(inbox.platform, "api"),
            // Forgotten, with what was said.
            ne(inbox.content, ""),
            topic === undefined ? undefined : eq(inbox.topic, topic),
          ),
        )
        .orderBy(desc(inbox.id))
        .limit(limit)
        .offset(offset),

    async waitingAgents() {
      const rows = await drizzle.selectDistinct({ id: inbox.agentId }).from(inbox).where(isPending);
      return rows.map(({ id }) => id);
    },

    countInterrupted: (agentIds, perAgent) => ({ sql: COUNT_INTERRUPTED, args: [JSON.stringify(agentIds), perAgent] }),
    tried: (entries) =>
      entries.map(({ agentId, id, attempts }) => ({
        sql: "UPDATE inbox SET attempts = ? WHERE agent_id = ? AND id = ?",
        args: [attempts, agentId, id],
      })),
    settled({ agentId, id }, status, error) {
      const reply = status === "done" ? "last_insert_rowid()" : "NULL";
      // Parked ones may be taken up again; of the others nobody looks at the files once more.
      const files = status === "parked" ? "" : ", attachments = NULL";
      const ended = `UPDATE inbox SET status = ?, error = ?, settled_at = ?, reply = ${reply}${files}`;
      const sql = `${ended} WHERE agent_id = ? AND id = ? AND status = 'pending'`;
      return { sql, args: [status, error ?? null, Date.now(), agentId, id] };
    },
    previewed: ({ agentId, id }, previewId) =>
      statement(
        drizzle
          .update(inbox)
          .set({ previewId })
          .where(and(eq(inbox.agentId, agentId), eq(inbox.id, id))),
      ),
  };
}

/** The oldest pending entry of a session is the one that runs; the oldest of these ran first. */
const COUNT_INTERRUPTED = `
  UPDATE inbox SET attempts = attempts + 1
  WHERE status = 'pending' AND (agent_id, id) IN (
    SELECT agent_id, id FROM (
      SELECT agent_id, id, row_number() OVER (PARTITION BY agent_id ORDER BY id) AS place FROM (
        SELECT agent_id, min(id) AS id FROM inbox
        WHERE status = 'pending' AND agent_id IN (SELECT value FROM json_each(?)) GROUP BY agent_id, session_id
      )
    ) WHERE place <= ?
  )`;
