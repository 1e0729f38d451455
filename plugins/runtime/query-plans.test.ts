// Tests with EXPLAIN QUERY PLAN that statements about one agent use an index and scan no table.

import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { FAILED_JOBS, QUEUED_JOBS, RUNNING_JOBS } from "../../src/kernel/jobs/job-metrics.ts";
import { fileDatabase, type TestDatabase } from "../../tests/support/database.ts";
import { TURN_CALLS_SQL } from "../ai/index.ts";
import {
  CLEAR_OUTBOX,
  CLEAR_SESSIONS,
  COMPARE,
  DELETE_TAILS,
  hideSessionsStatements,
  LINK_IMPORTED_REPLIES,
  RELINK_REPLIES,
  restoreSessionsStatements,
  restoreTextStatements,
  SELECT_SIZES,
  SELECT_SIZES_UP_TO,
} from "./backup/backup-sql.ts";
import { FIX_ANSWERED } from "./backup/repair.ts";
import { SHOWN_WINDOW, VISITED_WINDOW } from "./conversations/conversation-list.ts";
import { searchSql } from "./conversations/conversation-search.ts";
import { ANSWERS } from "./conversations/journal-view.ts";
import { idPageSql } from "./id-pages.ts";
import { EARLIER, REPLIED } from "./inbox/earlier-files.ts";
import { NAMES, WITH_PREFIX } from "./live/agent-messages.ts";
import { NEWEST_NAMED } from "./live/keyed-messages.ts";
import { LAST_MESSAGE, LATEST_PENDING } from "./live/latest-turn.ts";
import { DELETE_EMPTIED } from "./retention/message-retention.ts";
import { WAITING_MESSAGES, WAITING_REPLIES } from "./runtime-metrics.ts";
import { CLOSE_VISITORS, DELETE_EMPTY, DELETE_VISITORS, WIPE_VISITOR_MESSAGES } from "./sessions/session-expiry.ts";

let store: TestDatabase;
let planner: Database;
beforeAll(async () => {
  store = await fileDatabase();
  planner = new Database(store.database.file ?? "");
});
afterAll(async () => {
  planner.close();
  await store.remove();
});

