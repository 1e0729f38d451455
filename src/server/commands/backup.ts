// Runs `berth backup`, which copies the database while the service may run, and `berth restore`.

import { resolve } from "node:path";
import { environment } from "../../kernel/config/config.ts";
import { programName } from "../../kernel/config/program-name.ts";
import { backUpDatabase, restoreDatabase } from "../backup.ts";
import { loadAllSettings } from "../settings.ts";

export async function backupCommand(file: string | undefined): Promise<number> {
  if (!file) return usage("backup");
  const { bytes } = backUpDatabase(loadAllSettings(environment()).database.url, resolve(file));
  process.stdout.write(
    `${resolve(file)}: ${(bytes / 1024 / 1024).toFixed(1)} MiB, checked. Keep secret.key with it.\n`,
  );
  return 0;
}

export async function restoreCommand(file: string | undefined): Promise<number> {
  if (!file) return usage("restore");
  const { replaced } = restoreDatabase(resolve(file), loadAllSettings(environment()).database.url);
  process.stdout.write(`Restored.${replaced ? ` What was there before is kept as ${replaced}.` : ""}\n`);
  return 0;
}

function usage(name: string): number {
  process.stderr.write(`Usage: ${programName()} ${name} FILE\n`);
  return 2;
}
