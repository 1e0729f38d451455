// Runs `npm test`: static checks, unit tests, the build, whole-binary tests and half a minute of fuzzing. The last line is "N passed, N failed".
//
//   npm test                    everything
//   npm test -- FILE…           these test files, or all below these folders
//   npm run test:unit           only the unit tests
//   npm run test:changed        the test files that import something changed since the last commit

import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";
import { build, bun, exitWithError, install, print, root, run, seconds, tool } from "./bun.mjs";
import { hasNats, installNats } from "./nats.mjs";

const startedAt = performance.now();
/** It should take less than 15 minutes on two cores; a slow machine may take longer. */
const limitMs = 60 * 60_000;
const reports = mkdtempSync(join(tmpdir(), "berth-tests-"));
// Where tests share a migrated database (tests/support/migrated.ts).
process.env.BERTH_TEST_TEMPLATES = reports;
const total = { passed: 0, failed: 0 };
/** The time of each stage, for the summary. */
const stages = [];
/** Tests that failed and then passed when their file ran again alone. */
const flaky = [];
/** Tests that failed, also alone: their names come last, because the output above them is long. */
const failing = [];

/** Returns the milliseconds that remain of the limit. A step that takes longer is killed, and counts as failed. */
const remainingMs = () => Math.max(1, Math.round(limitMs - (performance.now() - startedAt)));

async function stage(name, work) {
  const stageStart = performance.now();
  print(`${name} …`);
  const result = await work();
  const time = seconds(stageStart);
  stages.push(`${name} ${time}`);
  print(`${name}: ${result.text} (${time})`);
  return result;
}

/** Runs one command, which counts as one check. */
async function check(name, command, ...args) {
  const { ok } = await stage(name, async () => {
    const ok = (await run(command, args, { timeoutMs: remainingMs() })) === 0;
    return { ok, text: ok ? "ok" : "FAILED" };
  });
  total[ok ? "passed" : "failed"] += 1;
  return ok;
}

const UNIT = ["./src", "./site", "./web", "./plugins", "./channels", "./migrations", "./packages", "./bench"];
/** Whole-binary tests that compare times: nothing else runs beside them. */
const TIMED = ["timing", "login-storm"];
/** Files at a time on two cores, because tests wait: for time limits or the service. */
const SIDE_BY_SIDE = "--parallel=4";
/** The browser waits less. */
const IN_BROWSERS = "--parallel=3";
/**
 * The files of a process share their modules and its browser. Loading them for each file again took a quarter of the time of
 * the unit tests and a sixth of the console's; other tests load little. So each file ends what it began.
 */
const SHARING = "--no-isolate";
/** How long the slow files took, so that they begin first. */
const TIMINGS = "scripts/test-timings.json";
/** The same requests in every run; `npm run fuzz` tries others. */
const FUZZ_SEED = "20261122";
/** Up to this many files with failures run once more. More failures have a common cause. */
const RETRIED_FILES = 8;
/** A busy machine may take ten times as long as a quiet one. A test that hangs ends at this limit. */
const TEST_LIMIT_MS = 240_000;

/** Runs `bun test` over files and folders and adds its counts to the total. */
async function runTestStage(name, paths, ...options) {
  if (paths.length === 0) return;
  await stage(name, async () => {
    const first = await runTests(name, paths, ...options);
    let { passed, failed, names } = first;
    if (first.files.length > 0 && first.files.length <= RETRIED_FILES) {
      // A test that failed because of the load passes alone. The summary names it, because it must be repaired.
      const files = first.files.map((file) => `./${file}`);
      print(`${name}: ${failed} failed; running again, alone: ${files.join(" ")} …`);
      const second = await runTests(`${name} again`, files);
      const stillFailing = new Set(second.names);
      flaky.push(...first.names.filter((test) => !stillFailing.has(test)));
      names = second.names;
      [passed, failed] = [passed + failed - second.failed, second.failed];
    }
    total.passed += passed;
    total.failed += failed;
    failing.push(...names);
    return { text: `${passed} passed, ${failed} failed` };
  });
}

/**
 * `files` and `names` list the failed tests, and the files in which an error came between tests or while the file was loaded.
 * They are empty if the runner was killed.
 */
async function runTests(name, paths, ...options) {
  const report = join(reports, `${name.replaceAll(" ", "-")}.xml`);
  const reporter = ["--reporter=junit", `--reporter-outfile=${report}`];
  const args = ["test", ...paths, ...options, `--timeout=${TEST_LIMIT_MS}`, `--timings=${TIMINGS}`, ...reporter];
  let printed = "";
  const onStderr = (text) => {
    printed += text;
  };
  const code = await run(bun, args, { timeoutMs: remainingMs(), onStderr });
  const xml = existsSync(report) ? readFileSync(report, "utf8") : "";
  const head = /<testsuites [^>]*>/.exec(xml)?.[0] ?? "";
  const figure = (name) => Number(new RegExp(` ${name}="(\\d+)"`).exec(head)?.[1] ?? 0);
  const failures = figure("failures");
  const passed = figure("tests") - failures - figure("skipped");
  if (code === 0) return { passed, failed: failures, files: [], names: [] };
  const failedTests = [...xml.matchAll(/<testcase ([^>]*[^/])>\s*<(?:failure|error)\b/g)].map(([, attributes]) => ({
    file: attribute(attributes, "file"),
    name: `${attribute(attributes, "file")}: ${attribute(attributes, "name")}`,
  }));
  const all = [...failedTests, ...errorsBetweenTests(printed)];
  const names = all.map(({ name }) => name);
  // A killed runner prints no summary, so the tests that it did not reach count as one failure.
  if (all.length === 0 || !/^\s*\d+ fail$/m.test(printed)) return { passed, failed: all.length + 1, files: [], names };
  return { passed, failed: all.length, files: [...new Set(all.map(({ file }) => file))], names };
}

