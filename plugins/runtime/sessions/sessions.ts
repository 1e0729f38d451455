// Sessions are the conversations of an agent: opens them, finds them by their peer, lists them and completes them.
import { and, desc, eq, gt, sql } from "drizzle-orm";
import { insertedRowid, preparedQuery, type Statement } from "../../../src/kernel/database/database.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import { MINUTE } from "../../../src/kernel/util/time.ts";
import type { Taint } from "../../skills/index.ts";
import { sessions } from "../schema.ts";
import { createHistoryCache, type History, type HistoryMessage } from "./history.ts";

/** An open session without a message for so long is shown as idle. */
const IDLE_AFTER = 30 * MINUTE;
const MAX_CACHED_PEERS = 50_000;
const MAX_LISTED = 500;
export type SessionStatus = "active" | "idle" | "completed";

export interface Session {
  id: string;
  agentId: string;
  platform: string;
  status: SessionStatus;
  messageCount: number;
  /** Epoch ms. */
  createdAt: number;
  lastActivity: number;
}

export interface Sessions {
  /** The open session of this conversation; if there is none, a new id and the statement that opens it. */
  findOrOpen(agentId: string, platform: string, peer: string): Promise<{ id: string; statements: Statement[] }>;
  /** A new session that is addressed by its id and has no peer, and the statement that opens it. */
  openNew(agentId: string, platform: string): { id: string; statements: Statement[] };
  /** Opens a session that is addressed by its id and has no peer. */
  create(agentId: string, platform: string): Promise<Session>;
  /** The newest sessions, without those of visitors of the public page, which can be very many. */
  list(agentId: string): Promise<Session[]>;
  /** Epoch ms of the last message in any session, visitors' too. */
  lastActivity(agentId: string): Promise<number | undefined>;
  /** Undefined for an id that is not a session of this agent. */
  find(agentId: string, sessionId: string): Promise<Session | undefined>;
  /** The newest session of the web that is active. */
  findActive(agentId: string): Promise<Session | undefined>;
  /** All messages, oldest first. */
  messages(sessionId: string, limit: number): Promise<HistoryMessage[]>;
  history(sessionId: string): Promise<History>;
  /** Appends a turn's messages and updates the session's counters, in the batch that settles the turn. */
  appendStatements(
    to: { id: string; agentId: string; platform: string; inboxId: string },
    newMessages: NewMessage[],
  ): Statement[];
  /** Stores a summary that replaces the messages up to the number `upto` in the history. */
  saveSummary(sessionId: string, summary: string, upto: number, taint: Taint): Promise<void>;
  /** Ends the conversation's session; the next message opens a new one. */
  completeStatement(agentId: string, platform: string, peer: string, sessionId: string): Statement;
  /** Bytes of an agent's history in memory. */
  memoryBytes(agentId: string): number;
  /** Drops an agent's sessions, and the sessions given by id, from the caches, after they were written elsewhere. */
  invalidateAgent(agentId: string, sessionIds?: readonly string[]): void;
  /** Drops a session from the caches, after it was completed or deleted. */
  invalidate(session: Pick<Session, "id" | "agentId" | "platform"> & { peer: string | null }): void;
}

export interface NewMessage extends Pick<HistoryMessage, "id" | "role" | "content" | "taint"> {
  /** JSON. */
  steps?: string | undefined;
  /** Epoch ms. */
  at: number;
}

/** Literal text, since with a bound value SQLite can't tell that the partial index covers the query. */
const isOpen = sql`${sessions.status} = 'open'`;
const isShown = sql`${sessions.platform} NOT IN ('', 'public')`;
const isVisitor = sql`${sessions.platform} = 'public'`;

const ROW = "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
const insertSql = (rows: number) => `INSERT INTO messages
  (id, session_id, agent_id, inbox_id, platform, role, content, taint, steps, created_at) VALUES ${Array(rows).fill(ROW).join(", ")}`;
