// Tests that a copy applies every entry of its log, and never goes on without one.
import { afterEach, expect, test } from "bun:test";
import { join } from "node:path";
import { silent } from "../../../tests/support/database.ts";
import { temporaryDir } from "../../../tests/support/process.ts";
import { openFile, type StorageEngine } from "../../kernel/database/local-engine.ts";
import { EngineUnavailable } from "../engine.ts";
import { createMemoryLog, type MemoryLog } from "../memory-engine.ts";
import { applyLog, catchUp, LogLost, SnapshotNeeded } from "./catch-up.ts";
import { openCellLog } from "./cell-log.ts";
import { openCopy } from "./copy.ts";
import { encodeEntry } from "./entry.ts";

let stack = new AsyncDisposableStack();
afterEach(async () => {
  await stack.disposeAsync();
  stack = new AsyncDisposableStack();
});

async function openEmptyCopy() {
  const dir = temporaryDir();
  stack.defer(dir.remove);
  const storage: StorageEngine = openFile(join(dir.path, "cell.db"), new Set(), silent);
  stack.defer(() => storage.close());
  return { storage, copy: await openCopy(storage, "test") };
}

/** A table, then one note in each entry: all change as many rows as the one before. */
async function logOfNotes(...notes: string[]): Promise<MemoryLog> {
  const engine = createMemoryLog();
  const log = openCellLog(engine, 0, never);
  const write = (sql: string, args: string[], changedBefore: number) =>
    log.append(encodeEntry({ kind: "write", batches: [[{ sql, args }]], isLong: false, changedBefore }));
  await write("CREATE TABLE notes (text TEXT)", [], 0);
  for (const [at, note] of notes.entries()) await write("INSERT INTO notes VALUES (?)", [note], at === 0 ? 0 : 1);
  return engine;
}
const never = new AbortController().signal;

const notesOf = async ({ read }: StorageEngine) =>
  (await read("SELECT text FROM notes ORDER BY rowid")).rows.map(({ text }) => text);

test("an entry that the log has lost is noticed, also if it changed as many rows as the one before", async () => {
  const engine = await logOfNotes("a", "b", "c", "d");
  engine.drop(4);
  const { storage, copy } = await openEmptyCopy();
  const caught = catchUp(engine, copy, never);
  await expect(caught).rejects.toThrow(SnapshotNeeded);
  await expect(caught).rejects.toThrow("The log has lost its message 4");
  // It has what came before, and a snapshot with the lost entry brings the rest.
  expect(await notesOf(storage)).toEqual(["a", "b"]);
  await expect(catchUp(engine, copy, never)).rejects.toThrow("The log has lost its message 4");
});

test("a log that has lost its last entry is not waited for", async () => {
  const engine = await logOfNotes("a", "b");
  engine.drop(3);
  const { copy } = await openEmptyCopy();
  await expect(catchUp(engine, copy, never)).rejects.toThrow("The log has lost its message 3");
});

test("a log that is trimmed while a copy reads it makes the copy begin with a snapshot", async () => {
  const engine = await logOfNotes("a", "b", "c", "d");
  const { storage, copy } = await openEmptyCopy();
  const applied = applyLog(engine, copy, never, (number) => {
    if (number === 2) void engine.trim(4);
    return number === 5;
  });
  await expect(applied).rejects.toThrow(SnapshotNeeded);
  await expect(applied).rejects.toThrow("The log begins with 5, and this copy has applied 2");
  expect(await notesOf(storage)).toEqual(["a"]);
});

test("a message that is only skipped on its way is asked for again", async () => {
  const engine = await logOfNotes("a", "b", "c");
  const { storage, copy } = await openEmptyCopy();
  const skipping: MemoryLog = {
    ...engine,
    async *follow(after, signal) {
      for await (const message of engine.follow(after, signal)) if (message.number !== 3) yield message;
    },
  };
  await expect(catchUp(skipping, copy, never)).rejects.toThrow(EngineUnavailable);
  await catchUp(engine, copy, never);
  expect(await notesOf(storage)).toEqual(["a", "b", "c"]);
});

test("a log that has lost its end is noticed by a copy that has it", async () => {
  const engine = await logOfNotes("a", "b");
  const { copy } = await openEmptyCopy();
  await catchUp(engine, copy, never);
  engine.cut(2);
  await expect(catchUp(engine, copy, never)).rejects.toThrow(LogLost);
});
