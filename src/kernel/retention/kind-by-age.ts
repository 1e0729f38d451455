// Makes a kind of data whose rows are deleted by one statement once they are older than its time.
import type { Database } from "../database/database.ts";
import { measureBy } from "./deletion.ts";
import type { DeleteBatch, KeptKind } from "./kept-kind.ts";

interface ByAge extends Omit<KeptKind, "steps" | "measure"> {
  /** Deletes the oldest rows. ?1: the mark of the time, ?2: the most rows. */
  deleteSql: string;
  /** Selects `rows`, `bytes` and `oldest`. ?1: the mark of the time. */
  measureSql: string;
  /** What rows are compared with: epoch ms, or the first id of that time where ids begin with theirs. Default: epoch ms. */
  markOf?: (before: number) => number | string;
  /** Run after the deletion. */
  afterwards?: readonly DeleteBatch[];
}

export function kindByAge(
  database: Pick<Database, "write" | "readLong">,
  { deleteSql, measureSql, markOf = (before) => before, afterwards = [], ...kind }: ByAge,
): KeptKind {
  const measure = measureBy(database, measureSql);
  const remove: DeleteBatch = async (before, limit) =>
    (await database.write([{ sql: deleteSql, args: [markOf(before), limit] }]))[0]?.rowsAffected ?? 0;
  return { ...kind, steps: [remove, ...afterwards], measure: (before) => measure(markOf(before)) };
}
