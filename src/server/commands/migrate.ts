// Runs `berth migrate`: opening the kernel migrates the database.
import { environment, loadConfig } from "../../kernel/config/config.ts";
import { openKernel } from "../../kernel/kernel.ts";

export async function migrateCommand(): Promise<number> {
  const kernel = await openKernel(loadConfig(environment()));
  await kernel.close();
  process.stdout.write("The database is at this version.\n");
  return 0;
}
