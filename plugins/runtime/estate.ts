// What was said to an agent, as rows for its backup; brought back, or forgotten, without holding up anybody else.
import { setImmediate as breathe } from "node:timers/promises";
import type { Statement } from "../../src/database.ts";
import type { Kernel } from "../../src/plugin.ts";
import type { Parts } from "../agents/index.ts";
import { topicOf } from "./conversations.ts";
import * as sql from "./estate-sql.ts";
import { createMending } from "./mending.ts";
import { outboxPages } from "./outbox-pages.ts";
import { NOBODYS, type Sessions } from "./sessions.ts";

/** `messages` gives their numbers alone, in order: the rows come in pages. */
export type RuntimePart = "sessions" | "messages";

/** A row of the part `sessions`. Times are epoch ms. */
export interface SessionRow {
  id: string;
  platform: string;
  peer: string | null;
  status: "open" | "completed";
  summary: string | null;
  /** How many of its messages the summary stands for. */
  summarized: number;
  at: number;
  active: number;
}

/** A message, in a page. */
export interface MessageRow {
  seq: number;
  id: string;
  session: string;
  inbox: string;
  platform: string;
  role: "user" | "assistant";
  content: string;
  /** JSON. */
  steps: string | null;
  at: number;
}

/** How far a session went: its messages, and the last of them. */
export interface Extent {
  count: number;
  last: number;
  lastId: string;
}

/** The batch that does it, and what is left to be cleared away after it, whether it was committed or not. */
export interface Change {
  statements: Statement[];
  /** A job does it a minute later for a process that is killed before. */
  clear(): Promise<void>;
}

export interface RuntimeEstate {
  readonly parts: Parts<RuntimePart>;
  /** The rows of these messages: pages, each a JSON array. Messages don't change, so they are still of the moment. */
  pages(seqs: readonly number[]): AsyncGenerator<string, void>;
  /** A session's messages up to one, page by page. */
  said(sessionId: string, upto: number): AsyncGenerator<MessageRow[], void>;
  /**
   * Puts sessions back as they were. Those that are as they were keep their messages; those that are gone are brought in
   * beforehand, where nobody sees them. What waits to be answered keeps a session. To be called while no turn runs.
   * @param sessions the rows, as JSON
   * @param extents of each session in them
   */
  restore(
    agentId: string,
    sessions: string,
    extents: ReadonlyMap<string, Extent>,
    pages: AsyncIterable<readonly MessageRow[]>,
  ): Promise<Change>;
  /** Sessions that come with an agent which is made in the same batch. */
  bring(agentId: string, sessions: readonly SessionRow[], messages: readonly MessageRow[]): Statement[];
  /**
   * Forgets what was said: sessions, summaries, the text of messages that were answered and of replies that were sent.
   * What waits to be answered, or to be delivered, stays.
   */
  erase(agentId: string): Change;
  /** Mends what it finds, and says it in words. To be called while no turn runs. */
  mend(agentId: string): Promise<string[]>;
}

const PAGE = 100;
const CLEARED_AT_ONCE = 500;
/** Messages in one statement, of those that come with an agent. */
const BROUGHT_AT_ONCE = 2_000;
const JOB = "runtime.clear";
const JOB_AFTER = 60_000;
/** A session that was made just now waits for its first message. */
const FRESH = 60_000;

interface Deps extends Pick<Kernel, "database" | "jobs"> {
  sessions: Pick<Sessions, "forget">;
  /** Takes up replies that wait to be delivered. */
  deliver(agentId: string): void;
}

