// Tests that lists of models survive a restart, for the address they came from, without more writes than changes.
import { afterEach, beforeEach, describe, expect, setSystemTime, test } from "bun:test";
import { fileDatabase, silent, type TestDatabase } from "../../../../tests/support/database.ts";
import { demoFetch } from "../../demo/demo-provider.ts";
import type { Upstream } from "../providers.ts";
import { builtInProviders, defaultProvider } from "../registry.ts";
import { createKeptLists } from "./kept-lists.ts";

const DAY = 86_400_000;
const models = [{ id: "maker/one", contextWindow: 8_000, pricing: { input: 1_000_000, output: 2_000_000 } }];

let store: TestDatabase;
let writes: number;
beforeEach(async () => {
  store = await fileDatabase();
  writes = 0;
});
afterEach(async () => {
  setSystemTime();
  await store.remove();
});

const upstreamAt = (baseUrl: string, definition = defaultProvider): Upstream => ({
  provider: definition.id,
  definition,
  label: definition.label,
  baseUrl,
  apiKey: "k",
  demo: false,
  local: false,
  fetch: demoFetch,
});
const upstream = upstreamAt("http://ann:secret@127.0.0.1/v1");

/** As after a start. */
async function open() {
  const { read, write } = store.database;
  const database = {
    read,
    write(statements: Parameters<typeof write>[0]) {
      writes++;
      return write(statements);
    },
  };
  const kept = createKeptLists({ database, log: silent });
  await kept.load();
  return kept;
}
/** A later write has waited for this one. */
const written = () => store.database.write([{ sql: "DELETE FROM model_lists WHERE false", args: [] }]);

describe("a kept list", () => {
  test("is read once after a restart, for the same address only", async () => {
    (await open()).save(upstream, models);
    await written();
    const kept = await open();
    expect(kept.of(upstream)).toEqual({ models, fetchedAt: expect.any(Number) });
    expect(kept.of(upstream)).toBeUndefined();
    expect((await open()).of(upstreamAt("http://127.0.0.1/other"))).toBeUndefined();
    const [, second = defaultProvider] = builtInProviders;
    expect((await open()).of(upstreamAt(upstream.baseUrl, second))).toBeUndefined();
  });

  test("does not contain the address or the key", async () => {
    (await open()).save(upstream, models);
    await written();
    const { rows } = await store.database.read("SELECT * FROM model_lists");
    expect(rows).toHaveLength(1);
    expect(JSON.stringify(rows)).not.toContain("127.0.0.1");
    expect(JSON.stringify(rows)).not.toContain("secret");
  });

  test("is not relied on after a week", async () => {
    (await open()).save(upstream, models);
    await written();
    setSystemTime(Date.now() + 7 * DAY - 1_000);
    expect((await open()).of(upstream)).toBeDefined();
    setSystemTime(Date.now() + 2_000);
    expect((await open()).of(upstream)).toBeUndefined();
  });

  test("is written when it changes, and once a day, so that its age is known", async () => {
    const kept = await open();
    for (let n = 0; n < 3; n++) kept.save(upstream, models);
    expect(writes).toBe(1);
    await written();
    const again = await open();
    again.of(upstream);
    again.save(upstream, models);
    expect(writes).toBe(1);
    again.save(upstream, []);
    expect(writes).toBe(2);
    setSystemTime(Date.now() + DAY);
    again.save(upstream, []);
    expect(writes).toBe(3);
    await written();
  });

  test("that can't be read is left out", async () => {
    const sql = "INSERT INTO model_lists (provider, source, models, fetched_at) VALUES (?, 'x', '[{', 1)";
    await store.database.write([{ sql, args: [upstream.provider] }]);
    expect((await open()).of(upstream)).toBeUndefined();
  });
});
