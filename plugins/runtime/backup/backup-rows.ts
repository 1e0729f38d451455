// Gives an agent's sessions and messages as rows for its backup, and restores or erases them in steps beside other work.
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { Statement } from "../../../src/kernel/database/database.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import { parseElements } from "../../../src/kernel/util/json-text.ts";
import { MINUTE } from "../../../src/kernel/util/time.ts";
import type { BackupTables } from "../../agents/index.ts";
import type { Taint } from "../../skills/index.ts";
import { idPages } from "../id-pages.ts";
import { HIDDEN_PLATFORM } from "../sessions/session-sql.ts";
import type { Sessions } from "../sessions/sessions.ts";
import { topicFromPeer } from "../sessions/topics.ts";
import * as sql from "./backup-sql.ts";
import { createMessagePages } from "./message-pages.ts";
import { createRepair } from "./repair.ts";

/** The table `messages` has only the numbers of the messages, in order: their rows come in pages. */
export type RuntimeBackupTable = "sessions" | "messages";

/** A row of the table `sessions`. Times are epoch ms. */
export interface SessionRow {
  id: string;
  platform: string;
  peer: string | null;
  status: "open" | "completed";
  summary: string | null;
  /** The number of messages that the summary stands for. */
  summarized: number;
  summaryTaint: Taint;
  at: number;
  active: number;
}

/** A row of a page of messages. `at` is epoch ms. */
export interface MessageRow {
  seq: number;
  id: string;
  session: string;
  inbox: string;
  platform: string;
  role: "user" | "assistant";
  content: string;
  taint: Taint;
  /** JSON. */
  steps: string | null;
  at: number;
}

/** The extent of a session: the number of its messages, and the number and id of the last. */
export interface SessionExtent {
  count: number;
  last: number;
  lastId: string;
}

/** A change to an agent's sessions, which the caller writes in one long batch (`database.writeLong`). */
export interface BackupChange {
  statements: Statement[];
  /** Deletes the hidden sessions afterwards, whether the batch was committed or not. A job does so if the process is killed. */
  cleanUp(): Promise<void>;
}

/** The messages of a file that is imported, and their entries (`addEntries`): each page is a JSON array of rows. */
export interface ImportedPages {
  messages: readonly string[];
  entries: readonly string[];
}

export interface RuntimeBackupRows {
  readonly tables: BackupTables<RuntimeBackupTable>;
  /** The rows of these messages, in pages, each a JSON array. Messages never change, so the rows still match the snapshot. */
  messagePages(seqs: readonly number[]): AsyncGenerator<string, void>;
  /** A session's messages up to the number `upto`, page by page. */
  messagesUpTo(sessionId: string, upto: number): AsyncGenerator<MessageRow[], void>;
  /**
   * Restores sessions. Unchanged sessions keep their messages; missing ones are imported before the batch, as hidden
   * sessions. Pending messages keep their session. Call it while no turn of the agent runs.
   * @param sessions the rows, as JSON
   * @param extents of each session in them
   */
  restore(
    agentId: string,
    sessions: string,
    extents: ReadonlyMap<string, SessionExtent>,
    messagePages: AsyncIterable<readonly MessageRow[]>,
  ): Promise<BackupChange>;
  /**
   * Imports the sessions of an agent that is created in the same batch, with entries that list their messages.
   * @param sessions rows (`SessionRow`), as a JSON array
   */
  importStatements(agentId: string, sessions: string, pages: ImportedPages): Statement[];
  /** Erases sessions, summaries and the texts of settled messages and sent replies. Pending messages and replies stay. */
  erase(agentId: string): BackupChange;
  /** Repairs the rows and describes each repair in a sentence. Call it while no turn of the agent runs. */
  repair(agentId: string): Promise<string[]>;
}

const CLEAN_UP_BATCH = 500;
const OUTBOX_PAGE = 2_000;
const JOB = "runtime.clear";
const JOB_DELAY = MINUTE;
/** A newer session may still wait for its first message. */
const NEW_SESSION_AGE = MINUTE;

interface Deps extends Pick<Kernel, "database" | "jobs"> {
  sessions: Pick<Sessions, "invalidateAgent">;
  /** Takes up the agent's pending replies. */
  deliver(agentId: string): void;
}

/**
 * Imported and erased sessions are hidden ones: large numbers of messages are written before, or deleted after, the one small
 * batch in which the change takes effect.
 */
