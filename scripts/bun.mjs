// What every npm command needs first: the pinned Bun and the packages, on a machine that has Node and npm alone.

import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = join(dirname(fileURLToPath(import.meta.url)), "..");
/** The Bun of the installed packages. */
export const bun = join(root, "node_modules/.bin/bun");

const text = (path) => readFileSync(join(root, path), "utf8");
const seal = join(root, "node_modules/.installed-from");

export const say = (line) => console.log(`berth: ${line}`);
export const seconds = (since) => `${((performance.now() - since) / 1000).toFixed(1)} s`;

/** Installs Bun and the packages exactly as locked; nothing to do when they already are. */
export async function install() {
  const locked = createHash("sha256").update(text("bun.lock")).update(text("package.json")).digest("hex");
  const current = existsSync(bun) && existsSync(seal) && readFileSync(seal, "utf8") === locked;
  if (current) return;
  const began = performance.now();
  const version = JSON.parse(text("package.json")).devDependencies.bun;
  say(`installing Bun ${version} and the packages …`);
  const [command, ...first] = installedBun() === version ? [bun] : ["npx", "--yes", `bun@${version}`];
  const code = await run(command, [...first, "install", "--frozen-lockfile"]);
  if (code !== 0) fail("The packages could not be installed; see above.");
  writeFileSync(seal, locked);
  say(`installed in ${seconds(began)}`);
}

function installedBun() {
  const about = "node_modules/bun/package.json";
  return existsSync(bun) && existsSync(join(root, about)) ? JSON.parse(text(about)).version : undefined;
}

/**
 * Runs a command in the project with this terminal, passes signals on, and gives its exit code. `heard` is told what it
 * writes to standard error, beside the terminal.
 */
export function run(command, args, { timeoutMs, heard } = {}) {
  return new Promise((resolve) => {
    const stdio = ["inherit", "inherit", heard ? "pipe" : "inherit"];
    const child = spawn(command, args, { cwd: root, stdio, timeout: timeoutMs, killSignal: "SIGKILL" });
    child.stderr?.on("data", (data) => {
      process.stderr.write(data);
      heard(String(data));
    });
    // Ctrl-C on a terminal reaches the child by itself; a second copy would mean "now, at once".
    const pass = (signal) => (signal === "SIGINT" && process.stdin.isTTY ? undefined : child.kill(signal));
    const signals = ["SIGINT", "SIGTERM", "SIGHUP"];
    for (const signal of signals) process.on(signal, pass);
    const done = (code) => {
      for (const signal of signals) process.off(signal, pass);
      resolve(code);
    };
    child.once("error", (error) => {
      console.error(`${command}: ${error.message}`);
      done(127);
    });
    child.once("close", (code, signal) => done(code ?? 128 + constants.signals[signal]));
  });
}

export function fail(line) {
  console.error(`berth: ${line}`);
  process.exit(1);
}
