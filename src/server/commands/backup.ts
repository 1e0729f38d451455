// Runs `berth backup`, which copies the database while the service may run, and `berth restore`.

import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { clusterSettings } from "../../cluster/settings.ts";
import { type Config, environment } from "../../kernel/config/config.ts";
import { programName } from "../../kernel/config/program-name.ts";
import { StartError } from "../../kernel/errors.ts";
import { backUpDatabase, restoreDatabase } from "../backup.ts";
import { cellDatabaseUrl } from "../cells/folders.ts";
import { loadAllSettings } from "../settings.ts";

export async function backupCommand(file: string | undefined): Promise<number> {
  if (!file) return usage("backup");
  const config = loadAllSettings(environment());
  const target = resolve(file);
  // Cell 0 comes last: it knows which cell has a name, so a name that is used in a copy of another cell is in its copy, too.
  const sizes = cellsOf(config)
    .toReversed()
    .map((cell) => backUpDatabase(cellDatabaseUrl(config, cell), fileOfCell(target, cell)).bytes);
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  process.stdout.write(
    `${target}${andOthers(config, target)}: ${(bytes / 1024 / 1024).toFixed(1)} MiB, checked. The secrets in it open only with ${keyName(config)}, ` +
      "which is not in it. Keep a copy of that key too, apart from the backups.\n",
  );
  return 0;
}

export async function restoreCommand(file: string | undefined): Promise<number> {
  if (!file) return usage("restore");
  const config = loadAllSettings(environment());
  const source = resolve(file);
  const missing = cellsOf(config).find((cell) => cell > 0 && !existsSync(fileOfCell(source, cell)));
  if (missing !== undefined)
    throw new StartError(`The backup has no file of cell ${missing}: ${fileOfCell(source, missing)} is missing.`);
  const replaced = cellsOf(config).flatMap(
    (cell) => restoreDatabase(fileOfCell(source, cell), cellDatabaseUrl(config, cell)).replaced ?? [],
  );
  const kept = replaced.length > 0 ? ` What was there before is kept as ${replaced.join(", ")}.` : "";
  process.stdout.write(`Restored.${kept} The start needs the key that the backup was made with: ${keyName(config)}.\n`);
  return 0;
}

const cellsOf = (config: Config) => Array.from({ length: config.of(clusterSettings).cells }, (_, cell) => cell);

/** Each cell has a file of its own: that of cell 0 has the given name, the others end in their number. */
const fileOfCell = (file: string, cell: number) => (cell === 0 ? file : `${file}.${cell}`);

const andOthers = (config: Config, file: string) =>
  cellsOf(config)
    .slice(1)
    .map((cell) => `, ${fileOfCell(file, cell)}`)
    .join("");

/** Where the key is that opens the sealed values of the database. */
const keyName = ({ secretKey, dataDir }: Config) => (secretKey ? "SECRET_KEY" : join(dataDir, "secret.key"));

function usage(name: string): number {
  process.stderr.write(`Usage: ${programName()} ${name} FILE\n`);
  return 2;
}
