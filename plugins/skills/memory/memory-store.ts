// What agents remember: facts with full-text search, each known in the conversations it belongs to and nowhere else.
import { and, desc, eq, getTableColumns, sql } from "drizzle-orm";
import { type Statement, statement } from "../../../src/kernel/database/database.ts";
import { AppError } from "../../../src/kernel/errors.ts";
import { type Kernel, ownsDatabase } from "../../../src/kernel/plugin.ts";
import { estimateMemorySize } from "../../../src/kernel/util/memory-size.ts";
import { createLoadingCache } from "../loading-cache.ts";
import { memories as table } from "../schema.ts";
import type { Audience } from "../skill.ts";

/** Facts an agent keeps for its owner, for each other person, and for all others together. */
export const MAX_FACTS = { owner: 1000, person: 50, people: 2000 } as const;
export const MAX_FACT_LENGTH = 2000;
/** What is at hand for every prompt. */
const RECENT = { facts: 40, characters: 6000 } as const;
const MAX_CACHED_CIRCLES = 10_000;
/** Of a text: how much is read, and how many of its words are searched for. */
const MAX_SEARCH_CHARACTERS = 4000;
const MAX_WORDS = 12;

export type FactSource = "agent" | "compaction" | "owner";

export interface Fact {
  id: string;
  content: string;
  source: FactSource;
  /** `platform:peer` of whom it belongs to; "" for the owner. */
  circle: string;
  createdAt: number;
  updatedAt: number;
}

/** The newest facts of a conversation, newest first. */
export interface RecentFacts {
  facts: readonly Fact[];
  /** There are no others. */
  complete: boolean;
}

export interface NewFact {
  agentId: string;
  content: string;
  source: FactSource;
  /** Left out: the owner. */
  audience?: Audience;
}

export interface MemoryStore {
  /** Keeps a fact; one that is known already becomes the newest. Throws 400 EMPTY_FACT, FACT_TOO_LONG, 409 MEMORY_FULL. */
  remember(fact: NewFact): Promise<{ id: string; known: boolean }>;
  /** The same as steps of another batch; does nothing for a fact that can't be kept. */
  rememberStatements(fact: NewFact): Statement[];
  /** Facts that speak of what `text` speaks of, best first. */
  search(agentId: string, text: string, limit: number, audience?: Audience): Promise<Fact[]>;
  /** Bytes held in memory for this agent. */
  memoryBytes(agentId: string): number;
  /** The newest facts, from a bounded cache. */
  recentFacts(agentId: string, audience?: Audience): Promise<RecentFacts>;
  /** All facts, newest first, for the owner's eyes. */
  list(agentId: string, page?: { limit?: number; offset?: number }): Promise<Fact[]>;
  /** False when this audience knows no such fact. */
  forget(agentId: string, id: string, audience?: Audience): Promise<boolean>;
  /** Forgets everything, as a step of a batch. */
  forgetAllStatement(agentId: string): Statement;
}

const OWNER = "";
/** Guests know what they said themselves; what others may know belongs into the agent's instructions. */
const circleOf = (audience?: Audience) =>
  !audience || audience.byOwner ? OWNER : `${audience.platform}:${audience.peer}`;

