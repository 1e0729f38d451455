// Starts child processes that can't outlive the tests: a watchdog shell kills them when the test process ends in any way.

import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { patient } from "./eventually.ts";

/** Path of the Bun executable that runs this test. */
export const bun = process.execPath;

/** Exit codes of processes that a signal ended: 128 plus its number, as a shell reports it. */
const codes: Partial<Record<NodeJS.Signals, number>> = { SIGINT: 130, SIGKILL: 137, SIGSEGV: 139, SIGTERM: 143 };

/** A running child. */
export interface Child {
  readonly pid: number;
  /** The output so far. */
  output(): { stdout: string; stderr: string };
  /** The first line on descriptor 3 (`ready: "fd3"`) or on standard output; throws if the child ends first, or on timeout. */
  ready(timeoutMs?: number): Promise<string>;
  signal(name: NodeJS.Signals): void;
  /** The exit code, once the child and its pipes are closed. */
  readonly exited: Promise<number>;
  readonly running: boolean;
}

export interface Launch {
  command: string[];
  /** The whole environment; nothing is inherited. */
  env: Record<string, string>;
  dir: string;
  ready?: "fd3" | "stdout";
}

/** Starts a child with pipes for its output. It is killed when this process ends, even by SIGKILL. */
export function launch({ command, env, dir, ready = "stdout" }: Launch): Child {
  const [file = "", ...args] = command;
  const child = spawn(file, args, { cwd: dir, env, stdio: ["ignore", "pipe", "pipe", "pipe"] });
  const written = { stdout: "", stderr: "" };
  let announced = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    written.stdout += text;
    if (ready === "stdout") announced += text;
  });
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    written.stderr += text;
  });
  const extra = child.stdio[3];
  if (extra && "setEncoding" in extra) {
    extra.setEncoding("utf8");
    extra.on("data", (text: string) => {
      if (ready === "fd3") announced += text;
      child.emit("announced");
    });
    extra.on("error", () => extra.destroy());
  }
  child.stdout?.on("data", () => child.emit("announced"));

  const guard = child.pid === undefined ? undefined : watchdog({ pid: child.pid });
  let running = child.pid !== undefined;
  const exited = new Promise<number>((resolve, reject) => {
    child.once("error", (error) => {
      running = false;
      reject(new Error(`Could not start ${file}`, { cause: error }));
    });
    child.once("close", (code, signal) => {
      running = false;
      guard?.dismiss();
      resolve(code ?? (signal ? (codes[signal] ?? 128) : 128));
    });
  });
  exited.catch(() => {
    running = false;
  });

  return {
    get pid() {
      return child.pid ?? 0;
    },
    output: () => ({ ...written }),
    ready: (timeoutMs = 20_000) => firstLine(child, () => announced, exited, written, timeoutMs),
    signal: (name) => {
      child.kill(name);
    },
    exited,
    get running() {
      return running;
    },
  };
}

function firstLine(
  child: ChildProcess,
  announced: () => string,
  exited: Promise<number>,
  written: { stdout: string; stderr: string },
  timeoutMs: number,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const settle = (finish: () => void) => {
      clearTimeout(deadline);
      child.off("announced", look);
      finish();
    };
    const failed = (why: string) =>
      settle(() => reject(new Error(`${why}\n--- stdout\n${written.stdout}\n--- stderr\n${written.stderr}`)));
    const look = () => {
      const end = announced().indexOf("\n");
      if (end >= 0) settle(() => resolve(announced().slice(0, end)));
    };
    const deadline = setTimeout(() => failed(`Not ready within ${patient(timeoutMs)} ms.`), patient(timeoutMs));
    child.on("announced", look);
    exited.then(
      (code) => failed(`Ended with code ${code} before it was ready.`),
      (error: unknown) => failed(String(error)),
    );
    look();
  });
}

/** Runs a command to its end. After `timeoutMs` it kills the command and throws. */
export async function run(
  command: string[],
  env: Record<string, string>,
  dir: string,
  timeoutMs = 90_000,
): Promise<{ exitCode: number; stdout: string; stderr: string }> {
  const child = launch({ command, env, dir });
  let late = false;
  const deadline = setTimeout(() => {
    late = true;
    child.signal("SIGKILL");
  }, patient(timeoutMs));
  const exitCode = await child.exited.finally(() => clearTimeout(deadline));
  if (late) {
    throw new Error(
      `${command.join(" ")} did not end within ${patient(timeoutMs)} ms.\n${Bun.inspect(child.output())}`,
    );
  }
  return { exitCode, ...child.output() };
}

/** Creates an empty folder, which is deleted by `remove()` or when this process ends. */
export function temporaryDir(prefix = "berth-"): { path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), prefix));
  const guard = watchdog({ dir: path });
  return {
    path,
    remove() {
      rmSync(path, { recursive: true, force: true });
      guard.dismiss();
    },
  };
}

/** Starts a shell that cleans up when its standard input closes, which happens at the latest when this process ends. */
function watchdog({ pid = 0, dir = "" }: { pid?: number; dir?: string }): { dismiss(): void } {
  // A test may have mounted disks in its folder.
  const script =
    'read -r _ && exit; [ "$1" = 0 ] || kill -9 "$1" 2>/dev/null; [ -z "$2" ] || { umount -l "$2"/* 2>/dev/null; rm -rf "$2"; }';
  const shell = spawn("/bin/sh", ["-c", script, "watchdog", String(pid), dir], {
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
  });
  shell.unref();
  shell.stdin?.on("error", () => shell.stdin?.destroy());
  return { dismiss: () => shell.stdin?.end("done\n") };
}