const plan = (sql: string) =>
  planner
    .query<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${sql}`)
    .all()
    .map(({ detail }) => detail);

const KEYS = `SELECT t.name AS child, k."table" AS parent, k."from" AS key
  FROM sqlite_schema AS t JOIN pragma_foreign_key_list(t.name) AS k
  WHERE t.type = 'table' AND k."table" IN ('agents', 'sessions') ORDER BY 1`;

describe("deleting", () => {
  // SQLite runs this statement for each foreign key when a parent row is deleted.
  test("an agent or a session finds its child rows by an index", () => {
    const keys = planner.query<{ child: string; parent: string; key: string }, []>(KEYS).all();
    expect(keys.map(({ child }) => child)).toContain("outbox");
    for (const { child, key } of keys) {
      expect(plan(`DELETE FROM ${child} WHERE ${key} = ?1`).join()).toMatch(`SEARCH ${child} USING`);
    }
  });
});

describe("the metrics", () => {
  test.each([
    ["waiting messages", WAITING_MESSAGES, "inbox USING INDEX inbox_pending"],
    ["waiting replies", WAITING_REPLIES, "outbox USING INDEX outbox_pending"],
    ["jobs that wait", QUEUED_JOBS, "jobs USING COVERING INDEX jobs_due"],
    ["jobs that run", RUNNING_JOBS, "jobs USING INDEX jobs_running"],
    ["jobs that have failed", FAILED_JOBS, "jobs USING INDEX jobs_failed"],
  ])("read %s by the index that has only these", (_, sql, index) => {
    const steps = plan(sql);
    expect(steps.join("\n")).toContain(index);
    // A scan of a partial index reads the entries that wait, and no others.
    for (const step of steps) expect(step).not.toMatch(/^SCAN (?:inbox|outbox|jobs)(?! USING)/);
  });
});

describe("listing", () => {
  // The statements as sessions.ts writes them, without their columns.
  const listed = (condition: string) =>
    plan(`SELECT * FROM sessions WHERE agent_id = ?1 AND ${condition} ORDER BY last_activity_at DESC LIMIT 1`);

  test("sessions reads them in order from an index", () => {
    expect(listed(`platform NOT IN ('', 'public')`)).toEqual([
      expect.stringContaining("INDEX sessions_shown (agent_id=?)"),
    ]);
    expect(listed("platform = 'public'")).toEqual([expect.stringContaining("INDEX sessions_visited (agent_id=?)")]);
  });

  test("the active session reads only sessions with a recent message", () => {
    const active = `SELECT * FROM sessions WHERE agent_id = ?1 AND platform = ?2 AND platform NOT IN ('', 'public')
      AND status = 'open' AND last_activity_at > ?3 ORDER BY created_at DESC, id DESC LIMIT 1`;
    expect(plan(active)[0]).toContain("INDEX sessions_shown (agent_id=? AND last_activity_at>?)");
  });
});

describe("showing conversations", () => {
  test("reads them in the order of an index", () => {
    const noSort = (sql: string) => plan(sql).filter((detail) => detail.includes("TEMP B-TREE"));
    expect(plan(SHOWN_WINDOW)[0]).toContain("INDEX sessions_shown (agent_id=? AND last_activity_at<?)");
    expect(plan(VISITED_WINDOW)[0]).toContain("INDEX sessions_visited (agent_id=? AND last_activity_at<?)");
    expect([...noSort(SHOWN_WINDOW), ...noSort(VISITED_WINDOW)]).toEqual([]);
  });

  test("searches the messages of one after the other", () => {
    expect(plan(searchSql(1)).join()).toContain("INDEX messages_session (session_id=? AND rowid>?)");
  });

  test("finds the steps of turns by their ids", () => {
    const found = plan(ANSWERS).join();
    expect(found).toMatch(/SEARCH turn_steps USING (PRIMARY KEY|INDEX \S+) \(.*turn_id=\?/);
    expect(found).not.toContain("TEMP B-TREE");
  });

  test("finds the calls of a turn by their ids", () => {
    expect(plan(TURN_CALLS_SQL).join()).toContain("INDEX usage_once (id>? AND id<?)");
  });
});

describe("files of earlier messages", () => {
  test("are found by the messages of one conversation, and by the message that is replied to", () => {
    const latest = plan(EARLIER).join();
    expect(latest).toContain("INDEX messages_session (session_id=?)");
    expect(latest).toContain("SEARCH i USING PRIMARY KEY (agent_id=? AND id=?)");
    expect(latest).not.toContain("SCAN i");
    expect(plan(REPLIED).join()).toContain("INDEX inbox_once (agent_id=? AND platform=? AND platform_message_id=?");
  });
});

describe("messages of clients", () => {
  test("are found by the beginning of their ids, and the latest one of a conversation without reading the others", () => {
    expect(plan(WITH_PREFIX)[0]).toContain(
      "INDEX inbox_once (agent_id=? AND platform=? AND platform_message_id>? AND platform_message_id<?)",
    );
    const named = plan(NEWEST_NAMED);
    expect(named).toEqual([
      expect.stringContaining("INDEX inbox_once (agent_id=? AND platform=? AND platform_message_id>?"),
    ]);
    expect(plan(NAMES).join()).toContain("SEARCH inbox USING PRIMARY KEY (agent_id=? AND id=?)");
    expect(plan(LATEST_PENDING)).toEqual([expect.stringContaining("INDEX inbox_pending (agent_id=?)")]);
    const last = plan(LAST_MESSAGE).join();
    expect(last).toContain("INDEX messages_session (session_id=?)");
    expect(last).not.toContain("TEMP B-TREE");
  });
});

describe("restoring", () => {
  const steps = (sql: string) =>
    planner.query<{ id: number; parent: number; detail: string }, []>(`EXPLAIN QUERY PLAN ${sql}`).all();

  test("reads a JSON array once, not again for each row of the agent", () => {
    const statements = [
      ...restoreSessionsStatements("", "[]").map(({ sql }) => sql),
      ...hideSessionsStatements("", "[]", 0).map(({ sql }) => sql),
      ...restoreTextStatements("", [{ id: "", content: "", topic: null }]).map(({ sql }) => sql),
      ...[COMPARE, DELETE_TAILS, FIX_ANSWERED, SELECT_SIZES],
    ];
    expect(statements).toHaveLength(11);
    for (const sql of statements) {
      // The loops of one query, outermost first.
      for (const [parent, loops] of Map.groupBy(steps(sql), (step) => step.parent)) {
        const tables = loops.map(({ detail }) => detail).filter((detail) => /^(SCAN|SEARCH) /.test(detail));
        const inner = tables.slice(1).filter((detail) => detail.includes("VIRTUAL TABLE"));
        expect({ sql, parent, inner }).toEqual({ sql, parent, inner: [] });
      }
    }
  });

  test("finds each session, message and entry by its key", () => {
    const [, recalculate] = restoreSessionsStatements("", "[]");
    expect(plan(recalculate?.sql ?? "").join()).toContain(
      "SEARCH sessions USING INDEX sqlite_autoindex_sessions_1 (id=?)",
    );
    for (const sql of [FIX_ANSWERED, RELINK_REPLIES, LINK_IMPORTED_REPLIES]) {
      expect(plan(sql).join()).toContain("SEARCH inbox USING PRIMARY KEY (agent_id=? AND id=?)");
    }
    expect(plan(DELETE_TAILS).join()).toContain("INDEX messages_session (session_id=? AND rowid>?)");
    expect(plan(SELECT_SIZES_UP_TO).join()).toContain("INDEX messages_session (session_id=? AND rowid>? AND rowid<?)");
  });
});

describe("erasing", () => {
  test("the texts of replies reads only the agent's rows", () => {
    expect(plan(CLEAR_OUTBOX)).toEqual([expect.stringContaining("(agent_id=? AND id>? AND id<?)")]);
    expect(plan(idPageSql("outbox")).join()).toContain("outbox_by_agent (agent_id=? AND id>?)");
  });

  test("sessions reads only those to be deleted", () => {
    const steps = [
      ...CLEAR_SESSIONS.map((sql) => ({ sql, index: "sessions_by_agent (agent_id=? AND platform=?)" })),
      ...[...DELETE_VISITORS, CLOSE_VISITORS].map((sql) => ({ sql, index: "sessions_visitors" })),
      { sql: DELETE_EMPTY, index: "sessions_empty" },
      { sql: WIPE_VISITOR_MESSAGES, index: "inbox_visitors" },
      { sql: DELETE_EMPTIED, index: "sessions_emptied" },
    ];
    for (const { sql, index } of steps) {
      expect(plan(sql).join()).toContain(index);
      expect(plan(sql).join()).not.toMatch(/SCAN (sessions|messages|inbox)|TEMP B-TREE/);
    }
  });
});
