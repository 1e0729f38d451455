// The inbox: every message is stored once, whatever its entrance, before anybody is told that it arrived.
import { and, asc, desc, eq, gt, sql } from "drizzle-orm";
import { type Statement, statement, template } from "../../src/database.ts";
import type { Kernel } from "../../src/plugin.ts";
import { inbox, messages } from "./schema.ts";
import type { Sessions } from "./sessions.ts";

/** A pending message. `attempts` counts the tries of this process too. */
export type InboxEntry = Readonly<
  Omit<typeof inbox.$inferSelect, "status" | "error" | "settledAt" | "replyId" | "attempts">
> & {
  attempts: number;
};
export type Platform = "web" | "api" | "channel_a" | "channel_b" | "channel_c";

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
  /** Stores what is new in one write and answers just that, in order. A second delivery of a message is dropped here. */
  accept(arrivals: readonly Arrival[]): Promise<InboxEntry[]>;
  /** The same as statements for a batch of the caller's; `stored` is told once it is committed. */
  accepting(arrival: Arrival, stored: (entry: InboxEntry) => void): Promise<Statement[]>;
  /** Pending entries of an agent after this id, oldest first. */
  pending(agentId: string, after: string, limit: number): Promise<InboxEntry[]>;
  /** What was sent to an agent with `POST /api/chat`, newest first. */
  sent(agentId: string, page: { limit: number; offset: number; topic?: string | undefined }): Promise<Sent[]>;
  /** Agents that have something pending. */
  waitingAgents(): Promise<string[]>;
  /** A turn begins: counts it, so that a message that brings the process down is noticed. Not waited for. */
  began(entry: InboxEntry): Statement;
  /** The last statement but one of a turn: from now on nobody answers this entry again. Followed by a guard. */
  settled(
    entry: InboxEntry,
    status: "done" | "failed" | "cancelled" | "parked",
    outcome: { replyId?: string | undefined; error?: string | undefined },
  ): Statement;
  /** A preview became a message on the platform. */
  previewed(entry: InboxEntry, previewId: string): Statement;
}

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
    .where(and(eq(inbox.status, "pending"), eq(inbox.agentId, hole("agentId")), gt(inbox.id, hole("after"))))
    .orderBy(asc(inbox.id))
    .limit(hole("limit"))
    .prepare();

  async function prepare(arrival: Arrival): Promise<{ entry: InboxEntry; statements: Statement[] }> {
    const id = Bun.randomUUIDv7();
    const peer = "peer" in arrival.to ? arrival.to.peer : null;
    const opened =
      "peer" in arrival.to
        ? await sessions.openFor(arrival.agentId, arrival.platform, arrival.to.peer)
        : { id: arrival.to.sessionId, statements: [] };
    const entry: InboxEntry = {
      id,
      agentId: arrival.agentId,
      sessionId: opened.id,
      platform: arrival.platform,
      platformMessageId: arrival.platformMessageId ?? id,
      peer,
      senderId: arrival.sender.id,
      senderName: arrival.sender.name,
      byOwner: arrival.byOwner,
      isGroup: arrival.group ?? false,
      kind: arrival.kind ?? "message",
      content: arrival.content,
      topic: arrival.topic ?? null,
      attempts: 0,
      previewId: null,
      receivedAt: Date.now(),
    };
    return { entry, statements: [...opened.statements, insert({ ...entry })] };
  }

  return {
    async accept(arrivals) {
      const stored: InboxEntry[] = [];
      const statements: Statement[] = [];
      for (const arrival of arrivals) {
        const prepared = await prepare(arrival);
        const last = prepared.statements.at(-1);
        if (last) last.after = ({ rowsAffected }) => rowsAffected > 0 && stored.push(prepared.entry);
        statements.push(...prepared.statements);
      }
      await database.write(statements);
      return stored;
    },

    async accepting(arrival, stored) {
      const { entry, statements } = await prepare(arrival);
      const last = statements.at(-1);
      if (last) last.after = () => stored(entry);
      return statements;
    },

    pending: (agentId, after, limit) => selectPending.execute({ agentId, after, limit }),

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
        .leftJoin(messages, eq(messages.id, inbox.replyId))
        .where(
          and(
            eq(inbox.agentId, agentId),
            eq(inbox.platform, "api"),
            topic === undefined ? undefined : eq(inbox.topic, topic),
          ),
        )
        .orderBy(desc(inbox.id))
        .limit(limit)
        .offset(offset),

    async waitingAgents() {
      const rows = await drizzle.selectDistinct({ id: inbox.agentId }).from(inbox).where(eq(inbox.status, "pending"));
      return rows.map(({ id }) => id);
    },

    began: ({ id }) => ({ sql: "UPDATE inbox SET attempts = attempts + 1 WHERE id = ?", args: [id] }),
    settled: ({ id }, status, { replyId = null, error = null }) => ({
      sql: "UPDATE inbox SET status = ?, reply_id = ?, error = ?, settled_at = ? WHERE id = ? AND status = 'pending'",
      args: [status, replyId, error, Date.now(), id],
    }),
    previewed: ({ id }, previewId) => statement(drizzle.update(inbox).set({ previewId }).where(eq(inbox.id, id))),
  };
}
