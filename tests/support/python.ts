// Makes a Python environment with packages of PyPI, once for this checkout; there is none where Python or the packages can't be had.
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Ran } from "./berth.ts";
import { run } from "./process.ts";

const CACHE = resolve(import.meta.dir, "../../node_modules/.cache/python");
const ENV = { PATH: process.env.PATH ?? "/usr/bin:/bin", HOME: process.env.HOME ?? "/tmp", PIP_NO_INPUT: "1" };

export interface Python {
  /** Runs a program, with these variables alone beside the path. */
  run(program: string, env: Record<string, string>): Promise<Ran>;
}

/** Undefined if it can't be made; says so on standard error. @param packages with their versions, such as `openai==3.22.1` */
export async function pythonWith(packages: readonly string[]): Promise<Python | undefined> {
  if (Bun.which("python3") === null) return undefined;
  const dir = join(CACHE, packages.join("+").replace(/[^\w.+=-]/g, "_"));
  const python = join(dir, "bin/python");
  if (!existsSync(join(dir, "is-complete"))) {
    await rm(dir, { recursive: true, force: true });
    const commands = [
      ["python3", "-m", "venv", "--system-site-packages", dir],
      [python, "-m", "pip", "install", "-q", "--retries", "0", "--timeout", "20", ...packages],
    ];
    for (const command of commands) {
      const { exitCode, stderr } = await run(command, ENV, "/tmp", 120_000);
      if (exitCode === 0) continue;
      process.stderr.write(`No Python with ${packages.join(", ")}: ${stderr.trim().split("\n").at(-1)}\n`);
      return undefined;
    }
    await Bun.write(join(dir, "is-complete"), "");
  }
  return { run: (program, env) => run([python, "-c", program], { ...ENV, ...env }, "/tmp", 30_000) };
}
