// A bash that runs the shell blocks of one page, in order and with their state, and fails at the first command that does.

import { spawn } from "node:child_process";
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { temporaryDir } from "../support/process.ts";

/**
 * Stands before curl: an answer of 400 or more is an error, a stream that goes on is read for a moment, and no address but those
 * of this machine is asked. (`--noproxy` is not for the reader; the proxy is the closed port to which other addresses lead.)
 */
const CURL = `#!/bin/sh
export http_proxy=http://127.0.0.1:9 https_proxy=http://127.0.0.1:9 no_proxy=127.0.0.1,localhost
time=30
case "$*" in *"/api/events"*) time=2 ;; esac
command=$(PATH=/usr/local/bin:/usr/bin:/bin command -v curl)
"$command" --fail-with-body --show-error --max-time $time -A "berth-docs/1" "$@"
code=$?
[ $code = 28 ] && [ $time = 2 ] && exit 0
exit $code
`;

/** Runs one block in an empty folder; returns what it wrote. */
export async function runInShell(code: string, env: Record<string, string>): Promise<string> {
  const dir = temporaryDir();
  try {
    await using shell = openShell(dir.path, resolve(import.meta.dir, "../../dist/berth"), env);
    return await shell.run(code);
  } finally {
    dir.remove();
  }
}

export interface ShellSession extends AsyncDisposable {
  /** Runs a block; returns what it wrote. Throws with that if a command of it fails. */
  run(code: string): Promise<string>;
}

/** `programs` are further commands of the session, by name, each the text of a script. */
export function openShell(
  dir: string,
  binary: string,
  env: Record<string, string>,
  programs: Readonly<Record<string, string>> = {},
): ShellSession {
  const bin = join(dir, ".bin");
  mkdirSync(bin, { recursive: true });
  mkdirSync(join(dir, "dist"), { recursive: true });
  for (const [name, text] of Object.entries({ curl: CURL, ...programs })) {
    writeFileSync(join(bin, name), text);
    chmodSync(join(bin, name), 0o755);
  }
  symlinkSync(process.execPath, join(bin, "bun"));
  for (const path of [".bin/berth", "berth", "berth-old", "dist/berth"]) symlinkSync(binary, join(dir, path));
  const path = `${bin}:/usr/local/bin:/usr/bin:/bin`;
  const shell = spawn("bash", ["--noprofile", "--norc"], {
    cwd: dir,
    env: { ...env, PATH: path, HOME: dir },
    stdio: ["pipe", "pipe", "pipe"],
  });
  let output = "";
  let onOutput: (() => void) | undefined;
  const collect = (data: Buffer) => {
    output += String(data);
    onOutput?.();
  };
  shell.stdout.on("data", collect);
  shell.stderr.on("data", collect);
  const closed = new Promise<void>((resolve) => shell.once("close", () => resolve()));
  shell.stdin.on("error", () => shell.stdin.destroy());
  // One stream, so that the mark below comes after all that a block has written.
  shell.stdin.write("exec 2>&1\nset -eo pipefail\n");
  let blocks = 0;

  return {
    async run(code) {
      const file = join(dir, `.block-${++blocks}.sh`);
      const mark = `[end of block ${blocks}]`;
      writeFileSync(file, code);
      output = "";
      const ended = new Promise<"marked">((resolve) => {
        onOutput = () => output.includes(mark) && resolve("marked");
      });
      shell.stdin.write(`. ${file} </dev/null\necho "${mark}"\n`);
      const how = await Promise.race([ended, closed.then(() => "failed" as const)]);
      if (how === "failed") throw new Error(`A command failed:\n${code}\n--- it wrote\n${output}`);
      return output.replace(`${mark}\n`, "");
    },
    async [Symbol.asyncDispose]() {
      shell.stdin.end();
      shell.kill("SIGKILL");
      await closed;
    },
  };
}
