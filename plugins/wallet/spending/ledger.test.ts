// Tests which spends count against the daily limit, how long request keys are kept, and which spends a reclaim cancels.

import { Database as Planner } from "bun:sqlite";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { createDrizzle } from "../../../src/kernel/database/drizzle-client.ts";
import { DAY, HOUR } from "../../../src/kernel/util/time.ts";
import { fileDatabase, type TestDatabase } from "../../../tests/support/database.ts";
import { insertUser } from "../../../tests/support/records.ts";
import { createLedger, MAX_OPEN_SPENDS, type NewSpend, type Spend } from "./ledger.ts";
import { createPolicies, DEFAULT_POLICY, type Intent } from "./policy.ts";

const USD = 1_000_000;
const ADDRESS = `0x${"Ab".repeat(20)}`;
const TO = `0x${"cd".repeat(20)}`;

let storage: TestDatabase;
let ledger: ReturnType<typeof createLedger>;
let userId: string;
beforeAll(async () => {
  storage = await fileDatabase();
  ledger = createLedger(storage);
});
beforeEach(async () => {
  userId = crypto.randomUUID();
  const sql = "INSERT INTO wallets (id, user_id, kind, name, address, created_at) VALUES (?1, ?1, 'user', '', ?2, 1)";
  await storage.database.write([{ sql, args: [userId, ADDRESS] }]);
});
afterAll(() => storage?.remove());

const intent = (usd: number, change: Partial<Intent> = {}): Intent => ({
  usd,
  recipient: TO,
  assets: ["0x1"],
  ...change,
});

function reserve(usd: number, change: Partial<NewSpend> = {}): Promise<Spend> {
  return ledger.reserve(newSpend(usd, change), intent(usd), []);
}

/** A spend that waits for approval, as one above the policy's limit does. */
async function reserveWaiting(usd: number): Promise<Spend> {
  const { id } = await reserve(usd);
  await storage.database.write([{ sql: "UPDATE wallet_spends SET state = 'waiting' WHERE id = ?", args: [id] }]);
  const waiting = await ledger.find(id);
  if (!waiting) throw new Error("The spend is gone.");
  return waiting;
}

/** A spend from the user's wallet. */
const newSpend = (usd: number, change: Partial<NewSpend>): NewSpend => ({
  userId,
  walletId: userId,
  requestKey: null,
  requestHash: "a hash",
  kind: "send",
  network: "testnet_chain",
  address: userId,
  asset: "0x1",
  units: String(usd),
  usd,
  amount: "1",
  recipient: TO,
  details: JSON.stringify({ assets: ["0x1"] }),
  plan: "{}",
  ...change,
});

/** Moves the spend `ms` into the past; `settled` is how long ago it was last updated, if not at the same time. */
async function age({ id }: Spend, ms: number, settled = 0): Promise<void> {
  const at = Date.now() - ms;
  const sql = "UPDATE wallet_spends SET created_at = ?, reserved_at = ?, updated_at = ? WHERE id = ?";
  await storage.database.write([{ sql, args: [at, at, settled === 0 ? at : Date.now() - settled, id] }]);
}
const finish = (spend: Spend, state: "confirmed" | "failed") => ledger.finish(spend, { state });
const isWithinPolicy = (usd: number) =>
  ledger.requirePolicy(userId, intent(usd)).then(
    () => true,
    ({ code }: { code: string }) => code !== "POLICY_DENIED",
  );

describe("the daily limit", () => {
  test("counts open spends, however old they are", async () => {
    for (let count = 0; count < 5; count++) await age(await reserve(10 * USD), 40 * HOUR);
    expect(reserve(1)).rejects.toMatchObject({ status: 403, code: "POLICY_DENIED" });
    expect(await isWithinPolicy(1)).toBe(false);
  });

  test("counts spends that were confirmed within 24 hours, whenever they were requested", async () => {
    const [early, late] = [await reserve(10 * USD), await reserve(10 * USD)];
    for (const spend of [early, late]) await finish(spend, "confirmed");
    await age(early, 40 * HOUR, 25 * HOUR);
    await age(late, 40 * HOUR, 23 * HOUR);
    for (let count = 0; count < 4; count++) await reserve(10 * USD);
    expect(reserve(1)).rejects.toMatchObject({ code: "POLICY_DENIED" });
    await age(late, 40 * HOUR, 24 * HOUR);
    await reserve(10 * USD);
    expect(await isWithinPolicy(1)).toBe(false);
  });

  test("counts a waiting spend for 24 hours, and checks it again on approval", async () => {
    const waiting = await reserveWaiting(10 * USD);
    for (let count = 0; count < 4; count++) await reserve(10 * USD);
    expect(await isWithinPolicy(1)).toBe(false);
    await age(waiting, DAY);
    await reserve(10 * USD);
    expect(ledger.approve(waiting, [])).rejects.toMatchObject({ code: "POLICY_DENIED" });
    expect(await ledger.find(waiting.id)).toMatchObject({ state: "waiting" });
  });
});

