// `npm test`: static checks, unit tests, the build, whole-binary tests; the last line is "N passed, N failed".

import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
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

/** Whole-binary tests that compare times: nothing else runs beside them. */
const TIMED = ["timing", "login-storm"];
/** Two files at a time: most of what a test does is wait. */
const SIDE_BY_SIDE = "--parallel=2";
/** Files with failures that are worth a second look; more than these are no accident. */
const FEW = 3;

/** `bun test` over files and folders; its own counts come from its report. */
async function tests(name, paths, ...options) {
  const since = performance.now();
  say(`${name} …`);
  const first = await runTests(name, paths, ...options);
  let { passed, failed } = first;
  if (first.files.length > 0 && first.files.length <= FEW) {
    // What other work on the machine made fail passes alone. It is told all the same: such a test wants mending.
    const files = first.files.map((file) => `./${file}`);
    say(`${name}: ${failed} failed; once more, alone: ${files.join(" ")} …`);
    const second = await runTests(`${name} again`, files);
    if (second.failed === 0) {
      say(`${name}: ${failed} passed only alone: ${files.join(" ")}`);
      [passed, failed] = [passed + failed, 0];
    }
  }
  total.passed += passed;
  total.failed += failed;
  say(`${name}: ${passed} passed, ${failed} failed (${seconds(since)})`);
}

/** Runs some files or folders; `files` are those with failed tests, where that is all that went wrong. */
async function runTests(name, paths, ...options) {
  const report = join(reports, `${name.replaceAll(" ", "-")}.xml`);
  // Two busy cores take longer than the five seconds a test has by default.
  const reporter = ["--reporter=junit", `--reporter-outfile=${report}`];
  const args = ["test", ...paths, ...options, "--timeout=20000", ...reporter];
  let end = "";
  const heard = (text) => {
    end = (end + text).slice(-2_000);
  };
  const code = await run(bun, args, { timeoutMs: left(), heard });
  const xml = existsSync(report) ? readFileSync(report, "utf8") : "";
  const head = /<testsuites [^>]*>/.exec(xml)?.[0] ?? "";
  const figure = (name) => Number(new RegExp(` ${name}="(\\d+)"`).exec(head)?.[1] ?? 0);
  const failures = figure("failures");
  const cases = xml.matchAll(/<testcase [^>]*?\bfile="([^"]+)"[^>]*[^/]>\s*<(?:failure|error)\b/g);
  const files = [...new Set([...cases].map(([, file]) => file))];
  const passed = figure("tests") - failures - figure("skipped");
  // A file that can't be loaded, or a runner that was killed, has no failed test of its own.
  const whole = /^\s*\d+ fail$/m.test(end) && !/^\s*\d+ errors?$/m.test(end);
  if (code === 0 || (whole && failures > 0)) return { passed, failed: failures, files };
  return { passed, failed: failures + 1, files: [] };
}

/** What live streams are tested with, from Debian: a publisher and a browser. Elsewhere they have to be there. */
async function installPrograms() {
  const paths = (process.env.PATH ?? "").split(":");
  const missing = ["ffmpeg", "chromium"].filter((name) => !paths.some((path) => existsSync(join(path, name))));
  if (missing.length === 0 || process.getuid?.() !== 0 || !existsSync("/usr/bin/apt-get")) return;
  const since = performance.now();
  say(`installing ${missing.join(" and ")} …`);
  process.env.DEBIAN_FRONTEND = "noninteractive";
  const quiet = ["-qq", "-o=Dpkg::Use-Pty=0"];
  await run("apt-get", [...quiet, "update"], { timeoutMs: left() });
  const wanted = ["install", "-y", "--no-install-recommends", ...missing];
  if ((await run("apt-get", [...quiet, ...wanted], { timeoutMs: left() })) === 0) say(`installed in ${seconds(since)}`);
  else say(`${missing.join(" and ")} could not be installed; the tests that need them will say so`);
}

await install();
await installPrograms();
const tool = (name) => join(root, "node_modules/.bin", name);
await check("types", tool("tsc"), "--noEmit", "-p", ".");
await check("lint", tool("biome"), "ci", ...(process.stdout.isTTY ? [] : ["--colors=off"]));
await tests("unit tests", ["./src", "./plugins", "./channels", "./migrations"], SIDE_BY_SIDE);
if (await check("build", bun, "src/build.ts")) {
  const files = readdirSync(join(root, "tests"), { recursive: true })
    .filter((file) => file.endsWith(".test.ts"))
    .map((file) => `./tests/${file}`);
  const isTimed = (file) => TIMED.some((name) => file.endsWith(`/${name}.test.ts`));
  await tests(
    "whole-binary tests",
    files.filter((file) => !isTimed(file)),
    SIDE_BY_SIDE,
  );
  await tests("timed tests", files.filter(isTimed));
}
rmSync(reports, { recursive: true, force: true });
say(`all of it took ${seconds(began)}`);
console.log(`${total.passed} passed, ${total.failed} failed`);
process.exitCode = total.failed === 0 ? 0 : 1;
