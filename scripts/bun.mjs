// Installs the pinned Bun and the packages, which every npm script needs, on a machine that has only Node and npm.

import { spawn } from "node:child_process";
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

/** Installs Bun and the packages as locked, unless they are installed already. */
export async function install() {
  const locked = createHash("sha256").update(readText("bun.lock")).update(readText("package.json")).digest("hex");
  const isCurrent = existsSync(bun) && existsSync(installStamp) && readFileSync(installStamp, "utf8") === locked;
  if (isCurrent) return;
  const startedAt = performance.now();
  const version = JSON.parse(readText("package.json")).devDependencies.bun;
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
const sources = ["src", "plugins", "channels", "migrations", "package.json", "bun.lock"];

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
 * Runs a command in the project's folder with this terminal, forwards signals, and resolves with its exit code.
 * `onStderr` receives the command's standard error, which is also shown.
 */
export function run(command, args, { timeoutMs, onStderr } = {}) {
  return new Promise((resolve) => {
    const stdio = ["inherit", "inherit", onStderr ? "pipe" : "inherit"];
    const child = spawn(command, args, { cwd: root, stdio, timeout: timeoutMs, killSignal: "SIGKILL" });
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
