// Loaded before the binary's own code: at SIGUSR2 it writes what the JavaScript heap holds into the file BERTH_HEAP_REPORT.

import { heapStats } from "bun:jsc";
import { renameSync, writeFileSync } from "node:fs";

process.on("SIGUSR2", () => {
  Bun.gc(true);
  const file = process.env.BERTH_HEAP_REPORT;
  writeFileSync(`${file}.new`, JSON.stringify(heapStats()));
  renameSync(`${file}.new`, file);
});
