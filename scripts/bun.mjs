// Installs the pinned Bun and the packages, which every npm script needs, on a machine that has only Node and npm.

import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = join(dirname(fileURLToPath(import.meta.url)), "..");
/** Returns the path of an installed package's command. */
export const tool = (name) => join(root, "node_modules/.bin", name);
/** The Bun among the installed packages. */
export const bun = tool("bun");

const readText = (path) => readFileSync(join(root, path), "utf8");
const installStamp = join(root, "node_modules/.installed-from");

export const print = (line) => console.log(`berth: ${line}`);
export const seconds = (since) => `${((performance.now() - since) / 1000).toFixed(1)} s`;

/** The oldest Node that runs the scripts, and those that its makers maintain now (nodejs.org, schedule of releases). */
const OLDEST_NODE = 20;
const MAINTAINED_NODES = [22, 24, 26];

function checkNode() {
  const major = Number(process.versions.node.split(".")[0]);
  const choice = `${MAINTAINED_NODES.slice(0, -1).join(", ")} or ${MAINTAINED_NODES.at(-1)}`;
  if (major < OLDEST_NODE) exitWithError(`Node ${process.versions.node} is too old. Install Node ${choice}.`);
  if (major < MAINTAINED_NODES[0]) print(`Node ${major} gets no security fixes any more; Node ${choice} does.`);
}

/** npm by itself tries for minutes; here a registry that doesn't answer fails at once. */
function checkRegistry(version) {
  const options = ["--fetch-retries=0", "--fetch-timeout=8000", "--no-update-notifier"];
  const { status, stderr } = spawnSync("npm", ["view", `bun@${version}`, "version", ...options], { encoding: "utf8" });
  if (status === 0) return;
  const registry = spawnSync("npm", ["config", "get", "registry"], { encoding: "utf8" }).stdout.trim();
  const reason = /\b(E[A-Z0-9_]{3,})\b/.exec(stderr)?.[1] ?? "no answer";
  exitWithError(
    `The npm registry ${registry} can't be reached (${reason}). Check the connection or npm's proxy settings; ` +
      "or copy dist/berth from a machine that built it, which needs no registry.",
  );
}

/** Installs Bun and the packages as locked, unless they are installed already. */
export async function install() {
  checkNode();
  const locked = createHash("sha256").update(readText("bun.lock")).update(readText("package.json")).digest("hex");
  const isCurrent = existsSync(bun) && existsSync(installStamp) && readFileSync(installStamp, "utf8") === locked;
  if (isCurrent) return;
  const startedAt = performance.now();
  const version = JSON.parse(readText("package.json")).devDependencies.bun;
  checkRegistry(version);
  print(`installing Bun ${version} and the packages …`);
  const [command, ...prefix] = installedBun() === version ? [bun] : ["npx", "--yes", `bun@${version}`];
  const code = await run(command, [...prefix, "install", "--frozen-lockfile"]);
  if (code !== 0) exitWithError("The packages could not be installed; see above.");
  writeFileSync(installStamp, locked);
  print(`installed in ${seconds(startedAt)}`);
}

function installedBun() {
  const manifest = "node_modules/bun/package.json";
  return existsSync(bun) && existsSync(join(root, manifest)) ? JSON.parse(readText(manifest)).version : undefined;
}

/** The compiled service. */
export const binary = join(root, "dist/berth");
const sources = ["src", "plugins", "channels", "migrations", "web", "site", "docs", "package.json", "bun.lock"];

/** Builds the binary unless it is newer than all its sources. */
export async function build() {
  if (isBuilt()) return;
  const startedAt = performance.now();
  print("building …");
  if ((await run(bun, ["src/server/build.ts"])) !== 0) exitWithError("The build failed; see above.");
  print(`built in ${seconds(startedAt)}`);
}

function isBuilt() {
  if (!existsSync(binary)) return false;
  const builtAt = statSync(binary).mtimeMs;
  return sources.map((name) => join(root, name)).every((path) => !existsSync(path) || changedAt(path) <= builtAt);
}

/** Returns the time of the last change of a file, or of the newest file in a folder. */
function changedAt(path) {
  const stat = statSync(path);
  if (!stat.isDirectory()) return stat.mtimeMs;
  return Math.max(stat.mtimeMs, ...readdirSync(path).map((name) => changedAt(join(path, name))));
}

/**
 * Runs a command in the project's folder, or in `cwd`, with this terminal, forwards signals, and resolves with its exit code.
 * `onStderr` receives the command's standard error, which is also shown.
 */
export function run(command, args, { timeoutMs, onStderr, cwd = root } = {}) {
  return new Promise((resolve) => {
    const stdio = ["inherit", "inherit", onStderr ? "pipe" : "inherit"];
    const child = spawn(command, args, { cwd, stdio, timeout: timeoutMs, killSignal: "SIGKILL" });
    child.stderr?.on("data", (data) => {
      process.stderr.write(data);
      onStderr(String(data));
    });
    // On a terminal, Ctrl-C reaches the child directly, and a second signal would stop it without a grace period.
    const forward = (signal) => (signal === "SIGINT" && process.stdin.isTTY ? undefined : child.kill(signal));
    const signals = ["SIGINT", "SIGTERM", "SIGHUP"];
    for (const signal of signals) process.on(signal, forward);
    const finish = (code) => {
      for (const signal of signals) process.off(signal, forward);
      resolve(code);
    };
    child.once("error", (error) => {
      console.error(`${command}: ${error.message}`);
      finish(127);
    });
    child.once("close", (code, signal) => finish(code ?? 128 + constants.signals[signal]));
  });
}

export function exitWithError(line) {
  console.error(`berth: ${line}`);
  process.exit(1);
}
