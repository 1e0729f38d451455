// Runs `berth backup`, which copies the database while the service may run, and `berth restore`.

import { join, resolve } from "node:path";
import { type Config, environment } from "../../kernel/config/config.ts";
import { programName } from "../../kernel/config/program-name.ts";
import { backUpDatabase, restoreDatabase } from "../backup.ts";
import { loadAllSettings } from "../settings.ts";

export async function backupCommand(file: string | undefined): Promise<number> {
  if (!file) return usage("backup");
  const config = loadAllSettings(environment());
  const { bytes } = backUpDatabase(config.database.url, resolve(file));
  process.stdout.write(
    `${resolve(file)}: ${(bytes / 1024 / 1024).toFixed(1)} MiB, checked. The secrets in it open only with ${keyName(config)}, ` +
      "which is not in it. Keep a copy of that key too, apart from the backups.\n",
  );
  return 0;
}

export async function restoreCommand(file: string | undefined): Promise<number> {
  if (!file) return usage("restore");
  const config = loadAllSettings(environment());
  const { replaced } = restoreDatabase(resolve(file), config.database.url);
  const kept = replaced ? ` What was there before is kept as ${replaced}.` : "";
  process.stdout.write(`Restored.${kept} The start needs the key that the backup was made with: ${keyName(config)}.\n`);
  return 0;
}

/** Where the key is that opens the sealed values of the database. */
const keyName = ({ secretKey, dataDir }: Config) => (secretKey ? "SECRET_KEY" : join(dataDir, "secret.key"));

function usage(name: string): number {
  process.stderr.write(`Usage: ${programName()} ${name} FILE\n`);
  return 2;
}
