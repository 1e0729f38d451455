// Runs `berth migrate`: opening the kernel migrates the database. `--dry-run` tries a start on a copy, with settings and plugins.

import { version } from "../../../package.json";
import { environment } from "../../kernel/config/config.ts";
import { openKernel } from "../../kernel/kernel.ts";
import { loadAllSettings } from "../settings.ts";
import { UsageError } from "./options.ts";

export async function migrateCommand({ plugins, isDry }: { plugins: string[]; isDry: boolean }): Promise<number> {
  if (isDry) {
    const { tryStart } = await import("../handover/trial.ts");
    const text = (await tryStart(environment(), plugins))
      ? `Version ${version} accepts the settings, the plugins and a copy of the database.\n`
      : `Version ${version} accepts the settings and the plugins. The database was not tried, since it is a cluster's or a server's: make a backup before you start this version.\n`;
    process.stdout.write(text);
    return 0;
  }
  if (plugins.length > 0)
    throw new UsageError(
      "migrate changes Berth's own tables; serve migrates those of plugins. Leave out --plugin, or give --dry-run to try both.",
    );
  const kernel = await openKernel(loadAllSettings(environment()));
  await kernel.close();
  process.stdout.write("The database is at this version.\n");
  return 0;
}
