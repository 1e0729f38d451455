// Reads the facts that a model names at the end of a summary, and stores those that are new.
import type { Audience } from "../skill.ts";
import type { Taint } from "../taint.ts";
import { type FactKind, type MemoryStore, normalizeText, searchWordsOf } from "./memory-store.ts";

export interface ExtractedFact {
  kind: FactKind;
  text: string;
}

/** The end of a request for a summary. */
export const EXTRACT_FACTS = `Then write a line that says only FACTS, and below it, one a line, the facts worth knowing in later conversations: preferences, names, dates, decisions. Each is a full sentence that stands on its own, and begins with "user:" if it is about the user, "person:" if about somebody else, "world:" for anything else. Leave out passwords and keys, what the user asked to forget, and what matters only today. Write none if there are none.`;

const MARK = /^\W*FACTS\W*$/im;
const LINE = /^[\W\d]*(user|person|world)\s*:\s*(.+)$/i;
const KINDS: Readonly<Record<string, FactKind>> = { user: "owner", person: "person", world: "world" };
/** A model that names more has copied the conversation. */
const MAX_FACTS = 10;
const LENGTH = { min: 8, max: 400 };
/** The share of common words from which two facts count as the same. */
const SAME = 0.75;

/** The answer without its list of facts, and the facts. */
export function splitFacts(answer: string): { summary: string; facts: ExtractedFact[] } {
  const mark = MARK.exec(answer);
  if (!mark) return { summary: answer, facts: [] };
  const facts = answer
    .slice(mark.index + mark[0].length)
    .split("\n")
    .flatMap((line): ExtractedFact[] => {
      const [, kind = "", words = ""] = LINE.exec(line) ?? [];
      const text = normalizeText(words);
      return text.length < LENGTH.min || text.length > LENGTH.max
        ? []
        : [{ kind: KINDS[kind.toLowerCase()] ?? "world", text }];
    });
  // Without a summary, the facts are better than nothing in its place.
  return { summary: answer.slice(0, mark.index).trim() || answer, facts: facts.slice(0, MAX_FACTS) };
}

export interface Extraction {
  agentId: string;
  /** Who knows the facts: those in the conversation that they are from, and nobody else. */
  audience: Audience;
  /** Of the messages that they are from. */
  taint: Taint;
  turnId: string;
}

/** Stores the facts that this conversation does not know yet; returns how many. A full memory stays as it is. */
export async function rememberExtracted(
  memories: Pick<MemoryStore, "remember" | "search">,
  { agentId, audience, taint, turnId }: Extraction,
  facts: readonly ExtractedFact[],
): Promise<number> {
  let stored = 0;
  for (const { kind, text } of facts) {
    const similar = await memories.search(agentId, text, 5, audience);
    if (similar.some((fact) => isSame(fact.content, text))) continue;
    try {
      await memories.remember({ agentId, content: text, source: "compaction", audience, taint, kind, turnId });
      stored += 1;
    } catch {
      // Full: the owner's own facts are not replaced by extracted ones.
      return stored;
    }
  }
  return stored;
}

/** Whether two facts share most of their words. */
function isSame(one: string, other: string): boolean {
  const [a, b] = [new Set(searchWordsOf(one)), new Set(searchWordsOf(other))];
  const common = [...a].filter((word) => b.has(word)).length;
  return common / Math.max(1, a.size + b.size - common) >= SAME;
}