const INSERT_ONE = insertSql(1);
const INSERT_TWO = insertSql(2);
/** Usually a turn has two messages, or one. */
const insertMessages = (rows: number) => (rows === 2 ? INSERT_TWO : rows === 1 ? INSERT_ONE : insertSql(rows));

export function createSessions({ database }: Pick<Kernel, "database">): Sessions {
  const { drizzle } = database;
  const placeholder = (name: string) => sql.placeholder(name);
  // Plain Maps, since every message looks up its peer here, and an agent's peers are dropped by prefix.
  const peers = new Map<string, string>();
  const pendingOpens = new Map<string, string>();
  const historyCache = createHistoryCache({ database });
  /** Invalidations of the caches so far. */
  let invalidations = 0;

  const selectOpen = preparedQuery(() =>
    drizzle
      .select({ id: sessions.id })
      .from(sessions)
      .where(
        and(
          eq(sessions.agentId, placeholder("agentId")),
          eq(sessions.platform, placeholder("platform")),
          eq(sessions.peer, placeholder("peer")),
          isOpen,
        ),
      ),
  );
  const selectSession = preparedQuery(() =>
    drizzle
      .select()
      .from(sessions)
      .where(eq(sessions.id, placeholder("id"))),
  );
  const selectActive = preparedQuery(() =>
    drizzle
      .select()
      .from(sessions)
      .where(
        and(
          eq(sessions.agentId, placeholder("agentId")),
          eq(sessions.platform, "web"),
          isShown,
          isOpen,
          gt(sessions.lastActivityAt, placeholder("since")),
        ),
      )
      .orderBy(desc(sessions.createdAt), desc(sessions.id))
      .limit(1),
  );
  const selectShown = preparedQuery(() =>
    drizzle
      .select()
      .from(sessions)
      .where(and(eq(sessions.agentId, placeholder("agentId")), isShown))
      .orderBy(desc(sessions.lastActivityAt))
      .limit(MAX_LISTED),
  );
  const selectLast = [isShown, isVisitor].map((condition) =>
    preparedQuery(() =>
      drizzle
        .select({ at: sessions.lastActivityAt })
        .from(sessions)
        .where(and(eq(sessions.agentId, placeholder("agentId")), condition))
        .orderBy(desc(sessions.lastActivityAt))
        .limit(1),
    ),
  );

  const peerKey = (agentId: string, platform: string, peer: string) => `${agentId} ${platform} ${peer}`;

  const openStatement = (row: { id: string; agentId: string; platform: string; peer: string | null; now: number }) => ({
    sql: "INSERT INTO sessions (id, agent_id, platform, peer, created_at, last_activity_at) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
    args: [row.id, row.agentId, row.platform, row.peer, row.now, row.now],
  });

  function cachePeer(key: string, sessionId: string): void {
    if (peers.size >= MAX_CACHED_PEERS) peers.delete(peers.keys().next().value ?? "");
    peers.set(key, sessionId);
  }

  const invalidate: Sessions["invalidate"] = ({ id, agentId, platform, peer }) => {
    invalidations++;
    if (peer !== null) peers.delete(peerKey(agentId, platform, peer));
    historyCache.evict(id);
  };

  return {
    async findOrOpen(agentId, platform, peer) {
      const key = peerKey(agentId, platform, peer);
      const cached = peers.get(key);
      if (cached !== undefined) return { id: cached, statements: [] };
      const before = invalidations;
      const [found] = await selectOpen.execute({ agentId, platform, peer });
      if (found) {
        // A session that was completed during the read must not come back into the cache.
        if (invalidations === before) cachePeer(key, found.id);
        return { id: found.id, statements: [] };
      }
      // Messages that arrive before the session is committed all carry the statement that opens it; the first one counts.
      const id = pendingOpens.get(key) ?? newSessionId();
      pendingOpens.set(key, id);
      const statement = openStatement({ id, agentId, platform, peer, now: Date.now() });
      const after = () => {
        pendingOpens.delete(key);
        cachePeer(key, id);
      };
      return { id, statements: [{ ...statement, after }] };
    },

    openNew(agentId, platform) {
      const id = newSessionId();
      return { id, statements: [openStatement({ id, agentId, platform, peer: null, now: Date.now() })] };
    },

    async create(agentId, platform) {
      const now = Date.now();
      const id = newSessionId();
      await database.write([openStatement({ id, agentId, platform, peer: null, now })]);
      return { id, agentId, platform, status: "active", messageCount: 0, createdAt: now, lastActivity: now };
    },

    list: async (agentId) => (await selectShown.execute({ agentId })).map(toSession),
    async lastActivity(agentId) {
      const newest = (await Promise.all(selectLast.map((select) => select.execute({ agentId })))).flat();
      return newest.length > 0 ? Math.max(...newest.map(({ at }) => at)) : undefined;
    },

    async find(agentId, sessionId) {
      const [row] = await selectSession.execute({ id: sessionId });
      return row?.agentId === agentId ? toSession(row) : undefined;
    },

    async findActive(agentId) {
      const [row] = await selectActive.execute({ agentId, since: Date.now() - IDLE_AFTER });
      return row && toSession(row);
    },

    messages: historyCache.messages,
    history: historyCache.load,
    memoryBytes: historyCache.memoryBytes,
    saveSummary: historyCache.saveSummary,

    appendStatements({ id: sessionId, agentId, platform, inboxId }, newMessages) {
      if (newMessages.length === 0) return [];
      const insert: Statement = {
        sql: insertMessages(newMessages.length),
        args: newMessages.flatMap(({ id, role, content, taint, steps = null, at }) => [
          id,
          sessionId,
          agentId,
          inboxId,
          platform,
          role,
          content,
          taint,
          steps,
          at,
        ]),
        // The rows of one statement get consecutive numbers (sqlite.org/autoinc.html); the result has the last one.
        after(result) {
          const first = insertedRowid(result) - newMessages.length + 1;
          const added = newMessages.map(({ id, role, content, taint, at }, n) => ({
            seq: first + n,
            id,
            role,
            content,
            taint,
            timestamp: at,
          }));
          historyCache.append(sessionId, added);
        },
      };
      const count: Statement = {
        sql: "UPDATE sessions SET message_count = message_count + ?, last_activity_at = ? WHERE id = ?",
        args: [newMessages.length, Date.now(), sessionId],
      };
      return [insert, count];
    },

    invalidateAgent(agentId, sessionIds = []) {
      invalidations++;
      for (const key of [...peers.keys(), ...pendingOpens.keys()]) {
        if (!key.startsWith(`${agentId} `)) continue;
        peers.delete(key);
        pendingOpens.delete(key);
      }
      historyCache.evictAgent(agentId);
      for (const id of sessionIds) historyCache.evict(id);
    },

    invalidate,

    completeStatement: (agentId, platform, peer, sessionId) => ({
      sql: "UPDATE sessions SET status = 'completed' WHERE id = ?",
      args: [sessionId],
      after: () => invalidate({ id: sessionId, agentId, platform, peer }),
    }),
  };
}

/** `sess_` and 16 hex digits. */
export const newSessionId = () => `sess_${Buffer.from(crypto.getRandomValues(new Uint8Array(8))).toString("hex")}`;

/** The status that is shown, from the stored one and the time of the last message. */
export function sessionStatus(stored: string, lastActivityAt: number): SessionStatus {
  if (stored === "completed") return "completed";
  return Date.now() - lastActivityAt > IDLE_AFTER ? "idle" : "active";
}

function toSession(row: typeof sessions.$inferSelect): Session {
  return {
    id: row.id,
    agentId: row.agentId,
    platform: row.platform,
    status: sessionStatus(row.status, row.lastActivityAt),
    messageCount: row.messageCount,
    createdAt: row.createdAt,
    lastActivity: row.lastActivityAt,
  };
}
