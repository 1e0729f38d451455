// Loaded before the service's own source: at SIGUSR2 it writes the paths of all modules that are loaded into the file BERTH_LOADED_MODULES.

import { renameSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";

const { cache } = createRequire(import.meta.url);
process.on("SIGUSR2", () => {
  const file = process.env.BERTH_LOADED_MODULES;
  writeFileSync(`${file}.new`, JSON.stringify(Object.keys(cache)));
  renameSync(`${file}.new`, file);
});
