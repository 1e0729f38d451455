// Tests that the fingerprint of a copy depends on its contents alone, and on all of them.
import { afterEach, expect, test } from "bun:test";
import { join } from "node:path";
import Libsql from "libsql";
import { temporaryDir } from "../../../tests/support/process.ts";
import { compareFingerprints, fingerprint } from "./fingerprint.ts";

const folders: ReturnType<typeof temporaryDir>[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) folder.remove();
});

const SCHEMA = `
  CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT) STRICT;
  CREATE TABLE log_progress (number INTEGER NOT NULL, cluster TEXT);
  CREATE TABLE notes (seq INTEGER PRIMARY KEY AUTOINCREMENT, text TEXT, bytes BLOB, real REAL) STRICT;
  CREATE TABLE pairs (a TEXT, b TEXT, PRIMARY KEY (a, b)) WITHOUT ROWID;
  CREATE VIRTUAL TABLE search USING fts5 (text, content='notes', content_rowid='seq');
  INSERT INTO log_progress VALUES (7, 'c');`;

/** A file with some rows, written in groups of this size. */
function copy(group: number, more = ""): string {
  const folder = temporaryDir();
  folders.push(folder);
  const file = join(folder.path, "copy.db");
  const database = new Libsql(file);
  database.exec("PRAGMA journal_mode = WAL");
  database.exec(SCHEMA);
  for (let from = 0; from < 60; from += group) {
    database.exec("BEGIN");
    for (let n = from; n < Math.min(60, from + group); n++) {
      database.exec(`INSERT INTO notes (text, bytes, real) VALUES ('word${n} same', x'0${n % 10}', ${n}.5)`);
      database.exec(`INSERT INTO search (rowid, text) VALUES (${n + 1}, 'word${n} same')`);
      database.exec(`INSERT INTO pairs VALUES ('${n}', 'b')`);
    }
    database.exec("COMMIT");
  }
  database.exec(`INSERT INTO meta VALUES ('log_started', '${group}'), ('secret', 'x')`);
  if (more) database.exec(more);
  database.close();
  return file;
}

const of = (file: string) => fingerprint(file, () => undefined);

test("copies with the same contents are equal, however their writes were grouped", () => {
  const [one, other] = [of(copy(1)), of(copy(60))];
  expect(compareFingerprints(one, other)).toEqual([]);
  expect(one.number).toBe(7);
  expect(one.tables.notes?.rows).toBe(60);
  expect(Object.keys(one.tables)).toContain("search (words)");
});

test.each([
  ["UPDATE notes SET text = 'word3 Same' WHERE seq = 4", "notes has other contents in 60 rows"],
  ["UPDATE notes SET real = 4 WHERE seq = 4", "notes has other contents in 60 rows"],
  ["UPDATE notes SET bytes = NULL WHERE seq = 4", "notes has other contents in 60 rows"],
  ["DELETE FROM notes WHERE seq = 60", "notes has 60 rows and 59"],
  ["UPDATE pairs SET b = 'c' WHERE a = '9'", "pairs has other contents in 60 rows"],
  ["UPDATE meta SET value = 'y' WHERE key = 'secret'", "meta has other contents in 1 row"],
  ["INSERT INTO search (search, rowid, text) VALUES ('delete', 4, 'word3 same')", "search (words)"],
  ["CREATE TABLE more (a)", "more is in one copy only"],
  ["UPDATE sqlite_sequence SET seq = 99", "sqlite_sequence"],
])("after %s", (sql, difference) => {
  expect(compareFingerprints(of(copy(7)), of(copy(7, sql))).join()).toContain(difference);
});

test("is that of the moment when it was pinned", () => {
  const file = copy(10);
  const before = of(file);
  const meanwhile = fingerprint(file, () => {
    const writer = new Libsql(file);
    writer.exec("DELETE FROM pairs");
    writer.close();
  });
  expect(compareFingerprints(before, meanwhile)).toEqual([]);
  expect(of(file).tables.pairs?.rows).toBe(0);
});

test("copies at different places of the log can't be compared", () => {
  const other = copy(7, "UPDATE log_progress SET number = 8");
  expect(() => compareFingerprints(of(copy(7)), of(other))).toThrow("different places: 7 and 8");
});