test.each<[string, object, Partial<Intent>, boolean]>([
  ["a sale of the stablecoin", {}, { recipient: null, trade: { known: true } }, true],
  ["a sale of another token", {}, { recipient: null, trade: { known: false } }, false],
  ["a sale of a listed token", { assets: '["0x1"]' }, { recipient: null, trade: { known: false } }, true],
  ["a sale of an unlisted token", { assets: '["0x2"]' }, { recipient: null, trade: { known: true } }, false],
  ["a sale with a list of recipients", { recipients: "[]" }, { recipient: null, trade: { known: true } }, false],
  [
    "a sale of a listed token, with both lists",
    { recipients: "[]", assets: '["0x1"]' },
    { recipient: null, trade: { known: true } },
    true,
  ],
])(
  "%s, with the policy %j: the check before the write and the one in SQL agree on %j",
  async (_, policy, change, passes) => {
    await insertUser(storage.database, { id: userId });
    const { recipients = null, assets = null } = policy as { recipients?: string; assets?: string };
    const sql = `INSERT INTO wallet_policies (user_id, per_transaction, per_day, recipients, assets, enabled, updated_at)
    VALUES (?, 10000000, 10000000, ?, ?, 1, 1)`;
    await storage.database.write([{ sql, args: [userId, recipients, assets] }]);
    const tradeIntent = intent(USD, change);
    const before = ledger.requirePolicy(userId, tradeIntent).then(
      () => true,
      () => false,
    );
    const write = ledger.reserve(newSpend(USD, { kind: "trade", recipient: null }), tradeIntent, []).then(
      () => true,
      () => false,
    );
    expect([await before, await write]).toEqual([passes, passes]);
  },
);

describe("a request key", () => {
  test("identifies its spend for a day; then it can be reused", async () => {
    const first = await reserve(USD, { requestKey: "invoice" });
    expect((await reserve(USD, { requestKey: "invoice" })).id).toBe(first.id);
    await finish(first, "confirmed");
    await age(first, DAY - HOUR);
    expect((await reserve(USD, { requestKey: "invoice" })).id).toBe(first.id);
    expect(reserve(USD, { requestKey: "invoice", requestHash: "another" })).rejects.toMatchObject({
      status: 409,
      code: "IDEMPOTENCY_MISMATCH",
    });
    await age(first, DAY + 1);
    expect(await ledger.findByRequestKey(userId, "invoice", "another")).toBeUndefined();
    const second = await reserve(USD, { requestKey: "invoice", requestHash: "another" });
    expect(second.id).not.toBe(first.id);
    expect(await ledger.findByRequestKey(userId, "invoice", "another")).toMatchObject({ id: second.id });
  });

  test("identifies its spend as long as that is in progress", async () => {
    const first = await reserve(USD, { requestKey: "slow" });
    await age(first, 3 * DAY);
    expect((await reserve(USD, { requestKey: "slow" })).id).toBe(first.id);
  });

  test("of a turn is kept forever, because a turn may be resumed at any time", async () => {
    const first = await reserve(USD, { requestKey: "turn:1:2" });
    await finish(first, "confirmed");
    await age(first, 30 * DAY);
    expect((await reserve(USD, { requestKey: "turn:1:2" })).id).toBe(first.id);
  });
});

test("pages by their cursor have each spend once, newest first, also when one is reserved meanwhile", async () => {
  const ids: string[] = [];
  for (let n = 0; n < 3; n++) ids.unshift((await reserve(1)).id);
  const [first] = (await ledger.list(userId, { limit: 1 })).spends;
  await reserve(1);
  const { spends, total } = await ledger.list(userId, { limit: 10, cursor: first?.id });
  expect([first?.id, ...spends.map(({ id }) => id)]).toEqual(ids);
  expect(total).toBe(4);
});

