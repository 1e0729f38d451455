// Runs `berth migrate`: opening the kernel migrates the database. `--dry-run` tries it on a copy, with settings and plugins.

import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { version } from "../../../package.json";
import { clusterSettings } from "../../cluster/settings.ts";
import { environment } from "../../kernel/config/config.ts";
import { localDatabasePath } from "../../kernel/database/database.ts";
import { openKernel } from "../../kernel/kernel.ts";
import { loadAllSettings } from "../settings.ts";

export async function migrateCommand({ plugins, isDry }: { plugins: string[]; isDry: boolean }): Promise<number> {
  if (isDry) return tryMigrations(plugins);
  const kernel = await openKernel(loadAllSettings(environment()));
  await kernel.close();
  process.stdout.write("The database is at this version.\n");
  return 0;
}

/** Starts all but the work: what fails here would fail a start. The copy is of the moment, also while a service runs. */
async function tryMigrations(pluginFiles: string[]): Promise<number> {
  const env = environment();
  const initial = loadAllSettings(env);
  const { loadExternalPlugins } = await import("../external-plugins.ts");
  const external = await loadExternalPlugins([...initial.plugins, ...pluginFiles]);
  const config = loadAllSettings(env, external.settings);
  const path = localDatabasePath(config.database.url);
  // A cluster's machine and a database server are migrated by the first that starts with this version.
  if (path === undefined || config.of(clusterSettings).url !== undefined || !existsSync(path)) {
    process.stdout.write(`Version ${version} accepts the settings and the plugins. The database was not tried.\n`);
    return 0;
  }
  const folder = mkdtempSync(join(config.dataDir, "dry-run-"));
  try {
    const { backUpDatabase } = await import("../backups/database-copy.ts");
    const { createApp } = await import("../app.ts");
    const { loadOrCreateSecretKey } = await import("../../kernel/security/vault.ts");
    const { createLog } = await import("../../kernel/telemetry/log.ts");
    const log = createLog({ ...config.log, level: "silent" });
    const copy = join(folder, "berth.db");
    backUpDatabase(config.database.url, copy);
    const secretKey = config.secretKey ?? loadOrCreateSecretKey(config.dataDir, log);
    const tried = { ...config, secretKey, dataDir: folder, database: { ...config.database, url: `file:${copy}` } };
    const kernel = await openKernel(tried, { log });
    try {
      const app = createApp(kernel, external.plugins);
      await app.prepareExternal();
      await kernel.keyRotation.requireKeys();
    } finally {
      await kernel.close();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  process.stdout.write(`Version ${version} accepts the settings, the plugins and a copy of the database.\n`);
  return 0;
}
