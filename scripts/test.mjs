// `npm test`: static checks, unit tests, the build, whole-binary tests; the last line is "N passed, N failed".

import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bun, install, root, run, say, seconds } from "./bun.mjs";

const began = performance.now();
const limitMs = 14.5 * 60_000;
const reports = mkdtempSync(join(tmpdir(), "berth-tests-"));
const total = { passed: 0, failed: 0 };

/** What may still be used of the whole time; a step that takes more is killed and has failed. */
const left = () => Math.max(1, Math.round(limitMs - (performance.now() - began)));

/** One command that counts as one check. */
async function check(name, command, ...args) {
  const since = performance.now();
  say(`${name} …`);
  const ok = (await run(command, args, { timeoutMs: left() })) === 0;
  total[ok ? "passed" : "failed"] += 1;
  say(`${name}: ${ok ? "ok" : "FAILED"} (${seconds(since)})`);
  return ok;
}

/** `bun test` over folders; its own counts come from its report. */
async function tests(name, ...folders) {
  const since = performance.now();
  const report = join(reports, `${name.replaceAll(" ", "-")}.xml`);
  const there = folders.filter((folder) => existsSync(join(root, folder)));
  say(`${name} …`);
  // Two busy cores take longer than the five seconds a test has by default.
  const args = ["test", ...there, "--timeout=20000", "--reporter=junit", `--reporter-outfile=${report}`];
  const code = await run(bun, args, { timeoutMs: left() });
  const { passed, failed } = counts(report);
  total.passed += passed;
  // A file that can't be loaded, or a runner that was killed, has no failed test of its own.
  total.failed += code === 0 ? failed : Math.max(1, failed);
  say(`${name}: ${passed} passed, ${failed} failed${code === 0 ? "" : `, exit code ${code}`} (${seconds(since)})`);
}

function counts(report) {
  if (!existsSync(report)) return { passed: 0, failed: 0 };
  const head = /<testsuites [^>]*>/.exec(readFileSync(report, "utf8"))?.[0] ?? "";
  const figure = (name) => Number(new RegExp(` ${name}="(\\d+)"`).exec(head)?.[1] ?? 0);
  const failed = figure("failures");
  return { passed: figure("tests") - failed - figure("skipped"), failed };
}

await install();
const tool = (name) => join(root, "node_modules/.bin", name);
await check("types", tool("tsc"), "--noEmit", "-p", ".");
await check("lint", tool("biome"), "ci", ...(process.stdout.isTTY ? [] : ["--colors=off"]));
await tests("unit tests", "./src", "./plugins", "./channels", "./migrations");
if (await check("build", bun, "src/build.ts")) await tests("whole-binary tests", "./tests");
rmSync(reports, { recursive: true, force: true });
say(`all of it took ${seconds(began)}`);
console.log(`${total.passed} passed, ${total.failed} failed`);
process.exitCode = total.failed === 0 ? 0 : 1;
