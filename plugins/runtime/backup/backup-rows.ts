// What was said to an agent, as rows for its backup; brought back, or forgotten, without holding up anybody else.
import { setImmediate as breathe } from "node:timers/promises";
import type { Statement } from "../../../src/kernel/database/database.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import type { BackupTables } from "../../agents/index.ts";
import { outboxPages } from "../outbox/outbox-pages.ts";
import { HIDDEN_PLATFORM, type Sessions } from "../sessions/sessions.ts";
import { topicFromPeer } from "../sessions/topics.ts";
import * as sql from "./backup-sql.ts";
import { createRepair } from "./repair.ts";

/** `messages` gives their numbers alone, in order: the rows come in pages. */
export type RuntimeBackupTable = "sessions" | "messages";

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
export interface SessionExtent {
  count: number;
  last: number;
  lastId: string;
}

/** The batch that does it, and what is left to be cleared away after it, whether it was committed or not. */
export interface BackupChange {
  statements: Statement[];
  /** A job does it a minute later for a process that is killed before. */
  cleanUp(): Promise<void>;
}

export interface RuntimeBackupRows {
  readonly tables: BackupTables<RuntimeBackupTable>;
  /** The rows of these messages: pages, each a JSON array. Messages don't change, so they are still of the moment. */
  messagePages(seqs: readonly number[]): AsyncGenerator<string, void>;
  /** A session's messages up to one, page by page. */
  messagesUpTo(sessionId: string, upto: number): AsyncGenerator<MessageRow[], void>;
  /**
   * Puts sessions back as they were. Those that are as they were keep their messages; those that are gone are brought in
   * beforehand, where nobody sees them. What waits to be answered keeps a session. To be called while no turn runs.
   * @param sessions the rows, as JSON
   * @param extents of each session in them
   */
  restore(
    agentId: string,
    sessions: string,
    extents: ReadonlyMap<string, SessionExtent>,
    messagePages: AsyncIterable<readonly MessageRow[]>,
  ): Promise<BackupChange>;
  /** Sessions that come with an agent which is made in the same batch. */
  importStatements(agentId: string, sessions: readonly SessionRow[], messages: readonly MessageRow[]): Statement[];
  /**
   * Forgets what was said: sessions, summaries, the text of messages that were answered and of replies that were sent.
   * What waits to be answered, or to be delivered, stays.
   */
  erase(agentId: string): BackupChange;
  /** Mends what it finds, and says it in words. To be called while no turn runs. */
  repair(agentId: string): Promise<string[]>;
}

const PAGE = 100;
const CLEAN_UP_BATCH = 500;
/** Messages in one statement, of those that come with an agent. */
const IMPORT_BATCH = 2_000;
const JOB = "runtime.clear";
const JOB_DELAY = 60_000;
/** A session that was made just now waits for its first message. */
const NEW_SESSION_AGE = 60_000;

interface Deps extends Pick<Kernel, "database" | "jobs"> {
  sessions: Pick<Sessions, "invalidateAgent">;
  /** Takes up replies that wait to be delivered. */
  deliver(agentId: string): void;
}