test("a wallet has at most a hundred spends in progress, even if many are reserved at once", async () => {
  const answers = await Promise.allSettled(Array.from({ length: MAX_OPEN_SPENDS + 20 }, () => reserve(1)));
  expect(answers.filter(({ status }) => status === "fulfilled")).toHaveLength(MAX_OPEN_SPENDS);
  const refused = answers.find((answer) => answer.status === "rejected");
  expect(refused?.reason).toMatchObject({ status: 409, code: "TOO_MANY_SPENDS" });
});

test("cancelling an account's spends ends those that are not signed yet", async () => {
  const [reserved, waiting, signed] = [await reserve(1), await reserveWaiting(1), await reserve(1)];
  expect(await ledger.recordAuthorization(signed, "{}")).toBe(true);
  await storage.database.write([ledger.cancelStatement(userId)]);
  for (const { id } of [reserved, waiting]) {
    expect(await ledger.find(id)).toMatchObject({ state: "failed", reason: "CANCELLED" });
  }
  expect(await ledger.find(signed.id)).toMatchObject({ state: "signed" });
  expect(await ledger.recordAuthorization(reserved, "{}")).toBe(false);
});

test("a spend requested before a reclaim is refused after it, and a later one is reserved", async () => {
  await insertUser(storage.database, { id: userId });
  const policies = createPolicies(storage);
  await policies.update(userId, { perTransaction: 500 * USD, perDay: 900 * USD, recipients: [] });
  const requestedAt = Date.now() - 1;
  await storage.database.write([policies.resetStatement(userId)]);
  expect(await policies.get(userId)).toEqual(DEFAULT_POLICY);
  const before = ledger.reserve(newSpend(USD, {}), intent(USD, { requestedAt }), []);
  expect(before).rejects.toMatchObject({ status: 403, code: "POLICY_DENIED" });
  await before.catch(() => undefined);
  const after = await ledger.reserve(newSpend(USD, {}), intent(USD, { requestedAt: Date.now() }), []);
  expect(after).toMatchObject({ state: "reserved" });
});

test("open spends and transactions are found by an index", async () => {
  const queries: string[] = [];
  const { database } = storage;
  const read: typeof database.read = (sql, args) => {
    queries.push(sql);
    return database.read(sql, args);
  };
  const observed = { database: { ...database, read, drizzle: createDrizzle({ read, write: database.write }) } };
  const { listOpen, listQueues, pendingUnits, lastActivityAt, nextNonce, openGasCost, findFirstOpenTransaction } =
    createLedger(observed);
  const queue = { network: "testnet_chain", address: userId } as const;
  await Promise.all([
    listOpen(queue),
    listQueues(),
    pendingUnits(queue, "0x1"),
    lastActivityAt(queue),
    nextNonce(queue),
    openGasCost(queue),
  ]);
  await findFirstOpenTransaction(queue);
  expect(queries).toHaveLength(7);
  const planner = new Planner(database.file ?? "");
  for (const sql of queries) {
    // A partial index is used only for a known value: the parameter is replaced by the value that is bound to it.
    const planned = sql.replaceAll(/("open"|open) = \?/g, "open = 1");
    const plan = planner.query<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${planned}`).all();
    for (const { detail } of plan) expect(detail).not.toMatch(/^SCAN wallet_(spends|transactions)$/);
  }
  planner.close();
});

test("spends that count against the daily limit are found by indexes", async () => {
  const { rows } = await storage.database.read(
    `EXPLAIN QUERY PLAN SELECT sum(usd) FROM wallet_spends WHERE user_id = ? AND state IN ('reserved', 'signed', 'sent') AND id <> ?
     UNION ALL SELECT sum(usd) FROM wallet_spends WHERE user_id = ? AND state IN ('waiting', 'confirmed') AND updated_at > ? AND id <> ?`,
    ["", "", "", 0, ""],
  );
  const plan = rows.map(({ detail }) => String(detail)).join("; ");
  expect(plan).toContain("wallet_spends_unsettled");
  expect(plan).toContain("wallet_spends_since");
});
