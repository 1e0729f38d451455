// Lists, searches and changes an agent's facts of all circles, for its owner.
import { and, desc, eq, getTableColumns, sql } from "drizzle-orm";
import { GuardFailed, guard, isUniqueViolation, statement } from "../../../src/kernel/database/database.ts";
import { AppError, invalidInput, notFound } from "../../../src/kernel/errors.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import { memories as table } from "../schema.ts";
import { TAINT } from "../taint.ts";
import {
  digestOf,
  type Fact,
  type FactKind,
  MAX_FACT_LENGTH,
  type MemoryStore,
  matchExpression,
  normalizeText,
  searchWordsOf,
} from "./memory-store.ts";

/** Pinned facts of one circle: more would leave no room for others in a prompt. */
export const MAX_PINNED = 20;

export interface FactFilter {
  /** A circle: "" for the owner's own. */
  circle?: string | undefined;
  kind?: FactKind | undefined;
}

export interface FactPage {
  facts: Fact[];
  /** Undefined after the last page. */
  nextCursor: string | undefined;
}

export interface OwnerFacts {
  /** Pinned facts first, then newest first. Throws 400 for a wrong cursor. */
  list(agentId: string, filter: FactFilter, page: { limit: number; cursor?: string | undefined }): Promise<FactPage>;
  /** Best match first. */
  search(agentId: string, query: string, filter: FactFilter, limit: number): Promise<Fact[]>;
  find(agentId: string, id: string): Promise<Fact | undefined>;
  /**
   * Changes a fact. A new text makes it the owner's own. Throws 400 `EMPTY_FACT`, 400 `FACT_TOO_LONG`, 404
   * `FACT_NOT_FOUND`, 409 `FACT_EXISTS`, 409 `TOO_MANY_PINNED`.
   */
  change(
    agentId: string,
    id: string,
    change: { text?: string | undefined; pinned?: boolean | undefined },
  ): Promise<Fact>;
}

interface Deps extends Pick<Kernel, "database"> {
  memories: Pick<MemoryStore, "invalidate" | "embedStatements">;
}

export function createOwnerFacts({ database, memories }: Deps): OwnerFacts {
  const { drizzle } = database;
  const { seq: _seq, agentId: _agentId, digest: _digest, ...columns } = getTableColumns(table);
  const inFilter = ({ circle, kind }: FactFilter) =>
    and(
      circle === undefined ? undefined : eq(table.circle, circle),
      kind === undefined ? undefined : eq(table.kind, kind),
    );

  async function find(agentId: string, id: string): Promise<Fact | undefined> {
    const [found] = await drizzle
      .select(columns)
      .from(table)
      .where(and(eq(table.agentId, agentId), eq(table.id, id)));
    return found;
  }

  /** The change's statements may find the fact gone, or too many pinned. */
  async function refusal(agentId: string, id: string): Promise<AppError> {
    if (!(await find(agentId, id))) return notFound("This agent has no fact with this id.", "FACT_NOT_FOUND");
    const text = `At most ${MAX_PINNED} facts can be pinned for one conversation. Unpin one first.`;
    return new AppError(409, "TOO_MANY_PINNED", text, { current: MAX_PINNED, limit: MAX_PINNED });
  }

  return {
    find,

    async list(agentId, filter, { limit, cursor }) {
      const after = cursor === undefined ? undefined : positionOf(cursor);
      const found = await drizzle
        .select({ ...columns, seq: table.seq })
        .from(table)
        .where(
          and(
            eq(table.agentId, agentId),
            inFilter(filter),
            after && sql`(${table.pinned}, ${table.updatedAt}, ${table.seq}) < (${after[0]}, ${after[1]}, ${after[2]})`,
          ),
        )
        .orderBy(desc(table.pinned), desc(table.updatedAt), desc(table.seq))
        .limit(limit + 1);
      const page = found.slice(0, limit);
      const last = page.at(-1);
      const more = found.length > limit && last !== undefined;
      return {
        facts: page.map(({ seq: _, ...fact }) => fact),
        nextCursor: more ? [Number(last.pinned), last.updatedAt, last.seq].join("-") : undefined,
      };
    },

    async search(agentId, query, filter, limit) {
      const words = searchWordsOf(query);
      const matching =
        words.length === 0
          ? []
          : await drizzle
              .select(columns)
              .from(sql`memories_search`)
              .innerJoin(table, sql`${table.seq} = memories_search.rowid`)
              .where(
                and(
                  sql`memories_search MATCH ${matchExpression(agentId, words)}`,
                  eq(table.agentId, agentId),
                  inFilter(filter),
                ),
              )
              .orderBy(sql`memories_search.rank`)
              .limit(limit);
      if (matching.length > 0) return matching;
      // The index sees a sentence in a script without spaces as one word.
      const part = normalizeText(query).toLowerCase();
      if (part === "") return [];
      return drizzle
        .select(columns)
        .from(table)
        .where(and(eq(table.agentId, agentId), inFilter(filter), sql`instr(lower(${table.content}), ${part}) > 0`))
        .orderBy(desc(table.updatedAt), desc(table.seq))
        .limit(limit);
    },

    async change(agentId, id, { text, pinned }) {
      const content = text === undefined ? undefined : requireFact(text);
      const isOne = and(eq(table.agentId, agentId), eq(table.id, id));
      const update = drizzle
        .update(table)
        .set({
          ...(content !== undefined && {
            ...{ content, digest: digestOf(content), source: "owner" as const, taint: TAINT.none },
            updatedAt: Date.now(),
          }),
          ...(pinned !== undefined && { pinned }),
          ...(content === undefined && pinned === undefined && { id }),
        })
        .where(
          and(
            isOne,
            pinned
              ? sql`(${table.pinned} OR (SELECT count(*) FROM memories AS other WHERE other.agent_id = ${agentId}
                  AND other.circle = ${table.circle} AND other.pinned) < ${MAX_PINNED})`
              : undefined,
          ),
        );
      try {
        await database.write([
          { ...statement(update), after: () => memories.invalidate(agentId) },
          guard("fact"),
          ...(content === undefined ? [] : memories.embedStatements(agentId)),
        ]);
      } catch (error) {
        if (error instanceof GuardFailed) throw await refusal(agentId, id);
        if (!isUniqueViolation(error, "memories.digest")) throw error;
        throw new AppError(409, "FACT_EXISTS", "The agent knows this already. Delete one of both.");
      }
      const changed = await find(agentId, id);
      if (!changed) throw await refusal(agentId, id);
      return changed;
    },
  };
}

function requireFact(text: string): string {
  const content = normalizeText(text);
  if (content === "") throw new AppError(400, "EMPTY_FACT", "The fact is empty. Write it, or delete it.");
  if (content.length <= MAX_FACT_LENGTH) return content;
  throw new AppError(400, "FACT_TOO_LONG", `A fact may have ${MAX_FACT_LENGTH} characters. Remember it in parts.`);
}

function positionOf(cursor: string): number[] {
  if (/^[01]-\d{1,16}-\d{1,16}$/.test(cursor)) return cursor.split("-").map(Number);
  throw invalidInput({ path: "cursor", message: "Use the nextCursor of the page before." });
}
