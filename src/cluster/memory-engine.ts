// The engine in memory, with faults on demand: for tests of what appends, follows and owns.
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import {
  type BlobStore,
  type Engine,
  EngineUnavailable,
  type LogEngine,
  Moved,
  type Table,
  type TableEntry,
} from "./engine.ts";

/** What happens to an append: nothing, no answer although it was written, or no answer and nothing written. */
export type Fault = "none" | "answer-lost" | "request-lost";

export interface MemoryLog extends LogEngine {
  /** Default: any size. */
  maxBytes: number;
  /** Decides about the next appends; default `none`. */
  fault: (bytes: Uint8Array) => Fault;
  /** Empties it: all that follow it have to begin again. */
  lose(): void;
  /** Loses the messages after this one. */
  cut(last: number): void;
  /** Loses one message; the others keep their numbers. */
  drop(number: number): void;
}

/** What several nodes of one process share. */
export interface MemoryEngine {
  /** The engine as one node sees it. */
  connect(): Engine & { isAway: boolean; isSilent: boolean };
  logOf(cell: number): MemoryLog;
  /** Empties a table, whose revisions begin anew: all that watch it have to begin again. */
  loseTable(name: string): void;
}

export function createMemoryEngine(): MemoryEngine {
  const logs = new Map<number, MemoryLog>();
  const tables = new Map<string, MemoryTable>();
  const stores = new Map<string, BlobStore>();
  const logOf = (cell: number) => getOrMake(logs, cell, createMemoryLog);
  return {
    logOf,
    loseTable: (name) => tables.get(name)?.lose(),
    connect() {
      /** Every call fails while the node is cut off; what it follows is silent. */
      const guarded = <Port extends object>(port: Port): Port =>
        new Proxy(port, {
          get(target, name) {
            const found: unknown = Reflect.get(target, name);
            if (typeof found !== "function") return found;
            if (name === "follow" || name === "watch") {
              return async function* follow(...args: unknown[]) {
                for await (const item of Reflect.apply(found, target, args)) {
                  while (engine.isAway || engine.isSilent) await Bun.sleep(5);
                  yield item;
                }
              };
            }
            return async (...args: unknown[]) => {
              await yieldToEventLoop();
              while (engine.isSilent) await Bun.sleep(5);
              if (engine.isAway) throw new EngineUnavailable("This node is cut off.");
              return Reflect.apply(found, target, args);
            };
          },
        });
      const engine = {
        isAway: false,
        isSilent: false,
        describe: () => "memory",
        servers: 1,
        log: async (cell: number) => guarded(logOf(cell)),
        removeLog: async (cell: number) => void logs.delete(cell),
        table: async (name: string, under = "") =>
          guarded(entriesUnder(under, getOrMake(tables, name, createMemoryTable))),
        blobs: async (name: string) => guarded(getOrMake(stores, name, createMemoryBlobs)),
        close: async () => undefined,
      };
      return engine;
    },
  };
}

function getOrMake<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}

/** Wakes those who wait for the next change. */
function createBell() {
  let next = Promise.withResolvers<void>();
  return {
    ring() {
      next.resolve();
      next = Promise.withResolvers();
    },
    async wait(signal: AbortSignal) {
      const stopped = Promise.withResolvers<void>();
      signal.addEventListener("abort", () => stopped.resolve(), { once: true });
      if (!signal.aborted) await Promise.race([next.promise, stopped.promise]);
    },
  };
}

