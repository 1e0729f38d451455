// Runs `berth migrate`: opening the kernel migrates the database.

import { environment } from "../../kernel/config/config.ts";
import { openKernel } from "../../kernel/kernel.ts";
import { loadAllSettings } from "../settings.ts";

export async function migrateCommand(): Promise<number> {
  const kernel = await openKernel(loadAllSettings(environment()));
  await kernel.close();
  process.stdout.write("The database is at this version.\n");
  return 0;
}
