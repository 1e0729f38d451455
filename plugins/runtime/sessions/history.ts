// Loads the history of a session, which is its recent messages and a summary of the older ones, through a bounded cache.
import { and, desc, eq, gt, sql } from "drizzle-orm";
import { preparedQuery, statement } from "../../../src/kernel/database/database.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import { estimateMemorySize } from "../../../src/kernel/util/memory-size.ts";
import { TAINT, type Taint } from "../../skills/index.ts";
import { messages, sessions } from "../schema.ts";

/** Messages in the history of a session; older ones are only in the summary. */
export const MAX_HISTORY = 60;
/** Characters of history in memory, over all sessions. */
const MAX_CACHED_CHARACTERS = 16 * 1024 * 1024;

export interface HistoryMessage {
  /** The number of the row; grows in the order of the messages. */
  seq: number;
  id: string;
  role: "user" | "assistant";
  content: string;
  taint: Taint;
  /** Epoch ms. */
  timestamp: number;
}

/** The part of a session that goes into a prompt. */
export interface History {
  /** Stands for the oldest messages. */
  summary: string | null;
  /** The highest taint of the messages that the summary was made from. */
  summaryTaint: Taint;
  /** Messages that are neither in the summary nor among the recent ones. */
  omitted: number;
  recent: HistoryMessage[];
}

export function createHistoryCache({ database }: Pick<Kernel, "database">) {
  const { drizzle } = database;
  const placeholder = (name: string) => sql.placeholder(name);
  // A plain Map instead of the shared cache, since `append` replaces entries on the path of every turn.
  const cache = new Map<string, { agentId: string; history: History; size: number }>();
  let cachedCharacters = 0;

  const selectSummary = preparedQuery(() =>
    drizzle
      .select({
        agentId: sessions.agentId,
        summary: sessions.summary,
        upto: sessions.summaryUpto,
        taint: sessions.summaryTaint,
      })
      .from(sessions)
      .where(eq(sessions.id, placeholder("id"))),
  );
  const selectRecent = preparedQuery(() =>
    drizzle
      .select({
        seq: messages.seq,
        id: messages.id,
        role: messages.role,
        content: messages.content,
        taint: messages.taint,
        timestamp: messages.createdAt,
      })
      .from(messages)
      .where(and(eq(messages.sessionId, placeholder("id")), gt(messages.seq, placeholder("after"))))
      .orderBy(desc(messages.seq))
      .limit(placeholder("limit")),
  );

  function evict(sessionId: string): void {
    cachedCharacters -= cache.get(sessionId)?.size ?? 0;
    cache.delete(sessionId);
  }

  function store(sessionId: string, agentId: string, history: History): void {
    evict(sessionId);
    const size = history.recent.reduce((sum, { content }) => sum + content.length, history.summary?.length ?? 0) + 500;
    cache.set(sessionId, { agentId, history, size });
    cachedCharacters += size;
    for (const [oldest] of cache) {
      if (cachedCharacters <= MAX_CACHED_CHARACTERS) break;
      evict(oldest);
    }
  }

  async function countBetween(sessionId: string, after: number, before: number): Promise<number> {
    const sql = "SELECT count(*) FROM messages WHERE session_id = ? AND seq > ? AND seq < ?";
    const { rows } = await database.read(sql, [sessionId, after, before]);
    return Number(rows[0]?.[0] ?? 0);
  }

  async function load(sessionId: string): Promise<History> {
    const cached = cache.get(sessionId);
    if (cached) return cached.history;
    const [row] = await selectSummary.execute({ id: sessionId });
    const after = row?.upto ?? 0;
    const recent = (await selectRecent.execute({ id: sessionId, after, limit: MAX_HISTORY })).reverse();
    const omitted = recent.length < MAX_HISTORY ? 0 : await countBetween(sessionId, after, recent[0]?.seq ?? 0);
    const found = { summary: row?.summary ?? null, summaryTaint: row?.taint ?? TAINT.none, omitted, recent };
    store(sessionId, row?.agentId ?? "", found);
    return found;
  }

  /** Appends the messages of a committed turn to a cached history. */
  function append(sessionId: string, added: HistoryMessage[]): void {
    const cached = cache.get(sessionId);
    if (!cached) return;
    const { agentId, history } = cached;
    const { omitted, recent } = history;
    const all = [...recent, ...added];
    const overflow = Math.max(0, all.length - MAX_HISTORY);
    store(sessionId, agentId, { ...history, omitted: omitted + overflow, recent: all.slice(overflow) });
  }

  return {
    load,
    /** All messages, oldest first. */
    messages: async (sessionId: string, limit: number): Promise<HistoryMessage[]> =>
      (await selectRecent.execute({ id: sessionId, after: 0, limit })).reverse(),
    append,
    evict,
    evictAgent(agentId: string): void {
      for (const [id, one] of cache) if (one.agentId === agentId) evict(id);
    },
    /** Bytes of an agent's history in memory. */
    memoryBytes: (agentId: string): number =>
      cache.values().reduce((sum, one) => sum + (one.agentId === agentId ? estimateMemorySize(one.history) : 0), 0),
    /** Stores a summary that replaces the messages up to the number `upto`. */
    async saveSummary(sessionId: string, summary: string, upto: number, taint: Taint): Promise<void> {
      const set = { summary, summaryUpto: upto, summaryTaint: taint };
      const update = drizzle.update(sessions).set(set).where(eq(sessions.id, sessionId));
      await database.write([statement(update)]);
      evict(sessionId);
    },
  };
}
