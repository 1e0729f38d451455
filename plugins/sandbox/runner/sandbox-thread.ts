// The thread that runs one program after the other with the library `run`, and answers its calls.
import type { RunError } from "run";
import { type Source, SourceError, sourceOf } from "../guest/program.ts";
import { LIMITS } from "./limits.ts";
import type { FromThread, OutputFile, RunCommand, RunLimits, RunOutcome } from "./protocol.ts";

declare const self: Worker;

// `run` removes types with Bun's transpiler, which executes macros of a program in this process. Without it, `run` takes the
// source as it is; `guest/program.ts` has removed the types.
class NoTranspiler {
  transformSync(): never {
    throw new Error("Programs are not transpiled.");
  }
}
if (!Reflect.defineProperty(Bun, "Transpiler", { value: NoTranspiler }))
  throw new Error("Bun's transpiler is still there.");
const realNow = Date.now;
/** Not awaited here: messages that arrive before `onmessage` is set are lost. */
const library = import("run");

self.onmessage = async ({ data }: MessageEvent<RunCommand>) => {
  const ended = await runProgram(data);
  const message: FromThread = { ended };
  self.postMessage(
    message,
    ended.files.map(({ bytes }) => bytes.buffer),
  );
};

async function runProgram({ program, files, limits }: RunCommand): Promise<RunOutcome> {
  const outcome: RunOutcome = { ok: false, printed: "", value: "", error: "", files: [] };
  const inputs = files.map(({ bytes, ...file }) => ({ ...file, ...(bytes && contentOf(bytes)) }));
  const { createRunner, RunError } = await library;
  const startedAt = performance.now();
  stopTheClock();
  try {
    const source = sourceOf(program, (name) => inputs.find((file) => file.name === name)?.text);
    const args = "script" in program ? [program.script, ...program.args] : [];
    await createRunner().run({
      source: source.text,
      hostFunctions: { berth: hostFunctions({ files: inputs, args }, outcome, source) },
      limits: {
        timeoutMs: limits.timeMs,
        memoryLimitBytes: limits.memoryBytes,
        maxSourceBytes: LIMITS.sourceBytes,
        // The value and the printed lines leave by calls.
        maxResultBytes: 1_000,
        maxConsoleOutputBytes: 1,
        maxBridgeRequests: LIMITS.calls,
        maxInFlightBridgeRequests: LIMITS.calls,
        maxHostFunctionArgumentsBytes: LIMITS.callBytes,
        maxHostFunctionOutputBytes: LIMITS.loadBytes,
      },
    });
    outcome.ok = outcome.error === "";
  } catch (error) {
    if (error instanceof SourceError) outcome.error = error.message;
    else if (!RunError.isInstance(error)) outcome.error = "The sandbox failed.";
    else outcome.error = messageOf(error, { ...limits, elapsedMs: performance.now() - startedAt });
  }
  return outcome;
}

/**
 * A program may know the day and must not measure time. `run` gives it the date of this thread with each answer of the host, so
 * this thread's date stands still while a program runs. Deadlines are differences of it and timers, and still hold.
 */
function stopTheClock(): void {
  const now = realNow();
  Date.now = () => now;
}

/** The text of a file; the bytes of one that is no text. */
function contentOf(bytes: Uint8Array): { text?: string; bytes?: Uint8Array } {
  try {
    return { text: new TextDecoder("utf-8", { fatal: true }).decode(bytes) };
  } catch {
    return { bytes };
  }
}

/** Lines that `run` puts before the source. */
const LINES_OF_RUN = 2;
const MIB = 1024 * 1024;

/** The functions that the prelude calls (`guest/prelude.ts`). The program can call them, too, with anything. */
function hostFunctions(loaded: { files: object[]; args: string[] }, outcome: RunOutcome, { firstLine }: Source) {
  function write({ name, bytes }: OutputFile): void {
    const others = outcome.files.filter((file) => file.name !== name);
    const size = others.reduce((sum, file) => sum + file.bytes.length, bytes.length);
    // The prelude has refused such names and numbers; only a program that calls this itself comes here with them.
    if (name.length > 100 || /[\p{Cc}/\\]|^\.*$/u.test(name) || others.length >= LIMITS.outputFiles) return;
    // The prelude counts characters, which may be up to three bytes each.
    if (size > LIMITS.outputBytes) {
      outcome.error = `The files come to ${(size / 1e6).toFixed(1)} MB with ${name}, and a program can write ${LIMITS.outputBytes / 1e6} MB.`;
      return;
    }
    outcome.files = [...others, { name, bytes }];
  }
  return {
    load: () => loaded,
    print(text: unknown) {
      outcome.printed = `${outcome.printed}${text}`.slice(0, LIMITS.output);
    },
    done(text: unknown) {
      outcome.value = String(text).slice(0, LIMITS.output);
    },
    fail(text: unknown, line: unknown) {
      const own = typeof line === "number" && firstLine !== undefined ? line - LINES_OF_RUN - firstLine + 1 : 0;
      const why = String(text)
        .slice(0, 2_000)
        .replace(/^InternalError: out of memory$/, OUT_OF_MEMORY);
      outcome.error = `${why}${own > 0 ? ` (line ${own})` : ""}`;
    },
    write(name: unknown, data: unknown) {
      const bytes = data instanceof Uint8Array ? new Uint8Array(data) : new TextEncoder().encode(String(data));
      write({ name: String(name), bytes });
    },
  };
}

const OUT_OF_MEMORY = `It needs more than ${LIMITS.memoryBytes / MIB} MiB of memory: work on smaller parts.`;

/** Says which limit has ended the program, and what its author can do. */
function messageOf(error: RunError, { timeMs, elapsedMs }: RunLimits & { elapsedMs: number }): string {
  // QuickJS ends a program that runs too long, and one that takes too many steps, with the same words.
  const wasInterrupted = error.code === "RUN_TIMEOUT" || error.message.endsWith("interrupted");
  if (wasInterrupted)
    return elapsedMs >= 0.9 * timeMs
      ? `It was stopped after ${timeMs / 1_000} seconds. Give it less work, or split the work over several calls.`
      : "It was stopped after about 100 million steps. Look for a loop without end, or split the work over several calls.";
  if (error.message.includes("out of memory")) return OUT_OF_MEMORY;
  if (error.code === "RUN_BRIDGE_LIMIT") return `It was stopped: it called the host more than ${LIMITS.calls} times.`;
  if (error.code === "RUN_USER_SOURCE_ERROR") return `${error.name}: ${error.message}`.slice(0, 500);
  return "It went beyond a limit of the sandbox and was stopped.";
}
