// Tests what each write of the API costs the database: how many statements run until it is answered, and that none of those on the
// main thread reads a table or sorts its rows. Reads: src/server/queries.test.ts. The requests are those of the API's examples.
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import type { OpenApiDocument } from "../../src/kernel/http/openapi/document.ts";
import { placeMigratedDatabase } from "../support/migrated.ts";
import { temporaryDir } from "../support/process.ts";
import { isCostly, planOf } from "../support/query-plan.ts";
import type { LoggedRequest } from "../support/statement-log.ts";
import { runTour, type TourResult } from "./run-tour.ts";

/** Statements of one request until its answer. */
const MAX_STATEMENTS = 14;
/** Those that take more, and what for. */
const MORE_STATEMENTS: Readonly<Record<string, readonly [count: number, why: string]>> = {
  "POST /api/agents/{id}/rollback": [62, "each table of an agent, and a backup before"],
  "POST /api/instance/{userId}/rollback": [62, "each table of an agent, and a backup before"],
  "DELETE /api/agents/{id}/people/{channel}/{personId}": [50, "each table that knows people"],
  "POST /api/wallet/trade": [43, "two transactions, written down at each of their steps"],
  "POST /api/wallet/pay": [38, "a spend is written down at each of its steps"],
  "POST /api/wallet/send": [32, "a spend is written down at each of its steps"],
  "POST /api/wallet/spends/{id}/approve": [25, "a spend is written down at each of its steps"],
  "POST /api/agents/{id}/repair": [35, "all that may be broken"],
  "POST /api/instance/{userId}/repair": [35, "all that may be broken"],
  "POST /api/provision/claim": [23, "an agent with its costs gets another owner"],
  "POST /api/provision": [18, "an account and an agent"],
  "POST /api/agents/{id}/reset-memory": [21, "a backup, and each table of conversations"],
  "POST /api/instance/{userId}/reset-memory": [15, "a backup, and each table of conversations"],
  "POST /api/agents/{id}/update": [17, "a backup, and a new start"],
  "POST /api/instance/{userId}/update": [17, "a backup, and a new start"],
  "POST /api/agents/import": [17, "an agent with everything in it"],
  "POST /api/deployments": [19, "an agent with its settings, which starts"],
  "POST /api/agents/{id}/deploy": [19, "an agent with its settings, which starts"],
  "POST /a/{subdomain}": [21, "the first turn of a new person's conversation"],
  "POST /a/{subdomain}/messages": [19, "the first turn of a new person's conversation"],
  "POST /api/embed/{agent}/messages": [17, "the first turn of a new person's conversation"],
  "POST /api/agent": [18, "the first turn of a conversation"],
  "POST /api/billing/credits/x402": [15, "a payment, which is read from the chain"],
};
/** Statements of background work that may be counted to a request on a busy machine, such as those of the outbox. */
const OTHERS = 8;
/** Work in the background that begins within a request and may end before its answer: seals of the audit log, transfers of a chain. */
const BACKGROUND = /audit_(chain|seals)|stablecoin_(transfers|progress)/;

