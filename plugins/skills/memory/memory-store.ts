// Stores agents' long-term memory: facts with full-text search, each visible only in its own circle of conversations.
import { and, desc, eq, getTableColumns, inArray, sql } from "drizzle-orm";
import { preparedQuery, type Statement, statement } from "../../../src/kernel/database/database.ts";
import { AppError } from "../../../src/kernel/errors.ts";
import { type Kernel, ownsDatabase } from "../../../src/kernel/plugin.ts";
import { createCache } from "../../../src/kernel/util/cache.ts";
import { estimateMemorySize } from "../../../src/kernel/util/memory-size.ts";
import { fuse, type VectorIndex } from "../../ai/index.ts";
import { memories as table } from "../schema.ts";
import type { Audience } from "../skill.ts";
import { TAINT } from "../taint.ts";
import type { Fact, FactKind, MemoryStore, NewFact, RecentFacts } from "./facts.ts";

export type * from "./facts.ts";

/** The most facts of an agent: for its owner, for each other person, and for all others together. */
export const MAX_FACTS = { owner: 1000, person: 50, people: 2000 } as const;
export const MAX_FACT_LENGTH = 2000;
/** Bounds of the newest facts that every prompt gets. */
const RECENT = { facts: 40, characters: 6000 } as const;
const MAX_CACHED_CIRCLES = 10_000;
/** How much of a text is read for a search, and how many of its words are searched for. */
const MAX_SEARCH_CHARACTERS = 4000;
const MAX_WORDS = 12;

const OWNER = "";
/** Guests see only facts from their own conversation; facts for everyone belong in the agent's instructions. */
const circleOf = (audience?: Audience) =>
  !audience || audience.byOwner ? OWNER : `${audience.platform}:${audience.peer}`;

interface Deps extends Pick<Kernel, "database" | "config"> {
  /** Undefined without an embedding model. */
  vectors?: VectorIndex | undefined;
  /** The statement that has the vectors of new facts made. */
  embedStatements?(agentId: string): Statement[];
}

/** For the index of vectors. */
export const FACT_TEXTS = "SELECT seq, content AS text FROM memories WHERE agent_id = ?1 AND seq > ?2";
/** Facts by meaning that are merged with those by words. */
const NEAREST = 20;
const AMONG = "SELECT seq FROM memories WHERE agent_id = ?1 AND circle = ?6";

