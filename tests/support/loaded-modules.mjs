// Loaded before the service's own code: writes the paths of all modules that are loaded into the file BERTH_LOADED_MODULES at
// SIGUSR2, and into BERTH_LOADED_BEFORE_PORTS, if it is set, just before the first port is bound.

import { renameSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";

const { cache } = createRequire(import.meta.url);
const { BERTH_LOADED_MODULES: loaded, BERTH_LOADED_BEFORE_PORTS: beforePorts } = process.env;

function write(file) {
  writeFileSync(`${file}.new`, JSON.stringify(Object.keys(cache)));
  renameSync(`${file}.new`, file);
}

process.on("SIGUSR2", () => write(loaded));

if (beforePorts) {
  const { serve } = Bun;
  Bun.serve = (...args) => {
    Bun.serve = serve;
    write(beforePorts);
    return serve(...args);
  };
}