export function createMemoryStore({ database, config }: Pick<Kernel, "database" | "config">): MemoryStore {
  const { drizzle } = database;
  const { seq: _seq, agentId: _agentId, digest: _digest, ...columns } = getTableColumns(table);
  const agentIs = eq(table.agentId, sql.placeholder("agentId"));
  const circleIs = eq(table.circle, sql.placeholder("circle"));
  const newest = [desc(table.updatedAt), desc(table.seq)] as const;
  const selectRecent = drizzle
    .select(columns)
    .from(table)
    .where(and(agentIs, circleIs))
    .orderBy(...newest)
    .limit(RECENT.facts + 1)
    .prepare();
  const selectPage = drizzle
    .select(columns)
    .from(table)
    .where(agentIs)
    .orderBy(...newest)
    .limit(sql.placeholder("limit"))
    .offset(sql.placeholder("offset"))
    .prepare();
  /** With `circle` null it looks everywhere: the owner may know all. */
  const inCircle = sql`(${sql.placeholder("circle")} IS NULL OR ${table.circle} = ${sql.placeholder("circle")})`;
  const selectMatching = drizzle
    .select(columns)
    .from(sql`memories_search`)
    .innerJoin(table, sql`${table.seq} = memories_search.rowid`)
    .where(and(sql`memories_search MATCH ${sql.placeholder("match")}`, agentIs, inCircle))
    .orderBy(sql`memories_search.rank`)
    .limit(sql.placeholder("limit"))
    .prepare();
  const selectContaining = drizzle
    .select(columns)
    .from(table)
    .where(and(agentIs, inCircle, sql`instr(lower(${table.content}), ${sql.placeholder("part")}) > 0`))
    .orderBy(...newest)
    .limit(sql.placeholder("limit"))
    .prepare();

  const recent = createLoadingCache(
    ownsDatabase({ config, database }) ? MAX_CACHED_CIRCLES : 0,
    async (key): Promise<RecentFacts> => {
      const [agentId = "", ...circle] = key.split("\n");
      const found = await selectRecent.execute({ agentId, circle: circle.join("\n") });
      const facts = takeFitting(found.slice(0, RECENT.facts), RECENT.characters);
      return facts.length === 0 ? NO_FACTS : { facts, complete: facts.length === found.length };
    },
  );
  const keyOf = (agentId: string, circle: string) => `${agentId}\n${circle}`;
  const forgetCached = (agentId: string) => recent.invalidateAll((key) => key.startsWith(`${agentId}\n`));

  function insertStatements({ agentId, source, audience }: NewFact, content: string): Statement[] {
    const circle = circleOf(audience);
    const digest = digestOf(content);
    const now = Date.now();
    const insert: Statement = {
      sql: `INSERT INTO memories (id, agent_id, circle, content, digest, source, created_at, updated_at)
        SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7
        WHERE ?3 <> '' OR EXISTS (SELECT 1 FROM memories WHERE agent_id = ?2 AND circle = ?3 AND digest = ?5)
          OR (SELECT count(*) FROM memories WHERE agent_id = ?2 AND circle = '') < ${MAX_FACTS.owner}
        ON CONFLICT (agent_id, circle, digest) DO UPDATE SET content = excluded.content, updated_at = excluded.updated_at
        RETURNING id`,
      args: [Bun.randomUUIDv7(), agentId, circle, content, digest, source, now],
      after: () => recent.invalidate(keyOf(agentId, circle)),
    };
    return circle === OWNER ? [insert] : [insert, ...evictStatements(agentId, circle, forgetCached)];
  }

  return {
    memoryBytes: (agentId) => estimateMemorySize(recent.values((key) => key.startsWith(`${agentId}\n`))),

    async remember(fact) {
      const content = normalizeText(fact.content);
      if (content === "") throw new AppError(400, "EMPTY_FACT", "There is nothing to remember.");
      if (content.length > MAX_FACT_LENGTH) {
        throw new AppError(
          400,
          "FACT_TOO_LONG",
          `A fact may have ${MAX_FACT_LENGTH} characters. Remember it in parts.`,
        );
      }
      const statements = insertStatements(fact, content);
      const [result] = await database.write(statements);
      const id = result?.rows[0]?.id;
      if (typeof id !== "string") {
        throw new AppError(
          409,
          "MEMORY_FULL",
          `The memory holds ${MAX_FACTS.owner} facts and is full. Forget some first.`,
        );
      }
      return { id, known: id !== statements[0]?.args[0] };
    },

    rememberStatements(fact) {
      const content = normalizeText(fact.content);
      return content === "" || content.length > MAX_FACT_LENGTH ? [] : insertStatements(fact, content);
    },

    async search(agentId, text, limit, audience) {
      const words = searchWordsOf(text);
      if (words.length === 0) return [];
      const circle = circleOf(audience) || null;
      const match = `agent:"${agentId.replaceAll("-", "")}" AND content:(${words.map((word) => `"${word}"*`).join(" OR ")})`;
      const matching = await selectMatching.execute({ agentId, circle, match, limit });
      if (matching.length > 0) return matching;
      // Scripts without spaces make one long word of a sentence: what the index can't find may still be in there.
      return selectContaining.execute({
        agentId,
        circle,
        part: normalizeText(text.slice(0, MAX_SEARCH_CHARACTERS)).toLowerCase(),
        limit,
      });
    },

    recentFacts: (agentId, audience) => recent.get(keyOf(agentId, circleOf(audience))),
    list: (agentId, { limit = 100, offset = 0 } = {}) => selectPage.execute({ agentId, limit, offset }),

    async forget(agentId, id, audience) {
      const circle = circleOf(audience);
      const isReachable = and(
        eq(table.id, id),
        eq(table.agentId, agentId),
        circle ? eq(table.circle, circle) : undefined,
      );
      const [result] = await database.write([statement(drizzle.delete(table).where(isReachable))]);
      forgetCached(agentId);
      return (result?.rowsAffected ?? 0) > 0;
    },

    forgetAllStatement: (agentId) => ({
      ...statement(drizzle.delete(table).where(eq(table.agentId, agentId))),
      after: () => forgetCached(agentId),
    }),
  };
}

/** The same for facts that differ only in case. */
export const digestOf = (content: string) =>
  new Bun.CryptoHasher("sha256").update(content.toLowerCase()).digest("base64url");

/** The first ones, for as long as there is room for their text. */
function takeFitting(facts: readonly Fact[], maxCharacters: number): Fact[] {
  const taken: Fact[] = [];
  let left = maxCharacters;
  for (const fact of facts) {
    left -= fact.content.length;
    if (left < 0) break;
    taken.push(fact);
  }
  return taken;
}

const NO_FACTS: RecentFacts = { facts: [], complete: true };

/** What guests leave behind is bounded by letting go of the oldest: theirs, then anybody's. */
function evictStatements(agentId: string, circle: string, forgetCached: (agentId: string) => void): Statement[] {
  const deleteBeyond = (where: string, most: number) =>
    `DELETE FROM memories WHERE seq IN (SELECT seq FROM memories WHERE ${where} ORDER BY updated_at DESC, seq DESC LIMIT -1 OFFSET ${most})`;
  return [
    { sql: deleteBeyond("agent_id = ? AND circle = ?", MAX_FACTS.person), args: [agentId, circle] },
    {
      sql: deleteBeyond("agent_id = ? AND circle > ''", MAX_FACTS.people),
      args: [agentId],
      after: ({ rowsAffected }) => rowsAffected > 0 && forgetCached(agentId),
    },
  ];
}

/** One line without control characters, so that a fact can't pose as more than one line of the prompt. */
export const normalizeText = (text: string) =>
  text
    .toWellFormed()
    .normalize("NFC")
    .replace(/[\s\p{Cc}]+/gu, " ")
    .trim();

/** Words worth searching for: the longest ones, without quotes or operators of the search language. */
const searchWordsOf = (text: string) =>
  [
    ...new Set(
      text
        .slice(0, MAX_SEARCH_CHARACTERS)
        .toLowerCase()
        .match(/[\p{L}\p{N}]{2,}/gu) ?? [],
    ),
  ]
    .sort((a, b) => b.length - a.length)
    .slice(0, MAX_WORDS);
