// What was said in a session: the recent part of it in a bounded cache, the rest in a summary.
import { and, desc, eq, gt, sql } from "drizzle-orm";
import { statement } from "../../src/database.ts";
import { heldBytes } from "../../src/held-bytes.ts";
import type { Kernel } from "../../src/plugin.ts";
import { messages, sessions } from "./schema.ts";

/** Messages of a session that a turn may look back at; older ones live on in the summary. */
export const HISTORY = 60;
/** Characters of history kept in memory over all sessions. */
const CACHED_TEXT = 16 * 1024 * 1024;

export interface Said {
  /** Grows with the order in which things were said. */
  seq: number;
  id: string;
  role: "user" | "assistant";
  content: string;
  /** Epoch ms. */
  timestamp: number;
}

/** What a turn looks back at: a summary of what is older, and the recent messages. */
export interface History {
  summary: string | null;
  /** Messages that are in neither: they fell out before they could be summed up. */
  lost: number;
  recent: Said[];
}

export function createHistories({ database }: Pick<Kernel, "database">) {
  const { drizzle } = database;
  const hole = (name: string) => sql.placeholder(name);
  const histories = new Map<string, { agentId: string; history: History; size: number }>();
  let cachedText = 0;

  const selectSummary = drizzle
    .select({ agentId: sessions.agentId, summary: sessions.summary, summaryUpto: sessions.summaryUpto })
    .from(sessions)
    .where(eq(sessions.id, hole("id")))
    .prepare();
  const selectRecent = drizzle
    .select({
      seq: messages.seq,
      id: messages.id,
      role: messages.role,
      content: messages.content,
      timestamp: messages.createdAt,
    })
    .from(messages)
    .where(and(eq(messages.sessionId, hole("id")), gt(messages.seq, hole("after"))))
    .orderBy(desc(messages.seq))
    .limit(hole("limit"))
    .prepare();

  function forget(sessionId: string): void {
    cachedText -= histories.get(sessionId)?.size ?? 0;
    histories.delete(sessionId);
  }

  function keep(sessionId: string, agentId: string, history: History): void {
    forget(sessionId);
    const size = history.recent.reduce((sum, { content }) => sum + content.length, history.summary?.length ?? 0) + 500;
    histories.set(sessionId, { agentId, history, size });
    cachedText += size;
    for (const [oldest] of histories) {
      if (cachedText <= CACHED_TEXT) break;
      forget(oldest);
    }
  }

  async function countBetween(sessionId: string, after: number, before: number): Promise<number> {
    const sql = "SELECT count(*) FROM messages WHERE session_id = ? AND seq > ? AND seq < ?";
    const { rows } = await database.read(sql, [sessionId, after, before]);
    return Number(rows[0]?.[0] ?? 0);
  }

  async function of(sessionId: string): Promise<History> {
    const cached = histories.get(sessionId);
    if (cached) return cached.history;
    const [row] = await selectSummary.execute({ id: sessionId });
    const after = row?.summaryUpto ?? 0;
    const recent = (await selectRecent.execute({ id: sessionId, after, limit: HISTORY })).reverse();
    const lost = recent.length < HISTORY ? 0 : await countBetween(sessionId, after, recent[0]?.seq ?? 0);
    const found = { summary: row?.summary ?? null, lost, recent };
    keep(sessionId, row?.agentId ?? "", found);
    return found;
  }

  /** Keeps a cached history true after its turn was committed. */
  function extend(sessionId: string, added: Said[]): void {
    const cached = histories.get(sessionId);
    if (!cached) return;
    const { agentId, history } = cached;
    const { summary, lost, recent } = history;
    const all = [...recent, ...added];
    const over = Math.max(0, all.length - HISTORY);
    keep(sessionId, agentId, { summary, lost: lost + over, recent: all.slice(over) });
  }

  return {
    of,
    /** All messages, oldest first. */
    messages: async (sessionId: string, limit: number): Promise<Said[]> =>
      (await selectRecent.execute({ id: sessionId, after: 0, limit })).reverse(),
    extend,
    forget,
    forgetAgent(agentId: string): void {
      for (const [id, one] of histories) if (one.agentId === agentId) forget(id);
    },
    /** Bytes held in memory for an agent. */
    held: (agentId: string): number =>
      histories.values().reduce((sum, one) => sum + (one.agentId === agentId ? heldBytes(one.history) : 0), 0),
    /** Puts a summary in place of everything up to this message. */
    async summarize(sessionId: string, summary: string, upto: number): Promise<void> {
      const update = drizzle.update(sessions).set({ summary, summaryUpto: upto }).where(eq(sessions.id, sessionId));
      await database.write([statement(update)]);
      forget(sessionId);
    },
  };
}