export function createMemoryStore({ database, config, vectors, embedStatements = () => [] }: Deps): MemoryStore {
  const { drizzle } = database;
  const { seq: _seq, agentId: _agentId, digest: _digest, ...columns } = getTableColumns(table);
  const agentIs = eq(table.agentId, sql.placeholder("agentId"));
  const circleIs = eq(table.circle, sql.placeholder("circle"));
  const newest = [desc(table.updatedAt), desc(table.seq)] as const;
  const pinnedFirst = [desc(table.pinned), ...newest] as const;
  const selectRecent = preparedQuery(() =>
    drizzle
      .select(columns)
      .from(table)
      .where(and(agentIs, circleIs))
      .orderBy(...pinnedFirst)
      .limit(RECENT.facts + 1),
  );
  const selectPage = preparedQuery(() =>
    drizzle
      .select(columns)
      .from(table)
      .where(agentIs)
      .orderBy(...newest)
      .limit(sql.placeholder("limit"))
      .offset(sql.placeholder("offset")),
  );
  /** With `circle` null, facts of all circles match: the owner may see all. */
  const inCircle = sql`(${sql.placeholder("circle")} IS NULL OR ${table.circle} = ${sql.placeholder("circle")})`;
  const selectMatching = preparedQuery(() =>
    drizzle
      .select(columns)
      .from(sql`memories_search`)
      .innerJoin(table, sql`${table.seq} = memories_search.rowid`)
      .where(and(sql`memories_search MATCH ${sql.placeholder("match")}`, agentIs, inCircle))
      .orderBy(sql`memories_search.rank`)
      .limit(sql.placeholder("limit")),
  );
  const selectContaining = preparedQuery(() =>
    drizzle
      .select(columns)
      .from(table)
      .where(and(agentIs, inCircle, sql`instr(lower(${table.content}), ${sql.placeholder("part")}) > 0`))
      .orderBy(...newest)
      .limit(sql.placeholder("limit")),
  );

  const recent = createCache<RecentFacts>({ entries: ownsDatabase({ config, database }) ? MAX_CACHED_CIRCLES : 0 });
  async function loadRecent(agentId: string, circle: string): Promise<RecentFacts> {
    const found = await selectRecent.execute({ agentId, circle });
    const facts = takeFitting(found.slice(0, RECENT.facts), RECENT.characters);
    return facts.length === 0 ? NO_FACTS : { facts, complete: facts.length === found.length };
  }
  const keyOf = (agentId: string, circle: string) => `${agentId}\n${circle}`;
  const forgetCached = (agentId: string) => recent.clear((key) => key.startsWith(`${agentId}\n`));

  function insertStatements(fact: NewFact, content: string): Statement[] {
    const { agentId, source, audience, taint = TAINT.none, turnId = null } = fact;
    const circle = circleOf(audience);
    const kind = kindIn(circle, fact.kind);
    const digest = digestOf(content);
    const now = Date.now();
    const insert: Statement = {
      sql: `INSERT INTO memories (id, agent_id, circle, content, digest, source, created_at, updated_at, taint, kind, turn_id)
        SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7, ?8, ?9, ?10
        WHERE ?3 <> '' OR EXISTS (SELECT 1 FROM memories WHERE agent_id = ?2 AND circle = ?3 AND digest = ?5)
          OR (SELECT count(*) FROM memories WHERE agent_id = ?2 AND circle = '') < ${MAX_FACTS.owner}
        ON CONFLICT (agent_id, circle, digest) DO UPDATE SET updated_at = excluded.updated_at,
          content = iif(excluded.taint <= taint, excluded.content, content), taint = min(taint, excluded.taint),
          source = iif(excluded.source = 'owner', 'owner', source)
        RETURNING id`,
      args: [Bun.randomUUIDv7(), agentId, circle, content, digest, source, now, taint, kind, turnId],
      after: () => recent.drop(keyOf(agentId, circle)),
    };
    const embedding = embedStatements(agentId);
    return circle === OWNER
      ? [insert, ...embedding]
      : [insert, ...evictStatements(agentId, circle, forgetCached), ...embedding];
  }

  async function search(agentId: string, text: string, limit: number, audience?: Audience): Promise<Fact[]> {
    const words = searchWordsOf(text);
    if (words.length === 0) return [];
    const circle = circleOf(audience) || null;
    const matching = await selectMatching.execute({ agentId, circle, match: matchExpression(agentId, words), limit });
    if (matching.length > 0) return matching;
    // The index sees a sentence in a script without spaces as one word; a substring search finds parts of it.
    return selectContaining.execute({
      agentId,
      circle,
      part: normalizeText(text.slice(0, MAX_SEARCH_CHARACTERS)).toLowerCase(),
      limit,
    });
  }

  return {
    embedStatements,
    forgetAgent: forgetCached,
    memoryBytes: (agentId) => estimateMemorySize(recent.values((key) => key.startsWith(`${agentId}\n`))),

    async remember(fact) {
      const content = normalizeText(fact.content);
      if (content === "") throw new AppError(400, "EMPTY_FACT", "The fact is empty. Give a text to remember.");
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

    search,

    async recall(agentId, userId, text, limit, audience) {
      const byWords = await search(agentId, text, NEAREST, audience);
      if (!vectors) return byWords.slice(0, limit);
      const circle = circleOf(audience);
      const among = circle === OWNER ? undefined : { sql: AMONG, value: circle };
      const nearest = await vectors.nearest({ agentId, userId, text, among }, NEAREST);
      if (nearest.length === 0) return byWords.slice(0, limit);
      const others = await drizzle
        .select({ ...columns, seq: table.seq })
        .from(table)
        .where(and(eq(table.agentId, agentId), inArray(table.seq, nearest)));
      const seqOf = new Map(others.map((fact) => [fact.id, fact.seq]));
      const facts = new Map<number, Fact>(others.map(({ seq, ...fact }) => [seq, fact]));
      // Facts that only their words have found get numbers of their own, since the search does not tell theirs.
      const words = byWords.map((fact, place) => {
        const seq = seqOf.get(fact.id) ?? -1 - place;
        facts.set(seq, fact);
        return { seq, text: fact.content };
      });
      const found = fuse(searchWordsOf(text), words, nearest).flatMap(({ seq }) => facts.get(seq) ?? []);
      return found.slice(0, limit);
    },

    async markUsed(ids) {
      if (ids.length === 0) return;
      const sql = "UPDATE memories SET used_at = ? WHERE id IN (SELECT value FROM json_each(?))";
      await database.write([{ sql, args: [Date.now(), JSON.stringify(ids)] }]);
    },

    recentFacts(agentId, audience) {
      const circle = circleOf(audience);
      return recent.get(keyOf(agentId, circle), () => loadRecent(agentId, circle));
    },
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

    invalidate: forgetCached,
    forgetAllStatement: (agentId) => ({
      ...statement(drizzle.delete(table).where(eq(table.agentId, agentId))),
      after: () => forgetCached(agentId),
    }),
  };
}

/** A guest's conversation knows nothing about the owner. */
const kindIn = (circle: string, kind: FactKind | undefined): FactKind =>
  circle === OWNER ? (kind ?? "owner") : kind === "world" ? "world" : "person";

/** The digest by which equal facts are found; facts that differ only in case have the same. */
export const digestOf = (content: string) =>
  new Bun.CryptoHasher("sha256").update(content.toLowerCase()).digest("base64url");

/** The first facts whose texts together fit within the bound. */
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

/** Deletes the oldest facts of a guest, and then of all guests, beyond their bounds. */
function evictStatements(agentId: string, circle: string, forgetCached: (agentId: string) => void): Statement[] {
  const deleteBeyond = (where: string, most: number) =>
    `DELETE FROM memories WHERE seq IN (SELECT seq FROM memories WHERE ${where} ORDER BY pinned DESC, updated_at DESC, seq DESC LIMIT -1 OFFSET ${most})`;
  return [
    { sql: deleteBeyond("agent_id = ? AND circle = ?", MAX_FACTS.person), args: [agentId, circle] },
    {
      sql: deleteBeyond("agent_id = ? AND circle > ''", MAX_FACTS.people),
      args: [agentId],
      after: ({ rowsAffected }) => rowsAffected > 0 && forgetCached(agentId),
    },
  ];
}

/** One line without control characters, so that a fact stays one line of the prompt. */
export const normalizeText = (text: string) =>
  text
    .toWellFormed()
    .normalize("NFC")
    .replace(/[\s\p{Cc}]+/gu, " ")
    .trim();

/**
 * The search for any of these words among the facts of one agent. A word that begins with one counts, too, but less than the
 * word itself; short ones begin too many.
 */
export const matchExpression = (agentId: string, words: readonly string[]) =>
  `agent:"${agentId.replaceAll("-", "")}" AND content:(${words.map(termOf).join(" OR ")})`;

const MIN_PREFIX = 3;
const termOf = (word: string) => (word.length < MIN_PREFIX ? `"${word}"` : `"${word}" OR "${word}"*`);

/** The longest words of a text, without quotes and operators of the search language. */
export function searchWordsOf(text: string): string[] {
  const words = new Set(
    text
      .slice(0, MAX_SEARCH_CHARACTERS)
      .toLowerCase()
      .match(/[\p{L}\p{N}]{2,}/gu) ?? [],
  );
  // Two letters of an alphabet are "is", "to", "er" and the like, which stand in every other fact.
  const telling = [...words].filter((word) => !/^[a-z]{2}$/.test(word));
  return (telling.length > 0 ? telling : [...words]).sort((a, b) => b.length - a.length).slice(0, MAX_WORDS);
}
