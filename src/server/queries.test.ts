// Tests what each read of the API costs the database: how many queries, and that none reads a table or sorts its rows.
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import Libsql from "libsql";
import { type Client, createClient } from "../../tests/support/client.ts";
import { eventually } from "../../tests/support/eventually.ts";
import { openServer, type TestServer } from "../../tests/support/server.ts";

/** Queries of one request, when all that is cached is. A plain read takes one or two. */
const MAX_QUERIES = 4;
const MORE_QUERIES: Readonly<Record<string, number>> = {
  // A page of the first screen: agents, what they wait for, what they cost, their bots.
  "/api/agents/overview": 11,
  "/api/usage": 6,
  "/api/agents/{id}/usage": 5,
  "/api/setup": 7,
  // Messages with what belongs to them: their turns, those that wait or run, and files.
  "/api/agents/{id}/conversations/{conversationId}/messages": 8,
  // Everything of an agent, in pages: two queries for each conversation.
  "/api/agents/{id}/export": 10,
};

/** Statements that may sort or read more than they return, by what they begin with, and why that stays small. */
const SMALL: readonly (readonly [sql: RegExp, why: string])[] = [
  [/from "(linked_accounts|auth_sessions|api_keys|wallets)"/, "an account has few of them"],
  [/FROM connected_apps/, "an account has few of them, and ties are rare"],
  [/FROM (usage_account_days|\(SELECT agent_id, calls)/, "sums of days or months: rows of a year, not of calls"],
  [/FROM usage_days WHERE agent_id/, "sums of days of one agent"],
  [/count\(\*\) AS total FROM agent_logs/, "the log of an agent is trimmed"],
  [/from "memories"/, "an agent's memory has a limit"],
  [/approvals/, "requests are deleted after some time"],
  [/AS page|WITH page|json_each\(\?\d\) AS wanted|IN \(SELECT value FROM json_each\(\?1\)\)/, "rows of one page"],
  [/LIMIT 2000\)/, "the newest entries"],
  [/upload_uses/, "the files of one message, in the order of an index"],
  [/json_group_array\(json_object\(/, "an export is everything"],
  [/AS people FROM/, "all who wrote to one agent, read on a thread of its own"],
  [
    /instance_runs|backup_runs|audit_log|"users"|FROM agents AS a ORDER BY a\.id/,
    "in the order of an index, or counted for admins",
  ],
];

/** A table that is read from end to end, or rows that are sorted. A part with a name in brackets is not a table. */
const COSTS_MORE = /^SCAN (?!json_each|\(|CONSTANT|.* VIRTUAL)|TEMP B-TREE|AUTOMATIC/;
/** All rows of one agent or account, of tables that grow with use. */
const READS_ALL = /^SEARCH (inbox|messages|usage_days|outbox|events)\b.*\((agent_id|user_id)=\?\)$/;
/** Streams never end; the others need what this test has not. */
const NOT_READ = /events|stream|\/live\//;
const CONTROLS = /^(BEGIN|COMMIT|SAVEPOINT|RELEASE|ROLLBACK|PRAGMA)/;

/** The statements that ran since they were last looked at. */
let ran: string[] = [];
const { prepare } = Libsql.prototype;
function watch(this: Libsql.Database, sql: string) {
  const native = prepare.call(this, sql);
  for (const name of ["all", "run"] as const) {
    const method = native[name].bind(native) as (...args: unknown[]) => never;
    native[name] = (...args: unknown[]) => {
      ran.push(sql);
      return method(...args);
    };
  }
  return native;
}

let server: TestServer;
let ada: Client;
let planner: Database;
/** By route. */
const queries = new Map<string, string[]>();

beforeAll(async () => {
  Libsql.prototype.prepare = watch as typeof prepare;
  server = await openServer({ env: { ADMIN_EMAILS: "ada@example.com" } });
  const { database } = server.kernel;
  const { readLong } = database;
  Object.assign(database, {
    readLong(...args: Parameters<typeof readLong>) {
      ran.push(args[0]);
      return readLong(...args);
    },
  });
  planner = new Database(database.file ?? "", { readonly: true });
  ada = createClient(server.web);
  await ada.join({ email: "ada@example.com" });
  await server.app.start();
  const { body } = await ada.post<{ agent: { id: string; subdomain: string } }>("/api/agents/provision", {
    name: "Harbour",
  });
  const { id } = body.agent;
  const sent = await ada.post<{ turnId: string; conversationId: string }>(`/api/agents/${id}/conversations`, {
    message: "Hello",
  });
  await ada.post("/api/chat", { message: "Hello", topic: "tides" });
  const { turnId, conversationId } = sent.body;
  await eventually(async () => (await ada.get(`/api/agents/${id}/turns/${turnId}`)).text.includes('"done"'));
  const parts: Readonly<Record<string, string>> = { id, agentId: id, turnId, conversationId };
  const { paths } = (await ada.get<{ paths: Record<string, Record<string, unknown>> }>("/swagger/json")).body;
  const routes = Object.keys(paths).filter((route) => paths[route]?.get && !NOT_READ.test(route));
  // The costs of the messages are added to the sums now, and not beside one of the reads.
  await ada.get("/api/usage");
  for (const route of [...routes, "/api/chat?topic=tides"]) {
    const path = route.replace(/\{(\w+)\}/g, (_, name: string) => parts[name] ?? "nothing");
    // The first request fills the caches.
    await ada.get(path);
    ran = [];
    await ada.get(path);
    queries.set(
      route,
      ran.filter((sql) => !CONTROLS.test(sql)),
    );
  }
});
afterAll(async () => {
  Libsql.prototype.prepare = prepare;
  planner?.close();
  await server?.[Symbol.asyncDispose]();
});

describe("each read of the API", () => {
  test("was asked for", () => {
    expect(queries.size).toBeGreaterThan(100);
    expect(queries.get("/api/agents/{id}/conversations/{conversationId}/messages")?.length).toBeGreaterThan(2);
  });

  test("takes few queries", () => {
    const many = [...queries]
      .map(([route, found]) => [route, found.length] as const)
      .filter(([route, count]) => count > (MORE_QUERIES[route] ?? MAX_QUERIES));
    expect(many).toEqual([]);
  });

  test("finds its rows by an index, in order", () => {
    const costly = [...queries].flatMap(([route, found]) =>
      found
        .filter((sql) => !SMALL.some(([pattern]) => pattern.test(sql)))
        .flatMap((sql) => planOf(sql).map((step) => ({ route, sql, step })))
        .filter(({ sql, step }) => COSTS_MORE.test(step) || (READS_ALL.test(step) && !isBounded(sql))),
    );
    expect(costly).toEqual([]);
  });

  test("of the list of small ones is still sent", () => {
    const all = [...queries.values()].flat();
    for (const [pattern] of SMALL) expect(all.filter((sql) => pattern.test(sql)).length).toBeGreaterThan(0);
  });
});

const planOf = (sql: string) =>
  planner
    .query<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${sql}`)
    .all()
    .map(({ detail }) => detail);

/** Stops after some rows, in the order of the index. */
const isBounded = (sql: string) =>
  /ORDER BY (i\.)?id(?: DESC)? LIMIT|\bmax\(id\)|\bmin\(id\)/i.test(sql.replace(/"/g, ""));
