// The thread that runs one program after the other with the library `run`, and answers its calls.
import type { RunError } from "run";
import { type Source, SourceError, sourceOf } from "../guest/program.ts";
import { LIMITS } from "./limits.ts";
import type { FromThread, OutputFile, RunCommand, RunOutcome } from "./protocol.ts";

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
    else outcome.error = RunError.isInstance(error) ? messageOf(error) : "The sandbox failed.";
  }
  return outcome;
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

/** The functions that the prelude calls (`guest/prelude.ts`). The program can call them, too, with anything. */
function hostFunctions(loaded: { files: object[]; args: string[] }, outcome: RunOutcome, { firstLine }: Source) {
  function write({ name, bytes }: OutputFile): void {
    const others = outcome.files.filter((file) => file.name !== name);
    const size = others.reduce((sum, file) => sum + file.bytes.length, bytes.length);
    if (
      name.length > 100 ||
      /[\p{Cc}/\\]|^\.*$/u.test(name) ||
      others.length >= LIMITS.outputFiles ||
      size > LIMITS.outputBytes
    )
      return;
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
      outcome.error = `${String(text).slice(0, 2_000)}${own > 0 ? ` (line ${own})` : ""}`;
    },
    write(name: unknown, data: unknown) {
      const bytes = data instanceof Uint8Array ? new Uint8Array(data) : new TextEncoder().encode(String(data));
      write({ name: String(name), bytes });
    },
  };
}

function messageOf(error: RunError): string {
  if (error.code === "RUN_TIMEOUT") return "The program took too long: it ran out of time or of steps.";
  if (error.code === "RUN_USER_SOURCE_ERROR") return `${error.name}: ${error.message}`.slice(0, 500);
  return "The program went beyond a limit of the sandbox and was stopped.";
}
