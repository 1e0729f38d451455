// Tests the memory store on a file and on a libSQL server: search, bounds, and who sees which facts.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { fileDatabase, serverDatabase, type TestDatabase } from "../../../tests/support/database.ts";
import { insertAgent } from "../../../tests/support/records.ts";
import { config, guestAudience } from "../../../tests/support/skills.ts";
import { createMemoryStore, MAX_FACTS, type MemoryStore, type NewFact } from "./memory-store.ts";

describe.each([
  ["a file", fileDatabase],
  ["a server", serverDatabase],
])("memories on %s", (_name, open) => {
  let kept: TestDatabase;
  let memories: MemoryStore;
  let agentId: string;

  beforeAll(async () => {
    kept = await open();
    memories = createMemoryStore({ database: kept.database, config });
    agentId = await insertAgent(kept.database);
  });
  afterAll(() => kept.remove());

  const remember = (content: string, but: Partial<NewFact> = {}) =>
    memories.remember({ agentId, content, source: "agent", ...but });
  const found = async (text: string, id = agentId) => (await memories.search(id, text, 10)).map((fact) => fact.content);

  test("a fact is found by its words, their prefixes, and without accents", async () => {
    await remember("Ada's café closes at 18:30");
    await remember("The dog is called Bello");
    expect(await found("Café opening hours?")).toEqual(["Ada's café closes at 18:30"]);
    expect((await found("when does the cafe close?"))[0]).toBe("Ada's café closes at 18:30");
    expect(await found("DOGS called what")).toEqual(["The dog is called Bello"]);
    expect(await found("nothing like it")).toEqual([]);
  });

  test("a fact is found in a script without spaces", async () => {
    await remember("我的生日是三月一日");
    expect(await found("生日")).toEqual(["我的生日是三月一日"]);
  });

  test("operators of the search language are plain text", async () => {
    for (const text of ['" OR *', "content:x NEAR(a b)", "agent:", "'; --", "", "𝒳\ud800"]) await found(text);
    expect(await found('"dog" NOT called')).toEqual(["The dog is called Bello"]);
  });

  test("a repeated fact is stored once and becomes the newest", async () => {
    const first = await remember("Tea,   not\ncoffee");
    const second = await remember("tea, not coffee");
    expect(second).toEqual({ id: first.id, known: true });
    const [newest] = await memories.list(agentId);
    expect(newest).toMatchObject({ id: first.id, content: "tea, not coffee" });
    expect(await found("coffee")).toEqual(["tea, not coffee"]);
  });

  test("a forgotten fact is deleted, also from the search index", async () => {
    const { id } = await remember("The gate code is 4711");
    expect(await memories.forget(agentId, id)).toBe(true);
    expect(await memories.forget(agentId, id)).toBe(false);
    expect(await found("gate code")).toEqual([]);
  });

  test("no agent sees another's facts", async () => {
    const other = await insertAgent(kept.database);
    expect(await found("dog tea cafe", other)).toEqual([]);
    const [fact] = await memories.list(agentId);
    expect(await memories.forget(other, fact?.id ?? "")).toBe(false);
  });

  test("guests see facts of their own conversation, the owner sees all", async () => {
    const [mallory, trent] = [guestAudience("7"), guestAudience("8")];
    const { id } = await remember("Mallory collects stamps", { audience: mallory });
    const seen = (audience: typeof mallory) => memories.search(agentId, "stamps dog tea", 10, audience);
    expect((await seen(mallory)).map((fact) => fact.content)).toEqual(["Mallory collects stamps"]);
    expect(await seen(trent)).toEqual([]);
    expect(await found("stamps")).toEqual(["Mallory collects stamps"]);
    expect((await memories.recentFacts(agentId, trent)).facts).toEqual([]);
    expect((await memories.recentFacts(agentId)).facts.map((fact) => fact.content)).not.toContain(
      "Mallory collects stamps",
    );
    expect(await memories.forget(agentId, id, trent)).toBe(false);
    expect(await memories.forget(agentId, id, mallory)).toBe(true);
  });

  test("recent facts follow every change, and are cached where no other process can write", async () => {
    const fresh = await insertAgent(kept.database);
    expect(await memories.recentFacts(fresh)).toEqual({ facts: [], complete: true });
    const { id } = await remember("One", { agentId: fresh });
    const known = await memories.recentFacts(fresh);
    expect(known.facts.map((fact) => fact.content)).toEqual(["One"]);
    expect((await memories.recentFacts(fresh)) === known).toBe(kept.database.file !== undefined);
    await memories.forget(fresh, id);
    expect((await memories.recentFacts(fresh)).facts).toEqual([]);
    await kept.database.write(memories.rememberStatements({ agentId: fresh, content: "Two", source: "compaction" }));
    expect((await memories.recentFacts(fresh)).facts).toMatchObject([{ content: "Two", source: "compaction" }]);
    await kept.database.write([memories.forgetAllStatement(fresh)]);
    expect((await memories.recentFacts(fresh)).facts).toEqual([]);
    expect(await memories.search(fresh, "two", 5)).toEqual([]);
  });

  test("empty and overlong facts are refused; control characters and lone surrogates are replaced", async () => {
    await expect(remember(" \0\n ")).rejects.toMatchObject({ code: "EMPTY_FACT" });
    await expect(remember("x".repeat(2001))).rejects.toMatchObject({ code: "FACT_TOO_LONG" });
    await remember("odd\0\u001b[31m \ud800 text");
    expect((await memories.list(agentId, { limit: 1 }))[0]?.content).toBe("odd [31m \ufffd text");
  });

  test("deleting an agent deletes its entries in the search index", async () => {
    const gone = await insertAgent(kept.database);
    await remember("Xylophone", { agentId: gone });
    await kept.database.write([{ sql: "DELETE FROM agents WHERE id = ?", args: [gone] }]);
    const left = await kept.database.read(
      "SELECT count(*) AS n FROM memories_search WHERE memories_search MATCH 'xylophone'",
    );
    expect(left.rows[0]?.n).toBe(0);
  });
});