/** What is brought in, and what is forgotten, is nobody's session: so either becomes true in one small write. */
export function createEstate({ database, jobs, sessions, deliver }: Deps): RuntimeEstate {
  /** Agents whose sessions are being brought in. */
  const bringing = new Set<string>();

  /** Nobody's sessions of this agent go, in steps that leave others their turn; with `words`, those of replies too. */
  async function clear(agentId: string, words: boolean): Promise<void> {
    for await (const [first, last] of inboxPages(agentId)) {
      await database.write([{ sql: sql.CLEAR_INBOX, args: [agentId, first, last] }]);
    }
    for (let left = 1; left > 0; ) {
      const done = await database.write(sql.CLEAR_SESSIONS.map((step) => ({ sql: step, args: [agentId] })));
      left = done.reduce((sum, { rowsAffected }) => sum + rowsAffected, 0);
    }
    if (!words) return;
    for await (const [first, last] of outboxPages(database, agentId)) {
      await database.write([{ sql: sql.CLEAR_OUTBOX, args: [agentId, first, last] }]);
    }
  }

  async function* inboxPages(agentId: string): AsyncGenerator<[string, string], void> {
    for (let after = ""; ; await breathe()) {
      const { rows } = await database.read(sql.INBOX_PAGE, [agentId, after, CLEARED_AT_ONCE]);
      const [first, last] = [rows[0]?.first, rows[0]?.last];
      if (typeof first !== "string" || typeof last !== "string") return;
      yield [first, last];
      after = last;
    }
  }

  const clearLater = (agentId: string, words: boolean): Statement =>
    jobs.enqueue(JOB, { agentId, words }, { uniqueKey: agentId, runAt: Date.now() + JOB_AFTER, maxAttempts: 20 });

  jobs.handle(JOB, async (payload) => {
    const { agentId, words } = payload as { agentId: string; words: boolean };
    if (bringing.has(agentId)) throw new Error("Sessions of this agent are being brought in.");
    await clear(agentId, words);
  });

  /** Which sessions have just these messages, which have others, which are not there. */
  async function compare(agentId: string, extents: ReadonlyMap<string, Extent>) {
    const asked = [...extents].map(([id, extent]) => ({ id, ...extent }));
    const { rows } = await database.read(sql.COMPARE, [agentId, JSON.stringify(asked)]);
    const inState = (state: string) => rows.filter((row) => row.state === state).map(({ id }) => String(id));
    return { same: inState("same"), changed: inState("changed"), missing: inState("missing") };
  }

  /** Writes the messages of missing sessions, hidden; answers what writes those of changed ones. */
  async function bringIn(
    agentId: string,
    rows: string,
    { missing, changed }: { missing: string[]; changed: string[] },
    pages: AsyncIterable<readonly MessageRow[]>,
  ): Promise<Statement[]> {
    const later: Statement[] = [];
    if (missing.length + changed.length === 0) return later;
    const opening = { sql: sql.BRING, args: [agentId, rows, JSON.stringify(missing)] };
    await database.write([opening, clearLater(agentId, false)]);
    const [hidden, shown] = [new Set(missing), new Set(changed)];
    // Our own rows, as the query gave them.
    const topics = new Map((JSON.parse(rows) as SessionRow[]).map(({ id, peer }) => [id, topicOf(peer)]));
    const writing = (page: readonly MessageRow[]): Statement[] => {
      const asked = page.filter(({ platform, role }) => platform === "api" && role === "user");
      const words = asked.map(({ id, content, session }) => ({ id, content, topic: topics.get(session) ?? null }));
      return page.length > 0 ? [sql.insertion(agentId, page), ...sql.remembering(agentId, words)] : [];
    };
    for await (const page of unparted(pages)) {
      await database.write(writing(page.filter(({ session }) => hidden.has(session))));
      later.push(...writing(page.filter(({ session }) => shown.has(session))));
    }
    return later;
  }

  /** Whoever remembers something of these sessions forgets it, once this is committed. */
  const forgetting = (agentId: string, statement: Statement, ids: readonly string[] = []): Statement => ({
    ...statement,
    after: ({ rows }) => sessions.forget(agentId, [...ids, ...rows.map(({ id }) => String(id))]),
  });

  const parts: Parts<RuntimePart> = {
    sessions: `SELECT json_group_array(json_object('id', id, 'platform', platform, 'peer', peer, 'status', status,
        'summary', summary, 'at', created_at, 'active', last_activity_at,
        'summarized', (SELECT count(*) FROM messages WHERE session_id = sessions.id AND seq <= summary_upto)))
      FROM sessions WHERE agent_id = ?1 AND platform <> '${NOBODYS}'`,
    messages: `SELECT json_group_array(seq) FROM (SELECT m.seq FROM sessions AS s JOIN messages AS m ON m.session_id = s.id
      WHERE s.agent_id = ?1 AND s.platform <> '${NOBODYS}' ORDER BY m.seq)`,
  };

  async function* pages(seqs: readonly number[]): AsyncGenerator<string, void> {
    for (let at = 0; at < seqs.length; at += PAGE) {
      const { rows } = await database.read(sql.SELECT_PAGE, [JSON.stringify(seqs.slice(at, at + PAGE))]);
      yield String(rows[0]?.[0]);
      await breathe();
    }
  }

  return {
    parts,
    pages,

    async *said(sessionId, upto) {
      for (let after = 0; ; await breathe()) {
        const { rows } = await database.read(sql.SELECT_SAID, [sessionId, after, upto, PAGE]);
        // Our own rows, as the query gave them.
        const page = JSON.parse(String(rows[0]?.[0])) as MessageRow[];
        if (page.length > 0) yield page;
        if (page.length < PAGE) return;
        after = page.at(-1)?.seq ?? upto;
      }
    },

    async restore(agentId, rows, extents, given) {
      // What an earlier try may have left.
      await clear(agentId, false);
      const found = await compare(agentId, extents);
      const again = [...found.changed, ...found.missing];
      const ends = found.same.map((id) => ({ id, last: extents.get(id)?.last ?? 0 }));
      const done = () => {
        bringing.delete(agentId);
        return clear(agentId, false);
      };
      bringing.add(agentId);
      try {
        const later = await bringIn(agentId, rows, found, given);
        const [leaving, ...emptying] = sql.lettingGo(agentId, rows, Date.now() - FRESH);
        const statements = [
          { sql: "UPDATE sessions SET status = 'completed' WHERE agent_id = ?1", args: [agentId] },
          ...(leaving ? [forgetting(agentId, leaving, [...extents.keys()])] : []),
          ...emptying,
          { sql: sql.DELETE_TAILS, args: [agentId, JSON.stringify(ends)] },
          { sql: sql.DELETE_OF, args: [agentId, JSON.stringify(found.changed)] },
          ...sql.settled(agentId, rows, later),
          { sql: sql.LOSE_REPLIES, args: [agentId] },
          { sql: sql.FIND_REPLIES, args: [agentId, JSON.stringify(again)] },
          clearLater(agentId, false),
        ];
        return { statements, clear: done };
      } catch (error) {
        await done();
        throw error;
      }
    },

    bring(agentId, rows, messages) {
      const written: Statement[] = [];
      for (let at = 0; at < messages.length; at += BROUGHT_AT_ONCE) {
        written.push(sql.insertion(agentId, messages.slice(at, at + BROUGHT_AT_ONCE)));
      }
      return sql.settled(agentId, JSON.stringify(rows), written);
    },

    erase(agentId) {
      const letting = sql.lettingGo(agentId, "[]", Date.now() - FRESH).map((one) => forgetting(agentId, one));
      return { statements: [...letting, clearLater(agentId, true)], clear: () => clear(agentId, true) };
    },

    mend: createMending({
      database,
      deliver,
      async *pages(agentId) {
        const { rows } = await database.read(parts.messages, [agentId]);
        const seqs = JSON.parse(String(rows[0]?.[0])) as number[];
        for (let at = 0; at < seqs.length; at += CLEARED_AT_ONCE) {
          yield seqs.slice(at, at + CLEARED_AT_ONCE);
          await breathe();
        }
      },
    }),
  };
}

/** The same messages, with no page between a question and its reply: their numbers follow each other. */
async function* unparted(pages: AsyncIterable<readonly MessageRow[]>): AsyncGenerator<MessageRow[], void> {
  let held: MessageRow[] = [];
  for await (const page of pages) {
    const all = [...held, ...page];
    held = all.at(-1)?.role === "user" ? all.slice(-1) : [];
    yield all.slice(0, all.length - held.length);
  }
  yield held;
}
