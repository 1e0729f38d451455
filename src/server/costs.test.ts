// Tests what the paths that run most cost the database: statements, and pages of its log. Unlike times, these don't depend on the machine.
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { statSync } from "node:fs";
import { type Client, createClient } from "../../tests/support/client.ts";
import { eventually } from "../../tests/support/eventually.ts";
import { isCostly, planOf } from "../../tests/support/query-plan.ts";
import { openServer, type TestServer } from "../../tests/support/server.ts";
import { startUpstream, type Upstream } from "../../tests/support/upstream.ts";
import { watchStatements } from "../../tests/support/watched-statements.ts";
import { type FakeAccount, startWhatsApp, type WhatsApp } from "../../tests/support/whatsapp.ts";

interface Cost {
  /** Statements that ran, without BEGIN and COMMIT. */
  statements: number;
  /** Pages that were written to the database's log. */
  pages: number;
}

/**
 * What each costs, one at a time, exactly. A change that needs more says in its commit what for; one that needs less lowers the
 * number here, so that it stays low.
 */
const BUDGETS = {
  "a signed-in read": { statements: 0, pages: 0 },
  "a call without a price": { statements: 1, pages: 2 },
  "a call with a price": { statements: 1, pages: 2 },
  "a turn": { statements: 6, pages: 14 },
  "the first turn of a conversation": { statements: 10, pages: 19 },
  "a delivery": { statements: 8, pages: 20 },
} satisfies Record<string, Cost>;

const SAMPLES = 9;
const WAL_HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
const PAGE_BYTES = 4_096;

/** Statements that ran; those of background work among them. */
let ran: string[] = [];
let endWatch: () => void;

let upstream: Upstream;
let whatsapp: WhatsApp;
let server: TestServer;
let owner: Client;
let account: FakeAccount;

beforeAll(async () => {
  endWatch = watchStatements((sql) => ran.push(sql));
  upstream = await startUpstream();
  const webhookAddress = (url: string) => url.replace("https://berth.example", server.web);
  whatsapp = await startWhatsApp({ webhookAddress, statuses: false });
  server = await openServer({
    env: {
      BASE_URL: "https://berth.example",
      SIGNUP_TRIAL: "enterprise:30d",
      CHANNEL_C_API_ROOT: whatsapp.url,
      PROVIDER_3_BASE_URL: upstream.url,
      PROVIDER_5_BASE_URL: upstream.url,
      PROVIDER_5_API_KEY: "sk-test",
      MODEL_A: "provider_3:fake-small",
      AI_PUBLIC_BUDGET_USD_PER_DAY: "1000",
    },
  });
  await server.app.start();
  owner = createClient(server.web);
  await owner.join({ email: "ada@example.com" });
  const { body } = await owner.post<{ agent: { id: string } }>("/api/agents/provision", {
    name: "Harbour",
    config: { channels: { channel_c: { access: "open" } } },
  });
  account = whatsapp.addAccount("EAAtokenOfHarbour", { waba: "102290129340001" });
  const path = `/api/agents/${body.agent.id}/channels/channel_c`;
  const { status } = await owner.put(path, { token: "EAAtokenOfHarbour" });
  expect(status).toBe(200);
});
afterAll(async () => {
  endWatch?.();
  await server?.[Symbol.asyncDispose]();
  await whatsapp?.stop();
  await upstream?.stop();
});

const pagesWritten = () => {
  const bytes = statSync(`${server.kernel.database.file}-wal`).size;
  return (bytes - WAL_HEADER_BYTES) / (PAGE_BYTES + FRAME_HEADER_BYTES);
};

const count = async (sql: string) => Number((await server.kernel.database.read(sql, [])).rows[0]?.[0]);
/** What this test itself asks, to know when the work is over. */
const [COUNT_CALLS, COUNT_SENT] = ["SELECT count(*) FROM usage", "SELECT count(*) FROM outbox WHERE status = 'sent'"];
const LOOKS = [COUNT_CALLS, COUNT_SENT];
const calls = () => count(COUNT_CALLS);
const sent = () => count(COUNT_SENT);

/**
 * The median of some runs, after one that fills the caches. `written` counts the rows by which the work is known to be over:
 * one more after each run.
 */
async function costOf(
  work: () => Promise<unknown>,
  written?: () => Promise<number>,
): Promise<Cost & { sql: string[] }> {
  const samples: (Cost & { sql: string[] })[] = [];
  for (let n = 0; n <= SAMPLES; n++) {
    const rows = await written?.();
    ran = [];
    const before = pagesWritten();
    await work();
    let looks = 0;
    if (written) await eventually(async () => ++looks && (await written()) === Number(rows) + 1, { everyMs: 5 });
    // The look that found the row is a statement, too.
    samples.push({ statements: ran.length - looks, pages: pagesWritten() - before, sql: ran });
  }
  const sorted = samples.slice(1).sort((a, b) => a.statements - b.statements || a.pages - b.pages);
  return sorted[SAMPLES >> 1] ?? { statements: 0, pages: 0, sql: [] };
}

/** That ran for any of them. */
const statements = new Set<string>();

const chat = (model: string) =>
  createClient(server.backend).post("/api/ai/chat", { model, messages: [{ role: "user", content: "Hello" }] });

let made = 0;
const next = (name: string) => `${name}${100 + made++}`;

describe("the database", () => {
  test.each([
    ["a signed-in read", () => owner.get("/api/settings"), undefined],
    ["a call without a price", () => chat("provider_3:fake-small"), calls],
    ["a call with a price", () => chat("provider_5:gpt-4o-mini"), calls],
    ["a turn", () => owner.post("/api/chat", { message: "Hello", topic: "tides" }), calls],
    [
      "the first turn of a conversation",
      () => owner.post("/api/chat", { message: "Hello", topic: next("topic") }),
      calls,
    ],
    ["a delivery", async () => account.says("hello"), sent],
  ] as const)("has little to do for %s", async (name, work, written) => {
    const { sql, ...cost } = await costOf(work, written);
    const budget = BUDGETS[name];
    for (const one of sql) if (!LOOKS.includes(one)) statements.add(one);
    if (cost.statements > budget.statements || cost.pages > budget.pages)
      console.error(`${name} ran:\n${sql.join("\n")}`);
    expect(cost).toEqual(budget);
  });

  test("finds the rows of each of these statements by an index, in order", () => {
    expect(statements.size).toBeGreaterThan(10);
    using planner = new Database(server.kernel.database.file ?? "", { readonly: true });
    const costly = [...statements].flatMap((sql) =>
      planOf(planner, sql)
        .filter(isCostly)
        .map((step) => ({ sql, step })),
    );
    expect(costly).toEqual([]);
  });
});
