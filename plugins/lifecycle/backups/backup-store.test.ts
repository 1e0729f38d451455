// Tests backup files: complete or absent, the newest 20 per agent, deleted with it, and errors of the disk.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { silent } from "../../../tests/support/database.ts";
import { temporaryDir } from "../../../tests/support/process.ts";
import { rejectionOf } from "../../../tests/support/rejection.ts";
import { readElements, writeElements } from "./backup-file.ts";
import { type BackupStore, createBackupStore, MAX_BACKUPS } from "./backup-store.ts";

const AGENT = Bun.randomUUIDv7();
let dir: ReturnType<typeof temporaryDir>;
let backups: BackupStore;
beforeEach(() => {
  dir = temporaryDir();
  backups = createBackupStore({ dataDir: dir.path, log: silent });
});
afterEach(() => dir.remove());

async function* elements(...texts: string[]) {
  yield* texts;
}
// biome-ignore lint/correctness/useYield: it throws before its first element.
async function* failing(code: string): AsyncGenerator<string> {
  throw Object.assign(new Error(`${code}: /secret/path`), { code });
}
const files = () => readdirSync(join(dir.path, "backups", AGENT));

test("keeps the newest backups, and pinned ones", async () => {
  const first = await backups.write(AGENT, elements("{}"));
  await backups.pin(AGENT, first);
  const paths: string[] = [];
  for (let n = 0; n < MAX_BACKUPS + 3; n++) paths.push(await backups.write(AGENT, elements("{}")));
  const names = [first, ...paths.slice(-MAX_BACKUPS)].map((path) => path.split("/")[2] ?? "");
  expect(files().sort()).toEqual(names.sort());
  backups.unpin(first);
  await backups.write(AGENT, elements("{}"));
  expect(files()).toHaveLength(MAX_BACKUPS);
  expect(files()).not.toContain(first.split("/")[2] ?? "");
});

test("backups of the same millisecond get different names", async () => {
  const paths = new Set<string>();
  for (let n = 0; n < 10; n++) paths.add(await backups.write(AGENT, elements("{}")));
  expect(paths.size).toBe(10);
});

test("the next backup deletes files that a killed process left unfinished", async () => {
  await backups.write(AGENT, elements("{}"));
  writeFileSync(join(dir.path, "backups", AGENT, "2026-01-01T00-00-00-000Z.json.gz.unfinished"), "half");
  await backups.write(AGENT, elements("{}"));
  expect(files().filter((name) => name.includes("unfinished"))).toEqual([]);
});

test("a full disk is 500 without a path in the message, and leaves no partial file", async () => {
  for (const code of ["ENOSPC", "EDQUOT", "EFBIG"]) {
    const refused = await rejectionOf(backups.write(AGENT, failing(code)));
    expect(refused).toMatchObject({ status: 500, code: "BACKUP_FAILED" });
    expect(refused.message).not.toContain("/");
  }
  expect(files()).toEqual([]);
});

test("a device that is full fails the write, and no file is left", async () => {
  const path = join(dir.path, "full.json.gz");
  symlinkSync("/dev/full", `${path}.unfinished`);
  expect(await rejectionOf(writeElements(path, elements(`"${"x".repeat(100_000)}"`)))).toMatchObject({
    code: "ENOSPC",
  });
  expect(readdirSync(dir.path)).toEqual([]);
  expect(existsSync("/dev/full")).toBe(true);
});

test("a folder that can't be written is 500 without a path in the message", async () => {
  writeFileSync(join(dir.path, "backups"), "a file where the folder should be");
  const refused = await rejectionOf(backups.write(AGENT, elements("{}")));
  expect(refused).toMatchObject({ status: 500, code: "BACKUP_FAILED" });
  expect(refused.message).not.toContain("/");
});

test("other errors while writing are thrown unchanged", async () => {
  expect(await rejectionOf(backups.write(AGENT, failing("SQLITE_CORRUPT")))).toMatchObject({ code: "SQLITE_CORRUPT" });
  expect(files()).toEqual([]);
});

test("deletes folders of missing agents after a week; others stay", async () => {
  const [gone, fresh, kept] = [Bun.randomUUIDv7(), Bun.randomUUIDv7(), Bun.randomUUIDv7()];
  await backups.deleteOrphans(async () => false);
  for (const id of [gone, fresh, kept]) mkdirSync(join(dir.path, "backups", id), { recursive: true });
  // The operator's own files.
  writeFileSync(join(dir.path, "backups", "berth-2026.db"), "x");
  mkdirSync(join(dir.path, "backups", "by-hand"));
  const longAgo = Date.now() / 1000 - 8 * 86_400;
  for (const id of [gone, kept, "berth-2026.db", "by-hand"])
    utimesSync(join(dir.path, "backups", id), longAgo, longAgo);
  await backups.deleteOrphans(async (id) => id === kept);
  expect(readdirSync(join(dir.path, "backups")).sort()).toEqual([fresh, kept, "berth-2026.db", "by-hand"].sort());
});

test("reads a file back element by element, however its lines are split into chunks", async () => {
  const path = join(dir.path, "a.json.gz");
  const texts = [
    "{}",
    `"${"ü🚢\u2028".repeat(50_000)}"`,
    "[]",
    `{"a":"\\n"}`,
    ...Array.from({ length: 500 }, (_, n) => `${n}`),
  ];
  await writeElements(path, elements(...texts));
  expect(await Array.fromAsync(readElements(path))).toEqual(texts);
  const [first] = await Promise.all([readElements(path).next(), Array.fromAsync(readElements(path))]);
  expect(first.value).toBe("{}");
});
