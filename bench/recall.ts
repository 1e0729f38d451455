// Measures what agents find again in their memory: recall at 5, for the kinds of questions of LongMemEval and LoCoMo, on a small set of our own.
//
// The model is scripted: at the end of a conversation it names the facts that the set says, and its embeddings know a few
// synonyms. So the figures compare ways of keeping and searching, not models. Before: facts that the agent noted by its
// tool, searched by words. After: with those of ended conversations, by words and meaning.

import { createVectorIndex, type Embedder } from "../plugins/ai/index.ts";
import { rememberExtracted, splitFacts } from "../plugins/skills/memory/extracted-facts.ts";
import { createMemoryStore, FACT_TEXTS, type MemoryStore } from "../plugins/skills/memory/memory-store.ts";
import { fileDatabase, silent } from "../tests/support/database.ts";
import { vectorOf } from "../tests/support/meaning.ts";
import { insertAgent } from "../tests/support/records.ts";
import { config } from "../tests/support/skills.ts";
import type { Benchmark, Figure } from "./support/figures.ts";
import { CONVERSATIONS, distractors, QUESTIONS } from "./support/memory-questions.ts";

const LIMIT = 5;
const GOAL = 0.9;
const OWNER = { byOwner: true, platform: "web", peer: "owner" };

const embedder: Embedder = {
  model: "meaning",
  embed: async (texts) => texts.map((text) => new Float32Array(vectorOf(text))),
};

interface Setup {
  memories: MemoryStore;
  agentId: string;
}

/** The share of questions of each kind whose fact is among the first five. */
async function recallOf({ memories, agentId }: Setup): Promise<Map<string, { found: number; of: number }>> {
  const kinds = new Map<string, { found: number; of: number }>();
  for (const { kind, question, answer } of QUESTIONS) {
    const facts = await memories.recall(agentId, "bench", question, LIMIT, OWNER);
    const known = kinds.get(kind) ?? { found: 0, of: 0 };
    const isFound = facts.some(({ content }) => content.includes(answer));
    kinds.set(kind, { found: known.found + Number(isFound), of: known.of + 1 });
  }
  return kinds;
}

async function withMemory<Result>(hasMeaning: boolean, extracts: boolean, work: (setup: Setup) => Promise<Result>) {
  const kept = await fileDatabase();
  try {
    const { database } = kept;
    const agentId = await insertAgent(database);
    const vectors = hasMeaning
      ? createVectorIndex({ database, log: silent, embedder }, { name: "memory_vectors", texts: FACT_TEXTS })
      : undefined;
    const memories = createMemoryStore({ database, config, vectors });
    for (const content of distractors()) await memories.remember({ agentId, content, source: "agent" });
    for (const { noted, ending } of CONVERSATIONS) {
      for (const content of noted) await memories.remember({ agentId, content, source: "agent" });
      const origin = { agentId, audience: OWNER, taint: 0 as const, turnId: "turn" };
      if (extracts) await rememberExtracted(memories, origin, splitFacts(ending).facts);
    }
    await vectors?.fill(agentId, "bench", new AbortController().signal);
    return await work({ memories, agentId });
  } finally {
    await kept.remove();
  }
}

const total = (kinds: ReadonlyMap<string, { found: number; of: number }>) =>
  [...kinds.values()].reduce((sum, { found, of }) => ({ found: sum.found + found, of: sum.of + of }), {
    found: 0,
    of: 0,
  });
const inWords = ({ found, of }: { found: number; of: number }) =>
  `${Math.round((found / of) * 100)} % (${found}/${of})`;

export const recall: Benchmark = {
  name: "recall",
  summary:
    "recall at 5 of an agent's memory, by kinds of questions of LongMemEval and LoCoMo; before: noted facts by words",
  async run() {
    const before = await withMemory(false, false, recallOf);
    const extracted = await withMemory(false, true, recallOf);
    const after = await withMemory(true, true, recallOf);
    const [old, words, now] = [total(before), total(extracted), total(after)];
    return [
      ...[...after].map(
        ([kind, result]): Figure => ({
          what: kind,
          figure: inWords(result),
          baseline: inWords(before.get(kind) ?? { found: 0, of: 1 }),
          goal: "",
        }),
      ),
      { what: "all, with extraction, by words", figure: inWords(words), baseline: inWords(old), goal: "" },
      {
        what: "all, with extraction and meaning",
        ratio: now.found / Math.max(1, old.found),
        figure: inWords(now),
        baseline: inWords(old),
        goal: `≥ ${GOAL * 100} %`,
        met: now.found / now.of >= GOAL,
      },
    ];
  },
};