/** What is brought in, and what is forgotten, is nobody's session: so either becomes true in one small write. */
export function createBackupRows({ database, jobs, sessions, deliver }: Deps): RuntimeBackupRows {
  /** Agents whose sessions are being brought in. */
  const importing = new Set<string>();

  /** Nobody's sessions of this agent go, in steps that leave others their turn; with `words`, those of replies too. */
  async function cleanUp(agentId: string, words: boolean): Promise<void> {
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
      const { rows } = await database.read(sql.INBOX_PAGE, [agentId, after, CLEAN_UP_BATCH]);
      const [first, last] = [rows[0]?.first, rows[0]?.last];
      if (typeof first !== "string" || typeof last !== "string") return;
      yield [first, last];
      after = last;
    }
  }

  const cleanUpLaterStatement = (agentId: string, words: boolean): Statement =>
    jobs.enqueueStatement(
      JOB,
      { agentId, words },
      { uniqueKey: agentId, runAt: Date.now() + JOB_DELAY, maxAttempts: 20 },
    );

  jobs.handle(JOB, async (payload) => {
    const { agentId, words } = payload as { agentId: string; words: boolean };
    if (importing.has(agentId)) throw new Error("Sessions of this agent are being brought in.");
    await cleanUp(agentId, words);
  });

  /** Which sessions have just these messages, which have others, which are not there. */
  async function compareSessions(agentId: string, extents: ReadonlyMap<string, SessionExtent>) {
    const asked = [...extents].map(([id, extent]) => ({ id, ...extent }));
    const { rows } = await database.read(sql.COMPARE, [agentId, JSON.stringify(asked)]);
    const inState = (state: string) => rows.filter((row) => row.state === state).map(({ id }) => String(id));
    return { same: inState("same"), changed: inState("changed"), missing: inState("missing") };
  }

  /** Writes the messages of missing sessions, hidden; answers what writes those of changed ones. */
  async function importSessions(
    agentId: string,
    rows: string,
    { missing, changed }: { missing: string[]; changed: string[] },
    messagePages: AsyncIterable<readonly MessageRow[]>,
  ): Promise<Statement[]> {
    const later: Statement[] = [];
    if (missing.length + changed.length === 0) return later;
    const opening = { sql: sql.INSERT_HIDDEN, args: [agentId, rows, JSON.stringify(missing)] };
    await database.write([opening, cleanUpLaterStatement(agentId, false)]);
    const [hidden, shown] = [new Set(missing), new Set(changed)];
    // Our own rows, as the query gave them.
    const topics = new Map((JSON.parse(rows) as SessionRow[]).map(({ id, peer }) => [id, topicFromPeer(peer)]));
    const writeStatements = (page: readonly MessageRow[]): Statement[] => {
      const asked = page.filter(({ platform, role }) => platform === "api" && role === "user");
      const words = asked.map(({ id, content, session }) => ({ id, content, topic: topics.get(session) ?? null }));
      return page.length > 0
        ? [sql.insertMessagesStatement(agentId, page), ...sql.restoreTextStatements(agentId, words)]
        : [];
    };
    for await (const page of alignToTurns(messagePages)) {
      await database.write(writeStatements(page.filter(({ session }) => hidden.has(session))));
      later.push(...writeStatements(page.filter(({ session }) => shown.has(session))));
    }
    return later;
  }

  /** Whoever remembers something of these sessions forgets it, once this is committed. */
  const withInvalidation = (agentId: string, statement: Statement, ids: readonly string[] = []): Statement => ({
    ...statement,
    after: ({ rows }) => sessions.invalidateAgent(agentId, [...ids, ...rows.map(({ id }) => String(id))]),
  });

  const tables: BackupTables<RuntimeBackupTable> = {
    sessions: `SELECT json_group_array(json_object('id', id, 'platform', platform, 'peer', peer, 'status', status,
        'summary', summary, 'at', created_at, 'active', last_activity_at,
        'summarized', (SELECT count(*) FROM messages WHERE session_id = sessions.id AND seq <= summary_upto)))
      FROM sessions WHERE agent_id = ?1 AND platform <> '${HIDDEN_PLATFORM}'`,
    messages: `SELECT json_group_array(seq) FROM (SELECT m.seq FROM sessions AS s JOIN messages AS m ON m.session_id = s.id
      WHERE s.agent_id = ?1 AND s.platform <> '${HIDDEN_PLATFORM}' ORDER BY m.seq)`,
  };

  async function* messagePages(seqs: readonly number[]): AsyncGenerator<string, void> {
    for (let at = 0; at < seqs.length; at += PAGE) {
      const { rows } = await database.read(sql.SELECT_PAGE, [JSON.stringify(seqs.slice(at, at + PAGE))]);
      yield String(rows[0]?.[0]);
      await breathe();
    }
  }

  return {
    tables,
    messagePages,

    async *messagesUpTo(sessionId, upto) {
      for (let after = 0; ; await breathe()) {
        const { rows } = await database.read(sql.SELECT_MESSAGES_UP_TO, [sessionId, after, upto, PAGE]);
        // Our own rows, as the query gave them.
        const page = JSON.parse(String(rows[0]?.[0])) as MessageRow[];
        if (page.length > 0) yield page;
        if (page.length < PAGE) return;
        after = page.at(-1)?.seq ?? upto;
      }
    },

    async restore(agentId, rows, extents, incoming) {
      // What an earlier try may have left.
      await cleanUp(agentId, false);
      const found = await compareSessions(agentId, extents);
      const rewritten = [...found.changed, ...found.missing];
      const ends = found.same.map((id) => ({ id, last: extents.get(id)?.last ?? 0 }));
      const done = () => {
        importing.delete(agentId);
        return cleanUp(agentId, false);
      };
      importing.add(agentId);
      try {
        const later = await importSessions(agentId, rows, found, incoming);
        const [hideStatement, ...otherStatements] = sql.hideSessionsStatements(
          agentId,
          rows,
          Date.now() - NEW_SESSION_AGE,
        );
        const statements = [
          { sql: "UPDATE sessions SET status = 'completed' WHERE agent_id = ?1", args: [agentId] },
          ...(hideStatement ? [withInvalidation(agentId, hideStatement, [...extents.keys()])] : []),
          ...otherStatements,
          { sql: sql.DELETE_TAILS, args: [agentId, JSON.stringify(ends)] },
          { sql: sql.DELETE_MESSAGES_OF, args: [agentId, JSON.stringify(found.changed)] },
          ...sql.restoreSessionsStatements(agentId, rows, later),
          { sql: sql.CLEAR_MISSING_REPLIES, args: [agentId] },
          { sql: sql.RELINK_REPLIES, args: [agentId, JSON.stringify(rewritten)] },
          cleanUpLaterStatement(agentId, false),
        ];
        return { statements, cleanUp: done };
      } catch (error) {
        await done();
        throw error;
      }
    },

    importStatements(agentId, rows, messages) {
      const written: Statement[] = [];
      for (let at = 0; at < messages.length; at += IMPORT_BATCH) {
        written.push(sql.insertMessagesStatement(agentId, messages.slice(at, at + IMPORT_BATCH)));
      }
      return sql.restoreSessionsStatements(agentId, JSON.stringify(rows), written);
    },

    erase(agentId) {
      const hideStatements = sql
        .hideSessionsStatements(agentId, "[]", Date.now() - NEW_SESSION_AGE)
        .map((one) => withInvalidation(agentId, one));
      return {
        statements: [...hideStatements, cleanUpLaterStatement(agentId, true)],
        cleanUp: () => cleanUp(agentId, true),
      };
    },

    repair: createRepair({
      database,
      deliver,
      async *messagePages(agentId) {
        const { rows } = await database.read(tables.messages, [agentId]);
        const seqs = JSON.parse(String(rows[0]?.[0])) as number[];
        for (let at = 0; at < seqs.length; at += CLEAN_UP_BATCH) {
          yield seqs.slice(at, at + CLEAN_UP_BATCH);
          await breathe();
        }
      },
    }),
  };
}

/** The same messages, with no page between a question and its reply: their numbers follow each other. */
async function* alignToTurns(messagePages: AsyncIterable<readonly MessageRow[]>): AsyncGenerator<MessageRow[], void> {
  let carried: MessageRow[] = [];
  for await (const page of messagePages) {
    const all = [...carried, ...page];
    carried = all.at(-1)?.role === "user" ? all.slice(-1) : [];
    yield all.slice(0, all.length - carried.length);
  }
  yield carried;
}