export function createMemoryLog(): MemoryLog {
  /** By number; those before `first` are gone, and so are lost ones. */
  const messages: (Uint8Array | undefined)[] = [];
  const bell = createBell();
  let first = 1;
  /** Grows when the log is lost. */
  let life = 0;
  const log: MemoryLog = {
    maxBytes: Number.POSITIVE_INFINITY,
    fault: () => "none",
    lose() {
      life++;
      messages.length = 0;
      first = 1;
      bell.ring();
    },
    cut(last) {
      messages.length = last;
    },
    drop(number) {
      messages[number - 1] = undefined;
    },
    async append(last, bytes) {
      const fault = log.fault(bytes);
      if (fault === "request-lost") throw new EngineUnavailable("The request was lost.");
      if (last !== messages.length) throw new Moved(`The log ends at ${messages.length}, not at ${last}.`);
      messages.push(bytes.slice());
      bell.ring();
      if (fault === "answer-lost") throw new EngineUnavailable("The answer was lost.");
      return messages.length;
    },
    bounds: async () => ({
      first,
      last: messages.length,
      bytes: messages.slice(first - 1).reduce((sum, message) => sum + (message?.length ?? 0), 0),
    }),
    read: async (number) => (number < first ? undefined : messages[number - 1]),
    async trim(upTo) {
      first = Math.max(first, upTo + 1);
      messages.length = Math.max(messages.length, upTo);
      messages.fill(undefined, 0, upTo);
      bell.ring();
    },
    async *follow(after, signal) {
      const began = life;
      const isOver = () => signal.aborted || life !== began;
      for (let number = after + 1; !isOver(); number++) {
        while (messages.length < number && !isOver()) await bell.wait(signal);
        const bytes = messages[number - 1];
        if (bytes && life === began) yield { number, bytes };
      }
    },
  };
  return log;
}

interface MemoryTable extends Table {
  lose(): void;
}

function createMemoryTable(): MemoryTable {
  const entries = new Map<string, TableEntry>();
  let changes: TableEntry[] = [];
  const bell = createBell();
  function set(key: string, value: string | undefined): number {
    const entry = { key, value, revision: changes.length + 1 };
    entries.set(key, entry);
    changes.push(entry);
    bell.ring();
    return entry.revision;
  }
  return {
    async find(key) {
      const found = entries.get(key);
      return found?.value === undefined ? undefined : found;
    },
    async put(key, value) {
      set(key, value);
    },
    async swap(key, value, revision) {
      const found = entries.get(key);
      const current = found?.value === undefined ? 0 : found.revision;
      return current === revision ? set(key, value) : undefined;
    },
    async remove(key) {
      set(key, undefined);
    },
    list: async () => [...entries.values()].filter(({ value }) => value !== undefined),
    lose() {
      entries.clear();
      changes = [];
      bell.ring();
    },
    async *watch(signal) {
      const watched = changes;
      let at = watched.length;
      yield* [...entries.values()];
      while (!signal.aborted && watched === changes) {
        while (at < watched.length) yield watched[at++] as TableEntry;
        await bell.wait(signal);
      }
    },
  };
}

/** The entries of a table whose keys begin with this, without it. */
function entriesUnder(under: string, table: Table): Table {
  const inner = <Entry extends TableEntry | undefined>(entry: Entry): Entry =>
    entry && { ...entry, key: entry.key.slice(under.length) };
  return {
    find: async (key) => inner(await table.find(under + key)),
    put: (key, value) => table.put(under + key, value),
    swap: (key, value, revision) => table.swap(under + key, value, revision),
    remove: (key) => table.remove(under + key),
    list: async () => (await table.list()).filter(({ key }) => key.startsWith(under)).map(inner),
    async *watch(signal) {
      for await (const entry of table.watch(signal)) if (entry.key.startsWith(under)) yield inner(entry);
    },
  };
}

function createMemoryBlobs(): BlobStore {
  const blobs = new Map<string, Uint8Array>();
  return {
    async put(name, content) {
      blobs.set(name, Buffer.concat(await Array.fromAsync(content)));
    },
    async get(name) {
      const found = blobs.get(name);
      return found && new Blob([found as Uint8Array<ArrayBuffer>]).stream();
    },
    async remove(name) {
      blobs.delete(name);
    },
    list: async () => [...blobs].map(([name, { length }]) => ({ name, size: length })),
    sweep: async () => 0,
  };
}
