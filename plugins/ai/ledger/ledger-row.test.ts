// Tests how rows of the ledger become statements: each row once, whoever it belongs to, in few statements.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { fileDatabase, type TestDatabase } from "../../../tests/support/database.ts";
import { insertStatement, insertStatements, type LedgerRow } from "./ledger-row.ts";

let store: TestDatabase;
beforeAll(async () => {
  store = await fileDatabase();
});
afterAll(() => store.remove());

let made = 0;
const FLAGS = [
  [0, 0, 0, 0],
  [1, 0, 0, 0],
  [0, 1, 0, 0],
  [0, 0, 3, 0],
  [0, 0, 0, 1],
] as const;
const row = (kind: "turn" | "api" | "public"): LedgerRow => [
  ...([`row-${String(++made).padStart(6, "0")}`, 1, kind, kind === "public" ? null : "user-1"] as const),
  ...([
    kind === "turn" ? "agent-1" : null,
    "provider_1",
    "model-1",
    1,
    2,
    3,
    4,
    ...(FLAGS[made % FLAGS.length] ?? FLAGS[0]),
  ] as const),
];
const KINDS = ["public", "turn", "api", "public"] as const;
const rowsOf = (count: number) => Array.from({ length: count }, (_, n) => row(KINDS[n % KINDS.length] ?? "api"));

const stored = async () => {
  const { rows } = await store.database.read("SELECT * FROM usage ORDER BY id", []);
  return rows.map((one) => Array.from(one));
};

test("rows of agents, accounts and of nobody are stored as they are, each once", async () => {
  const rows = rowsOf(299);
  await store.database.write(insertStatements(rows));
  await store.database.write(insertStatements(rows));
  for (const one of rows.slice(0, 4)) await store.database.write([insertStatement(one)]);
  expect(await stored()).toEqual(rows.map((one) => [...one]));
});

test.each([1, 7, 95, 199, 200, 255])("%d rows of one kind take at most eight statements", (count) => {
  const one = row("public");
  expect(insertStatements(Array.from({ length: count }, () => one)).length).toBeLessThanOrEqual(8);
});
