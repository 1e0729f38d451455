// Tests pairings over a database file: races with removal, and the cost of many strangers.
import { afterEach, beforeEach, expect, setSystemTime, test } from "bun:test";
import { createDrizzle } from "../../../src/kernel/database/drizzle-client.ts";
import { HOUR } from "../../../src/kernel/util/time.ts";
import { fileDatabase, type TestDatabase } from "../../../tests/support/database.ts";
import { insertAgent } from "../../../tests/support/records.ts";
import { createPairings } from "./pairings.ts";

let store: TestDatabase;
let agentId: string;
beforeEach(async () => {
  store = await fileDatabase();
  agentId = await insertAgent(store.database);
  const sql = `INSERT INTO channel_connections
    (agent_id, channel, bot_id, bot_username, token_digest, callback_id, callback_secret, created_at)
    VALUES (?, 'channel_a', '1', 'harbour_bot', 'digest', 'callback', 'sealed', 1)`;
  await store.database.write([{ sql, args: [agentId] }]);
});
afterEach(() => store.remove());

const from = (id: string) => ({ sender: { id, name: "Ada" }, peer: id });

test("a sender who is removed during a lookup is not approved afterwards", async () => {
  const { database } = store;
  const looked = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<void>();
  const read: typeof database.read = async (...query) => {
    const result = await database.read(...query);
    looked.resolve();
    await answered.promise;
    return result;
  };
  const code = await createPairings(store).requestCode(agentId, "channel_a", from("7"));
  const drizzle = createDrizzle({ read, write: database.write });
  const pairings = createPairings({ database: { ...database, drizzle } });
  await pairings.approve(agentId, "channel_a", code ?? "", false);
  const asked = pairings.isApproved(agentId, "channel_a", "7");
  await looked.promise;
  expect(await pairings.remove(agentId, "channel_a", "7")).toEqual({ name: "Ada" });
  answered.resolve();
  await asked;
  expect(await pairings.isApproved(agentId, "channel_a", "7")).toBe(false);
});

test("a code works once, however many approvals arrive at once; as owner it makes one", async () => {
  const pairings = createPairings(store);
  const [first = "", second = ""] = [
    await pairings.requestCode(agentId, "channel_a", from("7")),
    await pairings.requestCode(agentId, "channel_a", from("8")),
  ];
  const approvals = await Promise.all(
    [first, second].flatMap((code) =>
      Array.from({ length: 10 }, (_, n) => pairings.approve(agentId, "channel_a", code, n % 2 === 0)),
    ),
  );
  const approved = approvals.filter((one) => one !== undefined).map(({ senderId }) => senderId);
  expect(approved.toSorted()).toEqual(["7", "8"]);
  const { rows } = await store.database.read("SELECT owner_id FROM channel_connections WHERE agent_id = ?", [agentId]);
  expect(["7", "8"]).toContain(String(rows[0]?.owner_id));
  expect(await pairings.listPending(agentId, "channel_a")).toEqual([]);
});

test("an approval and a denial at once: one of them holds, the code is used up", async () => {
  const pairings = createPairings(store);
  for (let n = 0; n < 10; n++) {
    const id = String(n);
    const code = (await pairings.requestCode(agentId, "channel_a", from(id))) ?? "";
    const [pairing] = await pairings.listPending(agentId, "channel_a", code);
    if (!pairing) throw new Error("The code is not listed.");
    const { write } = store.database;
    const deny = () => write([pairings.denyStatement(pairing, () => undefined)]);
    const approve = () => write([pairings.approveStatement(pairing, () => undefined)]);
    await Promise.all(n % 2 === 0 ? [approve(), deny()] : [deny(), approve()]);
    expect(await pairings.isApproved(agentId, "channel_a", id)).toBe(n % 2 === 0);
    expect(await pairings.approve(agentId, "channel_a", code, true)).toBeUndefined();
  }
});

test("a code is worth nothing at another agent, on another channel, or after an hour", async () => {
  const pairings = createPairings(store);
  const other = await insertAgent(store.database);
  const code = (await pairings.requestCode(agentId, "channel_a", from("7"))) ?? "";
  expect(await pairings.approve(other, "channel_a", code, true)).toBeUndefined();
  expect(await pairings.approve(agentId, "channel_b", code, true)).toBeUndefined();
  try {
    setSystemTime(Date.now() + HOUR + 1);
    expect(await pairings.approve(agentId, "channel_a", code, true)).toBeUndefined();
  } finally {
    setSystemTime();
  }
  expect(await pairings.isApproved(agentId, "channel_a", "7")).toBe(false);
});

test("strangers beyond the limit cost no write, and neither does a repeated request", async () => {
  let writes = 0;
  const write: TestDatabase["database"]["write"] = (statements) => {
    writes += 1;
    return store.database.write(statements);
  };
  const pairings = createPairings({ database: { ...store.database, write } });
  const codes: (string | undefined)[] = [];
  for (let n = 0; n < 300; n++) codes.push(await pairings.requestCode(agentId, "channel_a", from(String(n))));
  expect(codes.filter((code) => code !== undefined)).toHaveLength(100);
  expect(writes).toBe(100);
  await pairings.withdrawCode(agentId, "channel_a", "0");
  expect(await pairings.requestCode(agentId, "channel_a", from("1"))).toBeUndefined();
  expect(writes).toBe(101);
  expect(await pairings.requestCode(agentId, "channel_a", from("300"))).toBeString();
});
