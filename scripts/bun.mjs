// Installs and runs what every npm command needs: the pinned Bun and the packages, on a machine with Node and npm alone.

import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = join(dirname(fileURLToPath(import.meta.url)), "..");
/** The path of an installed package's command. */
export const tool = (name) => join(root, "node_modules/.bin", name);
/** The Bun among the installed packages. */
export const bun = tool("bun");

const readText = (path) => readFileSync(join(root, path), "utf8");
const installMark = join(root, "node_modules/.installed-from");

export const say = (line) => console.log(`berth: ${line}`);
export const seconds = (since) => `${((performance.now() - since) / 1000).toFixed(1)} s`;

/** Installs Bun and the packages exactly as locked; does nothing when they already are. */
export async function install() {
  const locked = createHash("sha256").update(readText("bun.lock")).update(readText("package.json")).digest("hex");
  const isCurrent = existsSync(bun) && existsSync(installMark) && readFileSync(installMark, "utf8") === locked;
  if (isCurrent) return;
  const began = performance.now();
  const version = JSON.parse(readText("package.json")).devDependencies.bun;
  say(`installing Bun ${version} and the packages …`);
  const [command, ...first] = installedBun() === version ? [bun] : ["npx", "--yes", `bun@${version}`];
  const code = await run(command, [...first, "install", "--frozen-lockfile"]);
  if (code !== 0) fail("The packages could not be installed; see above.");
  writeFileSync(installMark, locked);
  say(`installed in ${seconds(began)}`);
}

function installedBun() {
  const manifest = "node_modules/bun/package.json";
  return existsSync(bun) && existsSync(join(root, manifest)) ? JSON.parse(readText(manifest)).version : undefined;
}

/** The compiled service. */
export const binary = join(root, "dist/berth");
const sources = ["src", "plugins", "channels", "migrations", "package.json", "bun.lock"];

/** Builds the binary unless it is newer than everything it is made of. */
export async function build() {
  if (isBuilt()) return;
  const began = performance.now();
  say("building …");
  if ((await run(bun, ["src/server/build.ts"])) !== 0) fail("The build failed; see above.");
  say(`built in ${seconds(began)}`);
}

function isBuilt() {
  if (!existsSync(binary)) return false;
  const builtAt = statSync(binary).mtimeMs;
  return sources.map((name) => join(root, name)).every((path) => !existsSync(path) || changedAt(path) <= builtAt);
}

/** When a file, or the newest file of a folder, was changed. */
function changedAt(path) {
  const stat = statSync(path);
  if (!stat.isDirectory()) return stat.mtimeMs;
  return Math.max(stat.mtimeMs, ...readdirSync(path).map((name) => changedAt(join(path, name))));
}

/**
 * Runs a command in the project with this terminal, passes signals on, and resolves with its exit code. `onError` gets
 * what the command writes to standard error, which goes to the terminal, too.
 */
export function run(command, args, { timeoutMs, onError } = {}) {
  return new Promise((resolve) => {
    const stdio = ["inherit", "inherit", onError ? "pipe" : "inherit"];
    const child = spawn(command, args, { cwd: root, stdio, timeout: timeoutMs, killSignal: "SIGKILL" });
    child.stderr?.on("data", (data) => {
      process.stderr.write(data);
      onError(String(data));
    });
    // On a terminal Ctrl-C reaches the child by itself; a second signal would mean "now, at once".
    const pass = (signal) => (signal === "SIGINT" && process.stdin.isTTY ? undefined : child.kill(signal));
    const signals = ["SIGINT", "SIGTERM", "SIGHUP"];
    for (const signal of signals) process.on(signal, pass);
    const finish = (code) => {
      for (const signal of signals) process.off(signal, pass);
      resolve(code);
    };
    child.once("error", (error) => {
      console.error(`${command}: ${error.message}`);
      finish(127);
    });
    child.once("close", (code, signal) => finish(code ?? 128 + constants.signals[signal]));
  });
}

export function fail(line) {
  console.error(`berth: ${line}`);
  process.exit(1);
}
