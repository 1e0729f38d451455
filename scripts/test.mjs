// `npm test`: static checks, unit tests, the build, whole-binary tests; the last line is "N passed, N failed".
//
//   npm test                    everything
//   npm test -- FILE…           these test files, or all below these folders
//   npm run test:unit           the unit tests alone
//   npm run test:changed        the test files that import something changed since the last commit

import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";
import { build, bun, fail, install, root, run, say, seconds, tool } from "./bun.mjs";

const began = performance.now();
const limitMs = 14.5 * 60_000;
const reports = mkdtempSync(join(tmpdir(), "berth-tests-"));
const total = { passed: 0, failed: 0 };
/** The time of each stage, for the summary. */
const stages = [];
/** Tests that failed and then passed when their file ran again alone. */
const flaky = [];

/** Milliseconds that remain of the limit; a step that takes longer is killed and has failed. */
const remaining = () => Math.max(1, Math.round(limitMs - (performance.now() - began)));

async function stage(name, work) {
  const since = performance.now();
  say(`${name} …`);
  const result = await work();
  const time = seconds(since);
  stages.push(`${name} ${time}`);
  say(`${name}: ${result.text} (${time})`);
  return result;
}

/** One command that counts as one check. */
async function check(name, command, ...args) {
  const { ok } = await stage(name, async () => {
    const ok = (await run(command, args, { timeoutMs: remaining() })) === 0;
    return { ok, text: ok ? "ok" : "FAILED" };
  });
  total[ok ? "passed" : "failed"] += 1;
  return ok;
}

const UNIT = ["./src", "./plugins", "./channels", "./migrations"];
/** Whole-binary tests that compare times: nothing else runs beside them. */
const TIMED = ["timing", "login-storm"];
/** Two files at a time, because most of what a test does is wait. */
const SIDE_BY_SIDE = "--parallel=2";
/** Up to this many files with failures run once more: more than these are no accident. */
const RETRIED_FILES = 3;

/** Runs `bun test` over files and folders and adds its counts to the total. */
async function tests(name, paths, ...options) {
  if (paths.length === 0) return;
  await stage(name, async () => {
    const first = await runTests(name, paths, ...options);
    let { passed, failed } = first;
    if (first.files.length > 0 && first.files.length <= RETRIED_FILES) {
      // A test that other work on the machine made fail passes alone. The summary names it, because it needs mending.
      const files = first.files.map((file) => `./${file}`);
      say(`${name}: ${failed} failed; running again, alone: ${files.join(" ")} …`);
      const second = await runTests(`${name} again`, files);
      const stillFailing = new Set(second.names);
      flaky.push(...first.names.filter((test) => !stillFailing.has(test)));
      if (second.failed === 0) [passed, failed] = [passed + failed, 0];
    }
    total.passed += passed;
    total.failed += failed;
    return { text: `${passed} passed, ${failed} failed` };
  });
}

/** `files` and `names` list the failed tests; they are empty where a file could not be loaded or the runner was killed. */
async function runTests(name, paths, ...options) {
  const report = join(reports, `${name.replaceAll(" ", "-")}.xml`);
  const reporter = ["--reporter=junit", `--reporter-outfile=${report}`];
  // Two busy cores need more than the five seconds that a test has by default.
  const args = ["test", ...paths, ...options, "--timeout=20000", ...reporter];
  let end = "";
  const onError = (text) => {
    end = (end + text).slice(-2_000);
  };
  const code = await run(bun, args, { timeoutMs: remaining(), onError });
  const xml = existsSync(report) ? readFileSync(report, "utf8") : "";
  const head = /<testsuites [^>]*>/.exec(xml)?.[0] ?? "";
  const figure = (name) => Number(new RegExp(` ${name}="(\\d+)"`).exec(head)?.[1] ?? 0);
  const failures = figure("failures");
  const passed = figure("tests") - failures - figure("skipped");
  const failedTests = [...xml.matchAll(/<testcase ([^>]*[^/])>\s*<(?:failure|error)\b/g)].map(([, attributes]) => ({
    file: attribute(attributes, "file"),
    name: `${attribute(attributes, "file")}: ${attribute(attributes, "name")}`,
  }));
  // A file that can't be loaded, or a runner that was killed, has no failed test of its own.
  const isComplete = /^\s*\d+ fail$/m.test(end) && !/^\s*\d+ errors?$/m.test(end);
  if (code === 0) return { passed, failed: failures, files: [], names: [] };
  if (!isComplete || failures === 0) return { passed, failed: failures + 1, files: [], names: [] };
  const files = [...new Set(failedTests.map(({ file }) => file))];
  return { passed, failed: failures, files, names: failedTests.map(({ name }) => name) };
}

