// Tests what each read of the API costs the database: how many queries, and that none reads a table or sorts its rows.
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Client, createClient } from "../../tests/support/client.ts";
import { isCostly, planOf } from "../../tests/support/query-plan.ts";
import { makeReadTargets } from "../../tests/support/read-targets.ts";
import { openServer, type TestServer } from "../../tests/support/server.ts";
import { startUpstream, type Upstream } from "../../tests/support/upstream.ts";
import { watchStatements } from "../../tests/support/watched-statements.ts";
import { startWhatsApp, type WhatsApp } from "../../tests/support/whatsapp.ts";

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
  // Everything of a person, from each table that knows people, and an entry of the audit log.
  "/api/agents/{id}/people/{channel}/{personId}/export": 19,
};

/** Statements that may sort or read more than they return, by what they begin with, and why that stays small. */
const SMALL: readonly (readonly [sql: RegExp, why: string])[] = [
  [/from "(linked_accounts|auth_sessions|api_keys|wallets)"/, "an account has few of them"],
  [/FROM connected_apps/, "an account has few of them, and ties are rare"],
  [/FROM (usage_account_days|\(SELECT agent_id, calls)/, "sums of days or months: rows of a year, not of calls"],
  [/FROM usage_days WHERE agent_id/, "sums of days of one agent"],
  [/count\(\*\) AS total FROM agent_logs/, "the log of an agent is trimmed"],
  [/from "memories"/, "an agent's memory has a limit"],
  [/(from|FROM|JOIN) "?approvals/, "requests are deleted after some time"],
  [/from "pairings"/, "people whom an owner let in, one by one"],
  [/WITH best AS MATERIALIZED/, "the best passages of a search, at most 60"],
  [
    /FROM inbox WHERE agent_id = \?\d AND platform = \?\d AND sender_id/,
    "all of a person, read on a thread of its own",
  ],
  [/AS page|WITH page|json_each\(\?\d\) AS wanted|IN \(SELECT value FROM json_each\(\?1\)\)/, "rows of one page"],
  [/LIMIT 2000\)/, "the newest entries"],
  [/upload_uses/, "the files of one message, in the order of an index"],
  [/json_group_array\(json_object\(/, "an export is everything"],
  [/AS people FROM/, "all who wrote to one agent, read on a thread of its own"],
  [
    /(from|FROM) ("?(instance_runs|backup_runs|audit_log|users)\b|agents AS a ORDER BY a\.id)/,
    "in the order of an index, or counted for admins",
  ],
];

/** All rows of one agent or account, of tables that grow with use. */
const READS_ALL =
  /^SEARCH (inbox|messages|usage|usage_days|outbox|events|sessions|agent_logs|memories)\b.*\((agent_id|user_id)=\?\)$/;
/** Streams never end; the others need what this test has not. */
const NOT_READ = /\/events$|\{chatId\}\/stream$|\/live\//;
/** Entries of the audit log are sealed after the request that made them. */
const SEALS = /audit_(chain|seals)/;

/** Routes that this service answers otherwise, and why. A parameter for which it has no value counts as 404. */
const OTHER_ANSWERS: Readonly<Record<string, readonly [status: number, why: string]>> = {
  "/readyz": [503, "its worker is left out"],
  "/hooks/{channel}": [401, "a platform's app verifies its address"],
  "/hooks/{channel}/{callbackId}": [404, "a platform verifies a bot's address"],
  "/api/auth/oauth/{provider}": [404, "no provider of sign-ins"],
  "/api/auth/callback/{provider}": [404, "no provider of sign-ins"],
  "/api/auth/token-gating/verify": [400, "no chain"],
  "/api/wallets/{address}": [404, "no chain"],
  "/api/mcp/callback": [404, "no server of tools"],
  "/api/agents/{id}/chat/{chatId}": [404, "the stream of a turn that runs"],
  "/api/agents/{id}/stream": [404, "no live stream"],
  "/api/billing/invoices": [404, "no billing"],
  "/api/admin/backups/{name}/file": [404, "the database counts as one on a server"],
  "/agent/{id}": [404, "a WebSocket"],
};

/** The statements that ran since they were last looked at. */
let ran: string[] = [];
let endWatch: () => void;

let upstream: Upstream;
let whatsapp: WhatsApp;
let server: TestServer;
let ada: Client;
let planner: Database;
/** By route. */
const queries = new Map<string, string[]>();
/** By route: the status of the answer whose queries are counted. */
const statuses = new Map<string, number>();

beforeAll(async () => {
  endWatch = watchStatements((sql) => ran.push(sql));
  upstream = await startUpstream();
  const webhookAddress = (url: string) => url.replace("https://berth.example", server.web);
  whatsapp = await startWhatsApp({ webhookAddress, statuses: false });
  server = await openServer({
    env: {
      ADMIN_EMAILS: "ada@example.com",
      BASE_URL: "https://berth.example",
      SIGNUP_TRIAL: "enterprise:30d",
      CHANNEL_C_API_ROOT: whatsapp.url,
      PROVIDER_3_BASE_URL: upstream.url,
      MODEL_A: "provider_3:fake-small",
    },
  });
  const { database } = server.kernel;
  planner = new Database(database.file ?? "", { readonly: true });
  ada = createClient(server.web);
  const userId = await ada.join({ email: "ada@example.com" });
  // Admins of a public address have a verified one.
  await database.write([server.app.accounts.users.updateStatement(userId, { emailVerified: true })]);
  await server.app.start();
  const targets = await makeReadTargets(ada, server, whatsapp);
  const { paths } = (await ada.get<{ paths: Record<string, Record<string, unknown>> }>("/swagger/json")).body;
  const routes = Object.keys(paths).filter((route) => paths[route]?.get && !NOT_READ.test(route));
  // The costs of the messages are added to the sums now, and not beside one of the reads.
  await ada.get("/api/usage");
  for (const route of [...routes, "/api/chat?topic=tides"]) {
    const path = targets.pathOf(route);
    if (path === undefined) {
      statuses.set(route, 404);
      continue;
    }
    const headers = targets.headersOf(route);
    // The first request fills the caches.
    await ada.get(path, { headers });
    ran = [];
    statuses.set(route, (await ada.get(path, { headers })).status);
    queries.set(
      route,
      ran.filter((sql) => !SEALS.test(sql)),
    );
  }
});
afterAll(async () => {
  endWatch?.();
  planner?.close();
  await server?.[Symbol.asyncDispose]();
  await whatsapp?.stop();
  await upstream?.stop();
});

describe("each read of the API", () => {
  test("was asked for", () => {
    expect(queries.size).toBeGreaterThan(100);
    expect(queries.get("/api/agents/{id}/conversations/{conversationId}/messages")?.length).toBeGreaterThan(2);
  });

  test("was answered, so that what is counted is what it costs", () => {
    const others = [...statuses].filter(([route, status]) => status !== (OTHER_ANSWERS[route]?.[0] ?? 200));
    expect(others).toEqual([]);
    expect(Object.keys(OTHER_ANSWERS).filter((route) => !statuses.has(route))).toEqual([]);
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
        .flatMap((sql) => planOf(planner, sql).map((step) => ({ route, sql, step })))
        .filter(({ sql, step }) => isCostly(step) || (READS_ALL.test(step) && !isBounded(sql))),
    );
    expect(costly).toEqual([]);
  });

  test("of the list of small ones is still sent", () => {
    const all = [...queries.values()].flat();
    expect(SMALL.filter(([pattern]) => !all.some((sql) => pattern.test(sql)))).toEqual([]);
  });
});

/** Stops after some rows, in the order of the index. */
const isBounded = (sql: string) =>
  /ORDER BY (i\.)?id(?: DESC)? LIMIT|ORDER BY (sessions\.)?last_activity_at DESC LIMIT|\bmax\(id\)|\bmin\(id\)/i.test(
    sql.replace(/"/g, ""),
  );
