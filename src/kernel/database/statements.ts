// Statements, the steps of a batch: SQL with its arguments, a guard's name, and a callback for after the commit.

import type { InValue, ResultSet } from "@libsql/client";
import { is, Param, Placeholder } from "drizzle-orm";

/** One step of a batch. */
export interface Statement {
  sql: string;
  args: InValue[];
  /** Set by `guard()`: the name that `GuardFailed` carries when this statement aborts the batch. */
  guard?: string;
  /** Runs once, after the commit that contains the statement, with its result. Must not throw; keep it short. The rowid: `insertedRowid`. */
  after?: (result: ResultSet) => void;
}

/**
 * Returns the rowid of the (last) row that an INSERT has added, for `after`. Throws if there is none, since `NaN` as a
 * number would spread.
 */
export function insertedRowid({ lastInsertRowid }: Pick<ResultSet, "lastInsertRowid">): number {
  if (lastInsertRowid === undefined) throw new TypeError("The statement has reported no inserted row.");
  return Number(lastInsertRowid);
}

/** A query built with drizzle. */
export interface DrizzleQuery {
  toSQL(): { sql: string; params: unknown[] };
}

/** Converts a drizzle query into a step of a batch. */
export function statement(query: DrizzleQuery): Statement {
  const { sql, params } = query.toSQL();
  // Values that can't be bound are rejected, with their type, when the statement runs.
  return { sql, args: params as InValue[] };
}

/**
 * Prepares a drizzle query once for many uses, at the first of them: the queries of all plugins would take a tenth of the start.
 *
 * @example
 * const selectById = preparedQuery(() => drizzle.select().from(agents).where(eq(agents.id, sql.placeholder("id"))));
 * const [agent] = await selectById.execute({ id });
 */
export function preparedQuery<Result>(
  build: () => {
    prepare(): { execute(values?: Record<string, unknown>): Result };
  },
): { execute(values?: Record<string, unknown>): Result } {
  let prepared: ReturnType<ReturnType<typeof build>["prepare"]> | undefined;
  return {
    execute(values) {
      prepared ??= build().prepare();
      return prepared.execute(values);
    },
  };
}

/**
 * Builds the SQL of a drizzle query once for many uses, at the first of them, with `sql.placeholder(name)` for its values. Ten times
 * cheaper than building it for each use.
 *
 * @example
 * const rename = statementTemplate(database.drizzle.update(agents).set({ name: sql`${sql.placeholder("name")}` }).where(eq(agents.id, sql.placeholder("id"))));
 * await database.write([rename({ id, name })]);
 */
export function statementTemplate(query: DrizzleQuery): (values: Readonly<Record<string, unknown>>) => Statement {
  let template: ReturnType<typeof makeTemplate> | undefined;
  return (values) => {
    template ??= makeTemplate(query);
    return template(values);
  };
}

function makeTemplate(query: DrizzleQuery): (values: Readonly<Record<string, unknown>>) => Statement {
  const { sql, params } = query.toSQL();
  const parameters = params.map((param) => {
    if (is(param, Placeholder)) return { name: param.name, encode: (value: unknown) => value };
    if (is(param, Param) && is(param.value, Placeholder)) {
      const { encoder, value } = param;
      return {
        name: value.name,
        encode: (given: unknown) => (given === null ? null : encoder.mapToDriverValue(given)),
      };
    }
    return { name: undefined, encode: () => param };
  });
  return (values) => {
    const args = parameters.map(({ name, encode }) => {
      if (name !== undefined && !(name in values)) throw new TypeError(`No value for the placeholder ${name}.`);
      return encode(name === undefined ? undefined : values[name]) as InValue;
    });
    return { sql, args };
  };
}

/**
 * Aborts its whole batch with `GuardFailed(name)` if the INSERT, UPDATE or DELETE right before it changed no row. Thus a
 * conditional write needs one round trip.
 *
 * @example
 * await database.write([statement(db.update(codes).set({ used: true }).where(…)), guard("code"), …]);
 */
export const guard = (name: string): Statement => ({
  sql: "INSERT INTO guard (ok) VALUES (changes() > 0)",
  args: [],
  guard: name,
});
