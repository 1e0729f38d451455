// Tests the facts of summaries: how they are read, that each is stored once, and that they stay in their conversation.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { fileDatabase, type TestDatabase } from "../../../tests/support/database.ts";
import { insertAgent } from "../../../tests/support/records.ts";
import { config, guestAudience } from "../../../tests/support/skills.ts";
import { TAINT } from "../taint.ts";
import { rememberExtracted, splitFacts } from "./extracted-facts.ts";
import { createMemoryStore, type MemoryStore } from "./memory-store.ts";

describe("the answer of a model", () => {
  test("is a summary and facts with their kinds", () => {
    const answer =
      "They planned a trip.\n\n**FACTS**\n- user: Ada is allergic to nuts.\n2. Person: Bob lives in Graz.\nworld: The ferry leaves at nine.\n";
    expect(splitFacts(answer)).toEqual({
      summary: "They planned a trip.",
      facts: [
        { kind: "owner", text: "Ada is allergic to nuts." },
        { kind: "person", text: "Bob lives in Graz." },
        { kind: "world", text: "The ferry leaves at nine." },
      ],
    });
  });

  test("without facts is the summary alone; lines that are none, too short or too long are left out", () => {
    expect(splitFacts("The facts are clear.")).toEqual({ summary: "The facts are clear.", facts: [] });
    const noise = `Sum.\nFACTS\nnone\nuser: ok\nuser: ${"x".repeat(500)}\nhere are more:\n`;
    expect(splitFacts(noise)).toEqual({ summary: "Sum.", facts: [] });
    const many = Array.from({ length: 50 }, (_, n) => `user: Fact number ${n} of many.`).join("\n");
    expect(splitFacts(`Sum.\nFACTS:\n${many}`).facts).toHaveLength(10);
  });
});

describe("extracted facts", () => {
  let kept: TestDatabase;
  let memories: MemoryStore;
  let agentId: string;
  const owner = { byOwner: true, platform: "web", peer: "owner" };
  const keep = (text: string, audience = owner, taint: 0 | 1 | 2 = TAINT.none) =>
    rememberExtracted(memories, { agentId, audience, taint, turnId: "turn-1" }, [{ kind: "owner", text }]);

  beforeAll(async () => {
    kept = await fileDatabase();
    memories = createMemoryStore({ database: kept.database, config });
    agentId = await insertAgent(kept.database);
  });
  afterAll(() => kept.remove());

  test("are stored with their turn, once, also in other words", async () => {
    expect(await keep("Ada drinks green tea every morning.")).toBe(1);
    expect(await keep("Ada drinks green tea every morning.")).toBe(0);
    expect(await keep("every morning, Ada drinks green tea")).toBe(0);
    expect(await keep("Ada drinks black coffee every evening.")).toBe(1);
    const [fact] = await memories.search(agentId, "green tea", 1);
    expect(fact).toMatchObject({ source: "compaction", turnId: "turn-1", kind: "owner", circle: "" });
  });

  test("of one person are known in that person's conversation alone, with the taint of their messages", async () => {
    const [bob, eve] = [guestAudience("bob"), guestAudience("eve")];
    expect(await keep("I will propose to Eve in June.", bob, TAINT.people)).toBe(1);
    expect(await memories.search(agentId, "propose June", 5, eve)).toEqual([]);
    expect((await memories.recentFacts(agentId, eve)).facts).toEqual([]);
    expect((await memories.search(agentId, "propose June", 5, bob))[0]).toMatchObject({
      circle: "channel_a:bob",
      kind: "person",
      taint: TAINT.people,
    });
    // What Bob said is no reason to leave out what Eve says.
    expect(await keep("I will propose to Eve in June.", eve, TAINT.people)).toBe(1);
  });
});
