// Makes a Python environment with packages of PyPI, once for this checkout; there is none where Python or the packages can't be had.
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Ran } from "./berth.ts";
import { run } from "./process.ts";

const CACHE = resolve(import.meta.dir, "../../node_modules/.cache/python");
const ENV = { PATH: process.env.PATH ?? "/usr/bin:/bin", HOME: process.env.HOME ?? "/tmp", PIP_NO_INPUT: "1" };

export interface Python extends AsyncDisposable {
  /**
   * Runs a program, with these variables alone beside the path. One interpreter runs all of a file's programs, because loading a package of a
   * provider takes more than a second; they share nothing but loaded packages.
   */
  run(program: string, env: Record<string, string>): Promise<Ran>;
}

/** Runs each line of its input, a program with its environment as JSON, and answers with a line. It ends with its input. */
const INTERPRETER = `
import contextlib, io, json, os, sys, traceback
for line in sys.stdin:
    task = json.loads(line)
    os.environ.clear()
    os.environ.update(task["env"])
    code, out, err = 0, io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            exec(compile(task["program"], "program", "exec"), {"__name__": "__main__"})
        except BaseException:
            code = 1
            traceback.print_exc()
    print(json.dumps({"exitCode": code, "stdout": out.getvalue(), "stderr": err.getvalue()}), flush=True)
`;

function startInterpreter(python: string): Python {
  let child: Bun.Subprocess<"pipe", "pipe", "inherit"> | undefined;
  let lines: AsyncIterator<string> | undefined;
  return {
    async run(program, env) {
      child ??= Bun.spawn([python, "-c", INTERPRETER], { env: ENV, cwd: "/tmp", stdin: "pipe", stdout: "pipe" });
      lines ??= linesOf(child.stdout);
      child.stdin.write(`${JSON.stringify({ program, env: { ...ENV, ...env } })}\n`);
      await child.stdin.flush();
      const { value, done } = await lines.next();
      if (done) throw new Error(`Python ended with ${await child.exited}.`);
      return JSON.parse(value) as Ran;
    },
    async [Symbol.asyncDispose]() {
      child?.kill("SIGKILL");
      await child?.exited;
    },
  };
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string, void> {
  let rest = "";
  const decoder = new TextDecoder();
  for await (const part of stream) {
    const lines = (rest + decoder.decode(part, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
}

/** Undefined if it can't be made; says so on standard error. @param packages with their versions, such as `openai==3.22.1` */
export async function pythonWith(packages: readonly string[]): Promise<Python | undefined> {
  if (Bun.which("python3") === null) return undefined;
  const dir = join(CACHE, packages.join("+").replace(/[^\w.+=-]/g, "_"));
  const python = join(dir, "bin/python");
  if (!existsSync(join(dir, "is-complete"))) {
    await rm(dir, { recursive: true, force: true });
    // The system's pip does as well as a copy of it, and a package's files are compiled when they are loaded, which most never are.
    const hasPip = (await run(["python3", "-m", "pip", "--version"], ENV, "/tmp", 30_000)).exitCode === 0;
    const install = ["pip", "install", "-q", "--no-compile", "--retries", "0", "--timeout", "20", ...packages];
    const commands = [
      ["python3", "-m", "venv", "--system-site-packages", ...(hasPip ? ["--without-pip"] : []), dir],
      [python, "-m", ...install],
    ];
    for (const command of commands) {
      const { exitCode, stderr } = await run(command, ENV, "/tmp", 120_000);
      if (exitCode === 0) continue;
      process.stderr.write(`No Python with ${packages.join(", ")}: ${stderr.trim().split("\n").at(-1)}\n`);
      return undefined;
    }
    await Bun.write(join(dir, "is-complete"), "");
  }
  return startInterpreter(python);
}
