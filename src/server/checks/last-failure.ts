// Reads why the last backup of the service failed, from the database's file: the service may not run, or not answer.
import { existsSync } from "node:fs";
import type { Config } from "../../kernel/config/config.ts";
import { type Connection, openReadOnly } from "../../kernel/database/connection.ts";
import { withFullStop } from "../../kernel/util/text/full-stop.ts";

export interface BackupFailure {
  /** Epoch ms. */
  at: number;
  /** A sentence. */
  reason: string;
}

const LATEST = "SELECT ended_at, error FROM backup_runs ORDER BY started_at DESC LIMIT 1";

/** Undefined if it did not fail, or if one was made since, such as by a command. */
export function lastFailure(
  { database }: Pick<Config, "database">,
  newest: { createdAt: number } | undefined,
): BackupFailure | undefined {
  if (!database.file || !existsSync(database.file)) return undefined;
  let connection: Connection | undefined;
  try {
    connection = openReadOnly(database.file);
    const [latest] = connection.run(LATEST).rows;
    if (typeof latest?.error !== "string") return undefined;
    const at = Number(latest.ended_at);
    return newest && newest.createdAt > at ? undefined : { at, reason: withFullStop(latest.error) };
  } catch {
    // A database of an earlier version has no such table; errors of a damaged one are reported by the start.
    return undefined;
  } finally {
    connection?.close();
  }
}
