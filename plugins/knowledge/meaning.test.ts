// Tests the search by meaning over the whole application: files, facts, a model that fails, and who pays.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eventually } from "../../tests/support/eventually.ts";
import { startMeanings } from "../../tests/support/meaning.ts";
import { type InteractionFixture, openInteractionFixture } from "../interaction/support.test.ts";
import { filesOf } from "./support.test.ts";

let meanings: ReturnType<typeof startMeanings>;
let fixture: InteractionFixture;
let ada: Awaited<ReturnType<InteractionFixture["member"]>>;
let agentId: string;
beforeAll(async () => {
  meanings = startMeanings();
  fixture = await openInteractionFixture({
    PROVIDER_3_BASE_URL: `${meanings.url}v1`,
    EMBEDDING_MODEL: "provider_3:meaning",
    OUTBOUND_ALLOW: "127.0.0.1/32",
  });
  ada = await fixture.member();
  agentId = await fixture.provision(ada);
});
afterAll(async () => {
  await fixture?.[Symbol.asyncDispose]();
  await meanings?.stop(true);
});

const vectors = async (table: string) =>
  Number((await fixture.rows(`SELECT count(*) AS n FROM ${table} WHERE agent_id = ?`, agentId))[0]?.n);

describe("with an embedding model", () => {
  test("a passage is found that says it in other words, and goes with its vector", async () => {
    const files = filesOf(fixture.origin, ada, agentId);
    const { id } = await files.learn(
      ["Physicians see patients on Monday.", "The kiosk sells newspapers.", "Bicycles stay outside."].join(
        `\n\n${"filler ".repeat(140)}\n\n`,
      ),
      "rules.txt",
    );
    await eventually(async () => (await vectors("knowledge_vectors")) === (await files.one(id)).chunks);
    const [first] = await files.search("doctor appointment");
    expect(first?.text).toContain("Physicians");
    expect((await files.search("kiosk newspapers"))[0]?.text).toContain("kiosk");
    await ada.delete(`${files.path}/${id}`);
    await eventually(async () => (await vectors("knowledge_vectors")) === 0);
  });

  test("a fact is recalled in other words, by its own people alone, and a corrected one gets a new vector", async () => {
    const path = `/api/agents/${agentId}/memories`;
    const { body } = await ada.post<{ memory: { id: string } }>(path, { text: "Ada is fond of jogging." });
    await ada.post(path, { text: "Bob enjoys swimming.", about: "channel_a:bob" });
    await eventually(async () => (await vectors("memory_vectors")) === 2);
    const recall = async (query: string, who: object) => {
      const results: string[] = [];
      fixture.upstream.script(({ toolResults }) => {
        results.push(...toolResults.map(({ content }) => content));
        return results.length === 0 ? { toolCalls: [{ name: "recall", arguments: { query } }] } : "There.";
      });
      await ada.post("/api/agent", { action: "chat", agentId, message: "?", ...who });
      return results.join("\n");
    };
    expect(await recall("favourite exercise", {})).toContain("fond of jogging");
    const memories = fixture.skills.memories;
    const guest = { byOwner: false, platform: "channel_a", peer: "bob" };
    const found = await memories.recall(agentId, ada.userId, "favourite exercise", 5, guest);
    expect(found.map(({ content }) => content)).toEqual(["Bob enjoys swimming."]);

    await ada.patch(`${path}/${body.memory.id}`, { text: "Ada plays the piano." });
    // Until the job has run there is the vector of the former words.
    await eventually(async () => {
      const [first] = await memories.recall(agentId, ada.userId, "what instrument", 5);
      return first?.content === "Ada plays the piano.";
    });
    expect(await vectors("memory_vectors")).toBe(2);
  });

  test("a model that is down leaves the search by words", async () => {
    const files = filesOf(fixture.origin, ada, agentId);
    await files.learn("The ferry leaves at nine.", "ferry.txt");
    await eventually(async () => (await vectors("knowledge_vectors")) === 1);
    await meanings.stop(true);
    expect(await files.search("ferry")).toMatchObject([{ text: "The ferry leaves at nine." }]);
  });
});
