// A folder for tests of backups, with a data folder whose database is migrated, and ways to look into databases.
import { join } from "node:path";
import { generateIdentity, identityToRecipient } from "age-encryption";
import { silent } from "../../../tests/support/database.ts";
import { placeMigratedDatabase } from "../../../tests/support/migrated.ts";
import { temporaryDir } from "../../../tests/support/process.ts";
import { type Config, loadConfig } from "../../kernel/config/config.ts";
import { type Database, openDatabase } from "../../kernel/database/database.ts";
import { allSettings } from "../settings.ts";

export interface BackupFolder {
  readonly path: string;
  at(name: string): string;
  /** The settings of a service with this data folder. */
  configOf(env?: Record<string, string>, data?: string): Config;
  remove(): void;
}

/** @param fixed settings of all services in it */
export async function openBackupFolder(
  fixed: (at: BackupFolder["at"]) => Record<string, string> = () => ({}),
): Promise<BackupFolder> {
  const { path, remove } = temporaryDir();
  const at = (name: string) => join(path, name);
  await placeMigratedDatabase(at("data"));
  return {
    path,
    at,
    remove,
    configOf: (env = {}, data = "data") =>
      loadConfig({ DATA_DIR: at(data), ...fixed(at), ...env }, { cwd: path, settings: allSettings }),
  };
}

export async function newKeys(): Promise<{ identity: string; recipient: string }> {
  const identity = await generateIdentity();
  return { identity, recipient: await identityToRecipient(identity) };
}

/** Opens the database of a data folder, and closes it after the work. */
export async function withDatabase<Result>(
  dataDir: string,
  work: (database: Database) => Promise<Result>,
): Promise<Result> {
  const database = await openDatabase({ url: `file:${dataDir}/berth.db`, dataDir, log: silent });
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}
