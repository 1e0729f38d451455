// Runs a cell in a process of its own, and starts it again when it ends: with growing delays, while the others go on.
import { StartError } from "../../kernel/errors.ts";
import type { Log } from "../../kernel/telemetry/log.ts";
import { cellAway } from "../away.ts";
import { type CallHandlers, type Calls, createCalls } from "./calls.ts";

export interface CellProcessDeps {
  cell: number;
  /** How the process is started. */
  command: readonly string[];
  env: Readonly<Record<string, string | undefined>>;
  /** What the cell may call here. */
  handlers: CallHandlers;
  log: Log;
  /** The cell has begun or ended to answer. */
  onChange(): void;
}

export interface CellProcess {
  readonly cell: number;
  /** Where it answers; undefined while it does not, also because it hangs. */
  readonly address: string | undefined;
  readonly pid: number | undefined;
  /** Calls what the cell serves. */
  readonly call: Calls["call"];
  /** Tells it how many cells there are. */
  tellCount(count: number): void;
  /** Resolves when it answers for the first time. Throws StartError if it ends again and again. */
  readonly started: Promise<void>;
  /** Ends the process and does not start it again. */
  stop(graceMs: number): Promise<void>;
}

const FIRST_DELAY_MS = 100;
const MAX_DELAY_MS = 5_000;
/** A killed service leaves cells that end a moment later, and until then hold the locks of their databases. */
const START_MS = 15_000;
/** How often the process is asked whether it is well. */
const ASK_MS = 1_000;
/** One that has not answered for so long gets no requests. */
const SILENT_MS = 5_000;
/** One that has not answered for so long is killed, and started again. */
const HUNG_MS = 30_000;
/** How long a process that was told to end may take beyond its grace. */
const EXTRA_MS = 3_000;

export function startCellProcess({ cell, command, env, handlers, log, onChange }: CellProcessDeps): CellProcess {
  const started = Promise.withResolvers<void>();
  // Whoever waits for it hears of a failure.
  started.promise.catch(() => undefined);
  const beganAt = performance.now();
  let hasStarted = false;
  let isStopping = false;
  let delayMs = FIRST_DELAY_MS;
  let address: string | undefined;
  let current: { process: ReturnType<typeof spawn>; calls: Calls } | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let heardAt = 0;
  const silence = () => performance.now() - heardAt;
  const answering = () => (address !== undefined && silence() < SILENT_MS ? address : undefined);

  function ask(): void {
    if (!current || address === undefined) return;
    const wasSilent = silence() >= SILENT_MS;
    const { calls, process } = current;
    const hear = () => {
      heardAt = performance.now();
      if (wasSilent) onChange();
    };
    calls.call("alive").then(hear, () => undefined);
    if (silence() < HUNG_MS || isStopping) return;
    log.error("the process of a cell does not answer; it is killed and started again", { cell });
    process.kill("SIGKILL");
  }
  const asking = setInterval(ask, ASK_MS);
  asking.unref();

  function spawn(calls: () => Calls) {
    return Bun.spawn([...command], {
      env,
      ipc: (message) => calls().receive(message),
      serialization: "json",
      stdio: ["ignore", "inherit", "inherit"],
      onExit: (_, code, signal) => void ended(code, signal),
    });
  }

  function begin(): void {
    let process: ReturnType<typeof spawn> | undefined;
    const calls: Calls = createCalls((message) => process?.send(message), {
      ...handlers,
      ready(at: { address: string }) {
        address = at.address;
        heardAt = performance.now();
        delayMs = FIRST_DELAY_MS;
        hasStarted = true;
        started.resolve();
        onChange();
      },
    });
    try {
      process = spawn(() => calls);
      current = { process, calls };
    } catch (error) {
      // The machine has no memory for it, or no more processes, at this moment.
      log.error("a process of a cell can't be started; it is tried again", { cell, error });
      beginAgain("no process");
    }
  }

  function ended(code: number | null, signal: number | string | null): void {
    current?.calls.end();
    current = undefined;
    address = undefined;
    onChange();
    if (isStopping) return;
    if (hasStarted)
      log.error("the process of a cell ended; it is started again", { cell, code, signal, inMs: delayMs });
    beginAgain(`code ${code}`);
  }

  function beginAgain(why: string): void {
    if (!hasStarted && performance.now() - beganAt > START_MS) {
      started.reject(new StartError(`Cell ${cell} can't start (${why}). Its output is above.`));
      return;
    }
    timer = setTimeout(begin, delayMs);
    delayMs = Math.min(delayMs * 2, MAX_DELAY_MS);
  }

  begin();
  return {
    cell,
    get address() {
      return answering();
    },
    get pid() {
      return current?.process.pid;
    },
    call: async (name, args) => {
      if (!current || answering() === undefined) throw cellAway();
      return current.calls.call("cell", { name, args });
    },
    tellCount: (count) => void current?.calls.call("count", count).catch(() => undefined),
    started: started.promise,

    async stop(graceMs) {
      isStopping = true;
      clearInterval(asking);
      clearTimeout(timer);
      const running = current?.process;
      if (!running) return;
      // Not by a signal: a terminal and a service manager send theirs to all processes, and this one decides when a cell ends.
      current?.calls.call("stop").catch(() => undefined);
      const killer = setTimeout(() => running.kill("SIGKILL"), graceMs + EXTRA_MS);
      await running.exited;
      clearTimeout(killer);
    },
  };
}