/** The errors that belong to no test, which only the printed report has. The stack names the file; if not, the current file. */
function errorsBetweenTests(printed) {
  const errors = [];
  let current = "";
  for (const [, heading, error] of printed.matchAll(
    /^(\S+\.test\.tsx?):$|^# Unhandled error between tests\n-+\n([\s\S]*?)\n-{20,}$/gm,
  )) {
    if (heading) current = heading;
    else {
      const inStack = /^\s+at .*?([^\s(]+\.test\.tsx?):\d+/m.exec(error)?.[1];
      const file = inStack ? relative(root, resolve(root, inStack)) : current;
      const message = /^error: .*/m.exec(error)?.[0] ?? "an error";
      errors.push({ file, name: `${file}: between tests: ${message}` });
    }
  }
  return errors;
}

const ENTITIES = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&apos;": "'" };
const attribute = (text, name) =>
  (new RegExp(`\\b${name}="([^"]*)"`).exec(text)?.[1] ?? "").replace(
    /&(?:amp|lt|gt|quot|apos);/g,
    (one) => ENTITIES[one],
  );

/** Gets nats-server for the tests of a cluster, as root on Debian. Elsewhere it must be installed. */
async function installNatsServer() {
  if (hasNats() || process.getuid?.() !== 0 || !existsSync("/usr/bin/apt-get")) return;
  await stage("install nats-server", async () => {
    const problem = await installNats(remainingMs());
    return { text: problem === undefined ? "ok" : `not possible: ${problem}; the tests that need it will say so` };
  });
}

/** Installs the programs of the stream, browser and mail tests, as root on Debian. Elsewhere they must be installed. */
async function installPrograms() {
  const paths = (process.env.PATH ?? "").split(":");
  // Programs that are not called like their packages, and lie where only root looks.
  const programs = { "dovecot-imapd": "/usr/sbin/dovecot" };
  const names = ["ffmpeg", "chromium", "chromium-headless-shell", "dovecot-imapd", "prometheus"];
  const missing = names.filter(
    (name) => !paths.some((path) => existsSync(join(path, name))) && !existsSync(programs[name] ?? ""),
  );
  if (missing.length === 0 || process.getuid?.() !== 0 || !existsSync("/usr/bin/apt-get")) return;
  process.env.DEBIAN_FRONTEND = "noninteractive";
  const apt = (...args) => run("apt-get", ["-qq", "-o=Dpkg::Use-Pty=0", ...args], { timeoutMs: remainingMs() });
  await stage(`install ${missing.join(" and ")}`, async () => {
    await apt("update");
    // One by one: the build of Chromium without a user interface, which is only faster, is not in every Debian.
    const codes = [];
    for (const name of missing) codes.push(await apt("install", "-y", "--no-install-recommends", name));
    return {
      text: codes.every((code) => code === 0) ? "ok" : "not all possible; the tests that need them will say so",
    };
  });
}

const wholeBinaryTests = () =>
  readdirSync(join(root, "tests"), { recursive: true })
    .filter((file) => file.endsWith(".test.ts"))
    .map((file) => `./tests/${file}`);
const isOfConsole = (file) => file.startsWith("./tests/console/");
const isTimed = (file) => TIMED.some((name) => file.endsWith(`/${name}.test.ts`));

async function runAll() {
  await installPrograms();
  await installNatsServer();
  // The first takes one core for as long as the others take together.
  await Promise.all([
    check("types", tool("tsc"), "--noEmit", "-p", "."),
    check("types of the console", tool("tsc"), "--noEmit", "-p", "web").then(() =>
      check("lint", tool("biome"), "ci", ...(process.stdout.isTTY ? [] : ["--colors=off"])),
    ),
  ]);
  await runTestStage("unit tests", UNIT, SIDE_BY_SIDE, SHARING);
  if (!(await check("build", bun, "src/server/build.ts"))) return;
  const files = wholeBinaryTests();
  await runTestStage(
    "whole-binary tests",
    files.filter((file) => !isTimed(file) && !isOfConsole(file)),
    SIDE_BY_SIDE,
  );
  await runTestStage("tests of the console", files.filter(isOfConsole), IN_BROWSERS, SHARING);
  await runTestStage("timed tests", files.filter(isTimed));
  await check("fuzz", bun, "tests/fuzz/main.ts", "--seconds", "30", "--seed", FUZZ_SEED);
}

async function runPaths(paths) {
  const files = paths.map((path) => `./${relative(root, resolve(path))}`);
  for (const path of files) if (!existsSync(join(root, path))) exitWithError(`There is no ${path}.`);
  if (files.some((path) => path.startsWith("./tests"))) await build();
  await runTestStage("tests", files);
}

async function runChanged() {
  await runTestStage("unit tests", [...UNIT, "--changed", "--pass-with-no-tests"], SIDE_BY_SIDE, SHARING);
}

await install();
const args = process.argv.slice(2);
if (args.includes("--unit")) await runTestStage("unit tests", UNIT, SIDE_BY_SIDE, SHARING);
else if (args.includes("--changed")) await runChanged();
else if (args.length > 0) await runPaths(args);
else await runAll();
rmSync(reports, { recursive: true, force: true });

print(`stages: ${stages.join(", ")}; total ${seconds(startedAt)}`);
if (flaky.length > 0) print(`${flaky.length} flaky (failed, then passed alone):\n  ${flaky.join("\n  ")}`);
if (failing.length > 0) print(`${failing.length} failed:\n  ${failing.join("\n  ")}`);
console.log(`${total.passed} passed, ${total.failed} failed`);
process.exitCode = total.failed === 0 ? 0 : 1;
