// `npm run check`: types and lint side by side. `--fix` (`npm run format`) also formats and applies safe fixes.

import { install, run, say, seconds, tool } from "./bun.mjs";

await install();
const began = performance.now();
if (process.argv.includes("--fix")) process.exit(await run(tool("biome"), ["check", "--write"]));
// The build information makes every run but the first one incremental.
const types = ["--noEmit", "--incremental", "--tsBuildInfoFile", "node_modules/.cache/types.json", "-p", "."];
const codes = await Promise.all([run(tool("tsc"), types), run(tool("biome"), ["check"])]);
say(`types ${codes[0] === 0 ? "ok" : "FAILED"}, lint ${codes[1] === 0 ? "ok" : "FAILED"} (${seconds(began)})`);
process.exitCode = Math.max(...codes);
