// Runs `npm run check`: types and lint in parallel. With `--fix` (`npm run format`) it formats and applies safe fixes instead.

import { install, print, run, seconds, tool } from "./bun.mjs";

await install();
const startedAt = performance.now();
if (process.argv.includes("--fix")) process.exit(await run(tool("biome"), ["check", "--write"]));
// With the build information, every run after the first one is incremental.
const types = ["--noEmit", "--incremental", "--tsBuildInfoFile", "node_modules/.cache/types.json", "-p", "."];
const codes = await Promise.all([run(tool("tsc"), types), run(tool("biome"), ["check"])]);
print(`types ${codes[0] === 0 ? "ok" : "FAILED"}, lint ${codes[1] === 0 ? "ok" : "FAILED"} (${seconds(startedAt)})`);
process.exitCode = Math.max(...codes);
