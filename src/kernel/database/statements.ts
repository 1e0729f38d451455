// What one write is made of: SQL with its arguments, guards, and what is to happen once it is on disk.

import type { InValue, ResultSet } from "@libsql/client";
import { is, Param, Placeholder } from "drizzle-orm";

/** One step of a batch. */
export interface Statement {
  sql: string;
  args: InValue[];
  /** Set by `guard()`: the name that `GuardFailed` carries when this statement aborts the batch. */
  guard?: string;
  /** Runs once, after the commit that contains the statement, with its result. Must not throw; keep it short. */
  after?: (result: ResultSet) => void;
}

/** A query built with drizzle. */
export interface DrizzleQuery {
  toSQL(): { sql: string; params: unknown[] };
}

/** A drizzle query as a step of a batch. */
export function statement(query: DrizzleQuery): Statement {
  const { sql, params } = query.toSQL();
  // What can't be bound is refused, with its type, when the statement runs.
  return { sql, args: params as InValue[] };
}

/**
 * Builds a drizzle query once for many uses: holes are `sql.placeholder(name)`. Ten times cheaper than building it anew.
 *
 * @example
 * const rename = template(database.drizzle.update(agents).set({ name: sql`${sql.placeholder("name")}` }).where(eq(agents.id, sql.placeholder("id"))));
 * await database.write([rename({ id, name })]);
 */
export function statementTemplate(query: DrizzleQuery): (values: Readonly<Record<string, unknown>>) => Statement {
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
 * Undoes its whole batch with `GuardFailed(name)` when the INSERT, UPDATE or DELETE right before it changed no row.
 * One round trip, locally and on a server.
 *
 * @example
 * await database.write([statement(db.update(codes).set({ used: true }).where(…)), guard("code"), …]);
 */
export const guard = (name: string): Statement => ({
  sql: "INSERT INTO guard (ok) VALUES (changes() > 0)",
  args: [],
  guard: name,
});