/** Statements that may sort or read more than they change, by what they contain, and why that stays small. */
const SMALL: readonly (readonly [sql: RegExp, why: string])[] = [
  [/(from|FROM|UPDATE) "?(users|auth_sessions|api_keys|linked_accounts|wallets)\b/, "an account has few of them"],
  [/installed_skills/, "an account has few of them"],
  [/"sessions"\."last_activity_at"|AS page|LIMIT 1000$/, "one page, in the order of an index"],
  [/inbox_pending|"status" = 'pending'/, "what waits is limited for each agent"],
  [/LIMIT \?2/, "a part, to see whether all is much"],
  [/SELECT total\(octet_length\(/, "after it was seen that it is not much"],
  [/(FROM|from) "?memories/, "an agent's memory has a limit"],
  [/FROM erasures/, "people who were erased, one by one"],
  [/upload_uses/, "the files of some messages"],
  [/_search_idx/, "the parts of an index, a few dozens"],
  [/usage_step|usage_unsummed/, "what was spent since the last request for sums"],
  [/UPDATE usage_days/, "the days of an account that nobody has claimed before"],
  [/AS latest WHERE inbox\.agent_id = latest/, "the messages that are imported"],
  [/credit_cause/, "it has one row"],
  [/wallet_spends|wallet_transactions/, "one transaction, or those that are open"],
  [/auth_links/, "links that are valid for hours"],
];

/** All rows of one agent or account, of tables that grow with use. */
const READS_ALL =
  /^SEARCH (inbox|messages|usage|usage_days|outbox|events|sessions|agent_logs|memories)\b.*\((agent_id|user_id)=\?\)$/;

const folder = temporaryDir();
let tour: TourResult;
let answered: LoggedRequest[];
let planner: Database;

beforeAll(async () => {
  const log = join(folder.path, "statements.jsonl");
  tour = await runTour({
    binary: join(import.meta.dir, "../../src/server/main.ts"),
    env: {
      BERTH_STATEMENT_LOG: log,
      BUN_OPTIONS: `--preload=${join(import.meta.dir, "../support/statement-log.ts")}`,
      // Otherwise the program starts a second time.
      BUN_CONFIG_MAX_HTTP_REQUESTS: "1024",
    },
  });
  const lines = (await Bun.file(log).text()).trim().split("\n");
  const own = (statements: string[]) => statements.filter((sql) => !BACKGROUND.test(sql));
  answered = lines
    .map((line) => JSON.parse(line) as LoggedRequest)
    .filter(({ operation }) => !operation.startsWith("GET "))
    .map((one) => ({ ...one, statements: own(one.statements), elsewhere: own(one.elsewhere) }));
  await placeMigratedDatabase(folder.path);
  planner = new Database(join(folder.path, "berth.db"), { readonly: true });
}, 180_000);
afterAll(() => {
  planner?.close();
  folder.remove();
});

const writesOf = ({ paths }: OpenApiDocument): string[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([method, { responses }]) => method !== "get" && !responses?.[101])
      .map(([method]) => `${method.toUpperCase()} ${path}`),
  );

describe("each write of the API", () => {
  test("was asked for, and done", () => {
    const known = new Set(answered.filter(({ status }) => status < 400).map(({ operation }) => operation));
    const wanted = [...writesOf(tour.documents.web), ...writesOf(tour.documents.backend)];
    expect(wanted.length).toBeGreaterThan(200);
    expect(wanted.filter((operation) => !known.has(operation))).toEqual([]);
  });

  test("takes few statements", () => {
    const most = new Map<string, number>();
    for (const { operation, status, statements, elsewhere } of answered) {
      if (status >= 400) continue;
      most.set(operation, Math.max(most.get(operation) ?? 0, statements.length + elsewhere.length));
    }
    expect(most.get("POST /api/agents/provision") ?? 0).toBeGreaterThan(2);
    const many = [...most].filter(
      ([operation, count]) => count > (MORE_STATEMENTS[operation]?.[0] ?? MAX_STATEMENTS) + OTHERS,
    );
    expect(many).toEqual([]);
    expect(Object.keys(MORE_STATEMENTS).filter((operation) => !most.has(operation))).toEqual([]);
  });

  test("finds its rows by an index, in order, as far as it is done on the main thread", () => {
    const costly = new Map<string, { operation: string; steps: string[] }>();
    for (const { operation, statements } of answered) {
      for (const sql of statements) {
        if (SMALL.some(([pattern]) => pattern.test(sql))) continue;
        const steps = planOf(planner, sql).filter((step) => isCostly(step) || READS_ALL.test(step));
        if (steps.length > 0) costly.set(sql, { operation, steps });
      }
    }
    expect([...costly]).toEqual([]);
  });

  test("of the list of small ones is still sent", () => {
    const all = answered.flatMap(({ statements }) => statements);
    expect(SMALL.filter(([pattern]) => !all.some((sql) => pattern.test(sql)))).toEqual([]);
  });
});