export function createBackupRows({ database, jobs, sessions, deliver }: Deps): RuntimeBackupRows {
  /** Agents whose sessions are being imported. */
  const importing = new Set<string>();
  const pages = createMessagePages(database);

  /** Deletes the agent's hidden sessions in steps; with `words`, wipes the texts of delivered replies too. */
  async function cleanUp(agentId: string, words: boolean): Promise<void> {
    for await (const [first, last] of idPages(database, "inbox", agentId, { size: CLEAN_UP_BATCH })) {
      await database.write([{ sql: sql.CLEAR_INBOX, args: [agentId, first, last] }]);
    }
    for (let left = 1; left > 0; ) {
      const done = await database.write(sql.CLEAR_SESSIONS.map((step) => ({ sql: step, args: [agentId] })));
      left = done.reduce((sum, { rowsAffected }) => sum + rowsAffected, 0);
    }
    if (!words) return;
    for await (const [first, last] of idPages(database, "outbox", agentId, { size: OUTBOX_PAGE })) {
      await database.write([{ sql: sql.CLEAR_OUTBOX, args: [agentId, first, last] }]);
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
    if (importing.has(agentId)) throw new Error("Sessions of this agent are being imported.");
    await cleanUp(agentId, words);
  });

  /** Compares the sessions with their extents in the backup. */
  async function compareSessions(agentId: string, extents: ReadonlyMap<string, SessionExtent>) {
    const expected = [...extents].map(([id, extent]) => ({ id, ...extent }));
    const { rows } = await database.readLong(sql.COMPARE, [agentId, JSON.stringify(expected)]);
    const inState = (state: string) =>
      JSON.parse(String(rows.find((row) => row.state === state)?.ids ?? "[]")) as string[];
    return { same: inState("same"), changed: inState("changed"), missing: inState("missing") };
  }

  /** Writes the messages of missing sessions as hidden ones; returns the statements for those of changed sessions. */
  async function importSessions(
    agentId: string,
    rows: string,
    { missing, changed }: { missing: string[]; changed: string[] },
    messagePages: AsyncIterable<readonly MessageRow[]>,
  ): Promise<Statement[]> {
    const later: Statement[] = [];
    if (missing.length + changed.length === 0) return later;
    const opening = { sql: sql.INSERT_HIDDEN, args: [agentId, rows, JSON.stringify(missing)] };
    await database.writeLong([opening, cleanUpLaterStatement(agentId, false)]);
    const [hidden, shown] = [new Set(missing), new Set(changed)];
    const topics = new Map<string, string | null>();
    for await (const { id, peer } of parseElements<SessionRow>(rows)) topics.set(id, topicFromPeer(peer));
    const writeStatements = (page: readonly MessageRow[]): Statement[] => {
      const fromApi = page.filter(({ platform, role }) => platform === "api" && role === "user");
      const texts = fromApi.map(({ id, content, session }) => ({ id, content, topic: topics.get(session) ?? null }));
      return page.length > 0
        ? [sql.insertPageStatement(agentId, JSON.stringify(page)), ...sql.restoreTextStatements(agentId, texts)]
        : [];
    };
    for await (const page of alignToTurns(messagePages)) {
      await database.write(writeStatements(page.filter(({ session }) => hidden.has(session))));
      later.push(...writeStatements(page.filter(({ session }) => shown.has(session))));
    }
    return later;
  }

  /** Drops the agent's sessions, and these ones, from the caches once the statement is committed. */
  const withInvalidation = (agentId: string, statement: Statement, ids?: readonly string[]): Statement => ({
    ...statement,
    after: () => sessions.invalidateAgent(agentId, ids),
  });

  const tables: BackupTables<RuntimeBackupTable> = {
    sessions: `SELECT json_group_array(json_object('id', id, 'platform', platform, 'peer', peer, 'status', status,
        'summary', summary, 'summaryTaint', summary_taint, 'at', created_at, 'active', last_activity_at,
        'summarized', (SELECT count(*) FROM messages WHERE session_id = sessions.id AND seq <= summary_upto)))
      FROM sessions WHERE agent_id = ?1 AND platform <> '${HIDDEN_PLATFORM}'`,
    messages: `SELECT json_group_array(seq) FROM (SELECT m.seq FROM sessions AS s JOIN messages AS m ON m.session_id = s.id
      WHERE s.agent_id = ?1 AND s.platform <> '${HIDDEN_PLATFORM}' ORDER BY m.seq)`,
  };

  return {
    tables,
    messagePages: pages.of,

    async *messagesUpTo(sessionId, upto) {
      // Our own rows, as the query gave them.
      for await (const page of pages.upTo(sessionId, upto)) yield JSON.parse(page) as MessageRow[];
    },

    async restore(agentId, rows, extents, incoming) {
      // An earlier restore may have left hidden sessions.
      await cleanUp(agentId, false);
      const found = await compareSessions(agentId, extents);
      await yieldToEventLoop();
      const rewritten = [...found.changed, ...found.missing];
      const ends = found.same.map((id) => ({ id, last: extents.get(id)?.last ?? 0 }));
      const finish = () => {
        importing.delete(agentId);
        return cleanUp(agentId, false);
      };
      importing.add(agentId);
      try {
        const later = await importSessions(agentId, rows, found, incoming);
        await yieldToEventLoop();
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
        return { statements, cleanUp: finish };
      } catch (error) {
        await finish();
        throw error;
      }
    },

    importStatements: (agentId, rows, { messages, entries }) =>
      sql.restoreSessionsStatements(agentId, rows, [
        ...messages.map((page) => sql.insertPageStatement(agentId, page)),
        ...entries.map((page) => sql.insertEntriesStatement(agentId, page)),
        { sql: sql.LINK_IMPORTED_REPLIES, args: [agentId, rows] },
      ]),

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
        const { rows } = await database.readLong(tables.messages, [agentId]);
        const seqs = JSON.parse(String(rows[0]?.[0])) as number[];
        for (let at = 0; at < seqs.length; at += CLEAN_UP_BATCH) {
          yield seqs.slice(at, at + CLEAN_UP_BATCH);
          await yieldToEventLoop();
        }
      },
    }),
  };
}

/** Moves page boundaries so that a user's message and its reply are in one page and get consecutive numbers. */
async function* alignToTurns(messagePages: AsyncIterable<readonly MessageRow[]>): AsyncGenerator<MessageRow[], void> {
  let carried: MessageRow[] = [];
  for await (const page of messagePages) {
    const all = [...carried, ...page];
    carried = all.at(-1)?.role === "user" ? all.slice(-1) : [];
    yield all.slice(0, all.length - carried.length);
  }
  yield carried;
}
