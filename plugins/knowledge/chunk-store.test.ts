// Tests the search in passages on a file and on a libSQL server: by words, by meaning, and only among an agent's own.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { fileDatabase, serverDatabase, silent, type TestDatabase } from "../../tests/support/database.ts";
import { vectorOf } from "../../tests/support/meaning.ts";
import { insertAgent } from "../../tests/support/records.ts";
import { createVectorIndex, type VectorIndex } from "../ai/index.ts";
import { type ChunkStore, createChunkStore, PASSAGE_TEXTS } from "./chunk-store.ts";
import { createFileStore } from "./file-store.ts";

describe.each([
  ["a file", fileDatabase],
  ["a server", serverDatabase],
])("passages on %s", (_name, open) => {
  let kept: TestDatabase;
  let chunks: ChunkStore;
  let vectors: VectorIndex;
  let agentId: string;
  const embed = async (texts: readonly string[]) => texts.map((text) => new Float32Array(vectorOf(text)));

  beforeAll(async () => {
    kept = await open();
    const { database } = kept;
    chunks = createChunkStore(kept);
    vectors = createVectorIndex(
      { database, log: silent, embedder: { model: "meaning", embed } },
      { name: "knowledge_vectors", texts: PASSAGE_TEXTS },
    );
    agentId = await insertAgent(database);
  });
  afterAll(() => kept.remove());

  async function store(agent: string, id: string, texts: readonly string[], generation = 1): Promise<void> {
    const files = createFileStore(kept);
    const file = {
      id,
      agentId: agent,
      name: `${id}.txt`,
      type: "",
      size: 1,
      url: null,
      refresh: null,
      origin: "owner" as const,
      digest: null,
    };
    const quota = { files: 10, bytes: 100, chunks: 1000 };
    await kept.database.write([
      ...files.insertStatements(file, quota),
      ...files.updateStatements(id, { generation: 1, status: "ready" }),
      chunks.insertStatement(
        { agentId: agent, fileId: id, generation },
        0,
        texts.map((text, n) => ({ page: n + 1, heading: "Rules", text })),
      ),
    ]);
  }
  const found = async (question: string) => {
    const nearest = await vectors.nearest({ agentId, userId: "u", text: question }, 20);
    return (await chunks.search(agentId, question, 3, nearest)).map(({ text }) => text);
  };

  test("are found by words and by meaning, among the agent's own and those in use alone", async () => {
    const other = await insertAgent(kept.database);
    await store(agentId, "mine", ["Physicians see patients on Monday.", "The kiosk sells newspapers."]);
    await store(other, "theirs", ["Another doctor has an appointment at the kiosk."]);
    await store(agentId, "unfinished", ["A doctor without appointment at the kiosk."], 2);
    for (const agent of [agentId, other]) await vectors.fill(agent, "u", new AbortController().signal);
    expect((await found("kiosk"))[0]).toBe("The kiosk sells newspapers.");
    expect((await found("doctor"))[0]).toBe("Physicians see patients on Monday.");
    expect((await found("doctor")).join()).not.toMatch(/Another|without/);
    expect(await chunks.search(agentId, "newspap", 3)).toMatchObject([{ name: "mine.txt", page: 2, heading: "Rules" }]);
  });

  test("written twice are there once, and are deleted with their index and vectors", async () => {
    const place = { agentId, fileId: "mine", generation: 1 };
    const again = chunks.insertStatement(place, 0, [
      { page: 1, heading: "", text: "Physicians see patients on Monday." },
    ]);
    await kept.database.write([again]);
    const count = async (table: string) =>
      Number((await kept.database.read(`SELECT count(*) AS n FROM ${table} WHERE agent_id = ?`, [agentId])).rows[0]?.n);
    expect(await count("knowledge_chunks")).toBe(3);
    await chunks.deleteOfAgent(agentId);
    expect([await count("knowledge_chunks"), await count("knowledge_vectors")]).toEqual([0, 0]);
    expect(await found("kiosk")).toEqual([]);
  });
});
