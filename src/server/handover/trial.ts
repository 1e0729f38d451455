// Tries a start: settings, plugins, and the databases as copies. It makes every check that a start makes before it serves, and nothing else:
// no listener, no job, no background work, and in the data folder only the copies, as long as it runs.
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createCellNames } from "../../cluster/cells/cell-names.ts";
import { clusterSettings } from "../../cluster/settings.ts";
import type { Config, Environment } from "../../kernel/config/config.ts";
import { localDatabasePath } from "../../kernel/database/database-path.ts";
import { StartError } from "../../kernel/errors.ts";
import { type KernelSeams, openKernel } from "../../kernel/kernel.ts";
import { loadOrCreateSecretKey } from "../../kernel/security/vault.ts";
import { createLog, type Log } from "../../kernel/telemetry/log.ts";
import { createApp } from "../app.ts";
import { backUpDatabase } from "../backups/database-copy.ts";
import { cellEnvironment, requireAllCells } from "../cells/folders.ts";
import { type ExternalPlugins, loadExternalPlugins } from "../external-plugins.ts";
import { loadAllSettings } from "../settings.ts";

/** Throws what a start would throw. Returns whether there was a database to try. */
export async function tryStart(env: Environment, pluginFiles: readonly string[]): Promise<boolean> {
  const initial = loadAllSettings(env);
  const external = await loadExternalPlugins([...initial.plugins, ...pluginFiles]);
  const config = loadAllSettings(env, external.settings);
  const { cells, url } = config.of(clusterSettings);
  if (url === undefined) requireAllCells(config, cells);
  const path = localDatabasePath(config.database.url);
  // A cluster's machine and a database server are migrated by the first that starts with this version.
  const hasDatabase = path !== undefined && url === undefined && existsSync(path);
  // A large copy needs the disk of the database; an empty one fits anywhere.
  const folder = mkdtempSync(hasDatabase ? join(config.dataDir, "dry-run-") : join(tmpdir(), "berth-dry-run-"));
  try {
    const log = createLog({ ...config.log, level: "silent" });
    const seams: KernelSeams = { log, keyDir: config.dataDir, ...cellSeam(0, cells, log) };
    await tryCell(config, external, hasDatabase, join(folder, "0"), seams);
    const hasKeyFile = existsSync(join(config.dataDir, "secret.key"));
    for (let cell = 1; hasDatabase && cell < cells; cell++) {
      const keyDir = hasKeyFile ? config.dataDir : join(folder, "0");
      const key = config.secretKey ?? loadOrCreateSecretKey(keyDir, log);
      const settings = loadAllSettings(cellEnvironment(config, env, key, cell), external.settings);
      const hasCell = settings.database.file !== undefined && existsSync(settings.database.file);
      await tryCell(settings, external, hasCell, join(folder, String(cell)), { log, ...cellSeam(cell, cells, log) });
    }
    return hasDatabase;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** With a copy of the database, or an empty one. */
async function tryCell(
  config: Config,
  external: ExternalPlugins,
  hasDatabase: boolean,
  folder: string,
  seams: KernelSeams,
): Promise<void> {
  mkdirSync(folder, { mode: 0o700 });
  const file = join(folder, "berth.db");
  if (hasDatabase) backUpDatabase(config.database.url, file);
  const database = { ...config.database, url: `file:${file}`, file, authToken: undefined };
  const kernel = await openKernel({ ...config, dataDir: folder, database }, seams);
  try {
    const app = createApp(kernel, external.plugins);
    await app.prepareExternal();
    await kernel.keyRotation.requireKeys();
    if (config.role !== "web") await app.check();
  } finally {
    await kernel.close();
  }
}

/** Plugins see that there are other cells, which a trial never asks. */
function cellSeam(here: number, count: number, log: Log): Pick<KernelSeams, "cells"> {
  if (count === 1) return {};
  const refuse = () => Promise.reject(new StartError("A trial asks no other cell."));
  const directory = { find: refuse, reserve: refuse, confirm: refuse };
  return {
    cells: () =>
      createCellNames({ here, count: () => count, directory, leastLoaded: refuse, ask: refuse, bring: refuse, log }),
  };
}
