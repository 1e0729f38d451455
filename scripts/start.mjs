// `npm start`: installs what is missing, builds what is old, and serves.

import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { bun, fail, install, root, run, say, seconds } from "./bun.mjs";

const binary = join(root, "dist/berth");
const sources = ["src", "plugins", "channels", "migrations", "package.json", "bun.lock"];

/** When a file, or the newest file of a folder, was changed. */
function changed(path) {
  const stat = statSync(path);
  if (!stat.isDirectory()) return stat.mtimeMs;
  return Math.max(stat.mtimeMs, ...readdirSync(path).map((name) => changed(join(path, name))));
}

function upToDate() {
  if (!existsSync(binary)) return false;
  const built = statSync(binary).mtimeMs;
  return sources.map((name) => join(root, name)).every((path) => !existsSync(path) || changed(path) <= built);
}

await install();
if (!upToDate()) {
  const began = performance.now();
  say("building …");
  if ((await run(bun, ["src/build.ts"])) !== 0) fail("The build failed; see above.");
  say(`built in ${seconds(began)}`);
}
process.exitCode = await run(binary, ["serve", ...process.argv.slice(2)]);