const ENTITIES = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&apos;": "'" };
const attribute = (text, name) =>
  (new RegExp(`\\b${name}="([^"]*)"`).exec(text)?.[1] ?? "").replace(
    /&(?:amp|lt|gt|quot|apos);/g,
    (one) => ENTITIES[one],
  );

/** Installs the programs that the stream and browser tests start, as root on Debian; elsewhere they must be there. */
async function installPrograms() {
  const paths = (process.env.PATH ?? "").split(":");
  const missing = ["ffmpeg", "chromium"].filter((name) => !paths.some((path) => existsSync(join(path, name))));
  if (missing.length === 0 || process.getuid?.() !== 0 || !existsSync("/usr/bin/apt-get")) return;
  process.env.DEBIAN_FRONTEND = "noninteractive";
  const apt = (...args) => run("apt-get", ["-qq", "-o=Dpkg::Use-Pty=0", ...args], { timeoutMs: remaining() });
  await stage(`install ${missing.join(" and ")}`, async () => {
    await apt("update");
    const code = await apt("install", "-y", "--no-install-recommends", ...missing);
    return { text: code === 0 ? "ok" : "not possible; the tests that need them will say so" };
  });
}

const wholeBinaryTests = () =>
  readdirSync(join(root, "tests"), { recursive: true })
    .filter((file) => file.endsWith(".test.ts"))
    .map((file) => `./tests/${file}`);
const isTimed = (file) => TIMED.some((name) => file.endsWith(`/${name}.test.ts`));

async function everything() {
  await installPrograms();
  await check("types", tool("tsc"), "--noEmit", "-p", ".");
  await check("lint", tool("biome"), "ci", ...(process.stdout.isTTY ? [] : ["--colors=off"]));
  await tests("unit tests", UNIT, SIDE_BY_SIDE);
  if (!(await check("build", bun, "src/server/build.ts"))) return;
  const files = wholeBinaryTests();
  await tests(
    "whole-binary tests",
    files.filter((file) => !isTimed(file)),
    SIDE_BY_SIDE,
  );
  await tests("timed tests", files.filter(isTimed));
}

async function some(paths) {
  const wanted = paths.map((path) => `./${relative(root, resolve(path))}`);
  for (const path of wanted) if (!existsSync(join(root, path))) fail(`There is no ${path}.`);
  if (wanted.some((path) => path.startsWith("./tests"))) await build();
  await tests("tests", wanted);
}

async function changed() {
  await tests("unit tests", [...UNIT, "--changed", "--pass-with-no-tests"], SIDE_BY_SIDE);
}

await install();
const args = process.argv.slice(2);
if (args.includes("--unit")) await tests("unit tests", UNIT, SIDE_BY_SIDE);
else if (args.includes("--changed")) await changed();
else if (args.length > 0) await some(args);
else await everything();
rmSync(reports, { recursive: true, force: true });

say(`stages: ${stages.join(", ")}; all of it ${seconds(began)}`);
if (flaky.length > 0) say(`${flaky.length} flaky (failed, then passed alone):\n  ${flaky.join("\n  ")}`);
console.log(`${total.passed} passed, ${total.failed} failed`);
process.exitCode = total.failed === 0 ? 0 : 1;
