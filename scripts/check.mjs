// Runs `npm run check`: types and lint in parallel. With `--fix` (`npm run format`) it formats and applies safe fixes instead.

import { install, print, run, seconds, tool } from "./bun.mjs";

await install();
const startedAt = performance.now();
if (process.argv.includes("--fix")) process.exit(await run(tool("biome"), ["check", "--write"]));
// With the build information, every run after the first one is incremental.
const types = (project, name) =>
  run(tool("tsc"), [
    "--noEmit",
    "--incremental",
    "--tsBuildInfoFile",
    `node_modules/.cache/${name}.json`,
    "-p",
    project,
  ]);
const codes = await Promise.all([
  types(".", "types"),
  types("web", "web-types"),
  types("packages/client", "client-types"),
  run(tool("biome"), ["check"]),
]);
const [server, web, client, lint] = codes.map((code) => (code === 0 ? "ok" : "FAILED"));
print(`types ${server}, of the console ${web}, of the client ${client}, lint ${lint} (${seconds(startedAt)})`);
process.exitCode = Math.max(...codes);