describe("a memory that is full", () => {
  let kept: TestDatabase;
  let memories: MemoryStore;
  beforeAll(async () => {
    kept = await fileDatabase();
    memories = createMemoryStore({ database: kept.database, config });
  });
  afterAll(() => kept.remove());

  test("refuses the owner's new facts and keeps the others", async () => {
    const agentId = await insertAgent(kept.database);
    const fact = (n: number) => ({ agentId, content: `Fact ${n}`, source: "agent" as const });
    await kept.database.write(
      Array.from({ length: MAX_FACTS.owner }, (_, n) => memories.rememberStatements(fact(n))).flat(),
    );
    await expect(memories.remember(fact(MAX_FACTS.owner))).rejects.toMatchObject({ status: 409, code: "MEMORY_FULL" });
    expect(await memories.remember(fact(7))).toMatchObject({ known: true });
    const { facts, complete } = await memories.recentFacts(agentId);
    expect(complete).toBe(false);
    expect(facts.length).toBe(40);
    expect(facts[0]?.content).toBe("Fact 7");
  });

  test("drops a guest's oldest facts, never the owner's", async () => {
    const agentId = await insertAgent(kept.database);
    const audience = guestAudience("7");
    await memories.remember({ agentId, content: "Mine", source: "agent" });
    for (let n = 0; n <= MAX_FACTS.person; n++) {
      await memories.remember({ agentId, content: `Guest ${n}`, source: "agent", audience });
    }
    const all = (await memories.list(agentId, { limit: 1000 })).map((fact) => fact.content);
    expect(all.length).toBe(MAX_FACTS.person + 1);
    expect(all).toContain("Mine");
    expect(all).toContain(`Guest ${MAX_FACTS.person}`);
    expect(all).not.toContain("Guest 0");
  });
});

test("VACUUM keeps the search index consistent", async () => {
  const kept = await fileDatabase();
  try {
    const memories = createMemoryStore({ database: kept.database, config });
    const agentId = await insertAgent(kept.database);
    const first = await memories.remember({ agentId, content: "Alpha", source: "agent" });
    await memories.remember({ agentId, content: "Beta", source: "agent" });
    await memories.forget(agentId, first.id);
    await kept.database.read("VACUUM");
    expect((await memories.search(agentId, "beta", 5)).map((fact) => fact.content)).toEqual(["Beta"]);
  } finally {
    await kept.remove();
  }
});
