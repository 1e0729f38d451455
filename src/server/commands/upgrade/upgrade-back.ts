// Runs `berth upgrade --back`: puts the program from before in place, with the copy of the database only if told so.
import { existsSync } from "node:fs";
import type { Config } from "../../../kernel/config/config.ts";
import { copiesOf, restoreCopy } from "../../../kernel/database/before-migration/migration-copy.ts";
import { openReadOnly } from "../../../kernel/database/connection.ts";
import { localDatabasePath } from "../../../kernel/database/database-path.ts";
import { StartError } from "../../../kernel/errors.ts";
import type { ProcessState } from "../../handover/restarts.ts";
import { previousOf, readRecord, switchBack, writeRecord } from "../../upgrade/record.ts";
import { noteForStart } from "../security/operator-note.ts";
import { check, restartService } from "./upgraded-service.ts";

export async function goBack(
  config: Config,
  service: ProcessState | undefined,
  file: string,
  withDatabase: boolean,
): Promise<number> {
  const previous = previousOf(file);
  if (!existsSync(previous)) throw new StartError(`There is no version from before: ${previous} is missing.`);
  const path = localDatabasePath(config.database.url);
  const copy = path === undefined ? undefined : copiesOf(path)[0];
  if (withDatabase && (!copy || path === undefined))
    throw new StartError("There is no copy of the database from before.");
  if (!withDatabase) await requireOldEnough(config, service, previous, path, copy);
  const record = readRecord(config);
  switchBack(file, { keepsPresent: true });
  if (record) writeRecord(config, { ...record, state: "done" });
  const versions = { from: service?.version ?? record?.to ?? null, to: record?.from ?? null };
  noteForStart(config, "service.upgrade-back", { ...versions, withDatabase });
  process.stdout.write(`${file} is the version from before; the other one is kept as ${previous}.\n`);
  const restored = withDatabase && copy ? copy.file : undefined;
  if (restored !== undefined && path !== undefined) {
    process.stdout.write(`Goes with the database: ${lossOf(path, restored)}\n`);
    if (!service) restoreCopy(path, restored);
  }
  return restartService(config, service, record?.from ?? "from before", restored === undefined ? {} : { restored });
}

/** A version that can't read the database is not put in place. */
async function requireOldEnough(
  config: Config,
  service: ProcessState | undefined,
  previous: string,
  path: string | undefined,
  copy: { file: string; at: number } | undefined,
): Promise<void> {
  try {
    await check(config, service, previous);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    if (!copy || path === undefined) throw error;
    throw new StartError(
      `${why} To go back with the copy of the database from ${new Date(copy.at).toISOString()}: berth upgrade --back --with-database. It loses ${lossOf(path, copy.file)}`,
    );
  }
}

/** What the database has and the copy has not, in words. */
function lossOf(path: string, copy: string): string {
  const count = (file: string, table: string, isImmutable: boolean) => {
    const connection = openReadOnly(file, { immutable: isImmutable });
    try {
      return Number(connection.run(`SELECT count(*) FROM ${table}`).rows[0]?.[0] ?? 0);
    } finally {
      connection.close();
    }
  };
  const lost = (["users", "agents", "messages"] as const).map(
    (table) => `${Math.max(0, count(path, table, false) - count(copy, table, true))} ${table}`,
  );
  return `what was stored since, among it ${lost.join(", ")}. The present database is kept beside it as ${path}.failed.`;
}
