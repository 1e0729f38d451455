// Stored responses: who finds them, for how long, and how a conversation is read back.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { deleteInBatches } from "../../../src/kernel/retention/deletion.ts";
import { DAY, HOUR } from "../../../src/kernel/util/time.ts";
import { openPluginHost, type PluginHost } from "../../../tests/support/plugin-host.ts";
import { insertUser } from "../../../tests/support/records.ts";
import type { StoredResponse } from "./response-keeper.ts";
import { KEPT_MS, responsesKind } from "./responses-retention.ts";
import { createStoredResponses } from "./stored-responses.ts";

let opened: PluginHost;
let at = Date.UTC(2026, 0, 1);
const stored = () => createStoredResponses({ database: opened.kernel.database, now: () => at });
beforeAll(async () => {
  opened = await openPluginHost();
  for (const id of ["ada", "bob", "many", "large"]) await insertUser(opened.kernel.database, { id });
});
afterAll(() => opened?.[Symbol.asyncDispose]());

const responseOf = (id: string, more: Partial<StoredResponse> = {}): StoredResponse => ({
  id,
  rootId: id,
  previousId: undefined,
  source: undefined,
  state: undefined,
  input: [{ type: "message", role: "user", content: `to ${id}` }],
  response: { id, output: [{ id: `msg_${id}`, type: "message" }] },
  ...more,
});
const follow = (id: string, previousId: string, rootId: string) => responseOf(id, { previousId, rootId });
const count = async (userId: string) => {
  const { rows } = await opened.kernel.database.read("SELECT count(*) AS n FROM api_responses WHERE user_id = ?", [
    userId,
  ]);
  return Number(rows[0]?.n);
};

describe("a response", () => {
  test("is found by its owner alone, as it was", async () => {
    const keeper = stored();
    const one = responseOf("own", { source: "agent:", state: "session-1" });
    await keeper.save("ada", one);
    expect(await keeper.find("ada", "own")).toEqual(one);
    expect(await keeper.find("bob", "own")).toBeUndefined();
    expect(await keeper.find(undefined, "own")).toBeUndefined();
    expect(await keeper.remove("bob", "own")).toBe(false);
    expect(await keeper.remove("ada", "own")).toBe(true);
    expect(await keeper.find("ada", "own")).toBeUndefined();
  });

  test("is kept for 30 days after it was continued for the last time, with those before it", async () => {
    const keeper = stored();
    await keeper.save("ada", responseOf("first"));
    await keeper.save("ada", responseOf("alone"));
    at += 20 * DAY;
    await keeper.save("ada", follow("second", "first", "first"));
    at += 20 * DAY;
    expect((await keeper.chain("ada", "second")).map(({ id }) => id)).toEqual(["first", "second"]);
    expect(await keeper.find("ada", "alone")).toBeUndefined();
    const { steps } = responsesKind(opened.kernel.database);
    await deleteInBatches(steps, at - KEPT_MS);
    expect(await count("ada")).toBe(2);
    at += 11 * DAY;
    await deleteInBatches(steps, at - KEPT_MS);
    expect(await count("ada")).toBe(0);
  });

  test("goes with its account", async () => {
    await stored().save("bob", responseOf("bobs"));
    await opened.kernel.database.write([{ sql: "DELETE FROM users WHERE id = ?", args: ["bob"] }]);
    expect(await count("bob")).toBe(0);
  });
});

describe("a conversation", () => {
  test("can branch", async () => {
    const keeper = stored();
    await keeper.save("ada", responseOf("a"));
    await keeper.save("ada", follow("b1", "a", "a"));
    await keeper.save("ada", follow("b2", "a", "a"));
    expect((await keeper.chain("ada", "b2")).map(({ id }) => id)).toEqual(["a", "b2"]);
  });

  test("without one of its responses can't be continued, nor can one that is too long", async () => {
    const keeper = stored();
    await keeper.save("ada", responseOf("x"));
    await keeper.save("ada", follow("y", "x", "x"));
    await keeper.remove("ada", "x");
    const refusal = { status: 400, code: "PREVIOUS_RESPONSE_NOT_FOUND" };
    await expect(keeper.chain("ada", "y")).rejects.toMatchObject(refusal);
    await expect(keeper.chain("ada", "unknown")).rejects.toMatchObject(refusal);
    const input = [{ content: "x".repeat(3 * 1024 * 1024) }];
    await keeper.save("ada", responseOf("big", { input }));
    await keeper.save("ada", { ...follow("bigger", "big", "big"), input });
    expect(await keeper.chain("ada", "big")).toHaveLength(1);
    await expect(keeper.chain("ada", "bigger")).rejects.toMatchObject(refusal);
  });
});

describe("an account", () => {
  test("keeps its newest 2,000", async () => {
    const keeper = stored();
    const { database } = opened.kernel;
    const older = Array.from({ length: 2_000 }, (_, n) => ({
      sql: `INSERT INTO api_responses (id, user_id, root_id, input, response, bytes, created_at, expires_at)
        VALUES (?, 'many', '', '[]', '{}', 4, ?, ?)`,
      args: [`old-${n}`, at - 10_000 + n, at + DAY],
    }));
    await database.write(older);
    for (let n = 0; n < 16; n++) await keeper.save("many", responseOf(`new-${n}`));
    expect(await count("many")).toBe(2_000);
    expect(await keeper.find("many", "old-0")).toBeUndefined();
    expect(await keeper.find("many", "new-0")).toBeDefined();
  });

  test("keeps 64 MiB", async () => {
    const keeper = stored();
    const input = [{ content: "x".repeat(5 * 1024 * 1024) }];
    for (let n = 0; n < 16; n++) {
      at += 1;
      await keeper.save("large", responseOf(`large-${n}`, { input }));
    }
    expect(await count("large")).toBe(12);
    expect(await keeper.find("large", "large-15")).toBeDefined();
  });
});

describe("without an account", () => {
  test("whoever knows the id finds it, for an hour", async () => {
    const keeper = stored();
    await keeper.save(undefined, responseOf("open"));
    await keeper.save(undefined, follow("next", "open", "open"));
    expect((await keeper.chain(undefined, "next")).map(({ id }) => id)).toEqual(["open", "next"]);
    expect(await keeper.find("ada", "open")).toBeUndefined();
    at += HOUR + 1;
    expect(await keeper.find(undefined, "open")).toBeUndefined();
    await expect(keeper.chain(undefined, "next")).rejects.toMatchObject({ code: "PREVIOUS_RESPONSE_NOT_FOUND" });
  });

  test("the oldest go when they are too many, and a large one is not kept", async () => {
    const keeper = stored();
    const input = [{ content: "x".repeat(1024 * 1024) }];
    for (let n = 0; n < 20; n++) await keeper.save(undefined, responseOf(`open-${n}`, { input }));
    expect(await keeper.find(undefined, "open-0")).toBeUndefined();
    expect(await keeper.find(undefined, "open-19")).toBeDefined();
    await keeper.save(undefined, responseOf("too-large", { input: [...input, ...input, ...input] }));
    expect(await keeper.find(undefined, "too-large")).toBeUndefined();
  });
});
