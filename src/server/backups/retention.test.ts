// Which backups are deleted: by count and age, never the newest, and never one that is being written.
import { describe, expect, test } from "bun:test";
import {
  archiveOf,
  backupNameAt,
  isArchiveName,
  isCopyName,
  manifestNameOf,
  timeOfBackup,
} from "../../../plugins/fleet/backups/backup-names.ts";
import { DAY, HOUR } from "../../kernel/util/time.ts";
import { type BackupManifest, formatManifest, parseManifest } from "./manifest.ts";
import { expiredBackups, leftovers } from "./retention.ts";

const NOW = Date.parse("2026-11-26T03:00:00.000Z");
/** Of a backup made so many days ago. */
const name = (days: number) => backupNameAt(NOW - days * DAY, false);
const days = (...all: number[]) => all.map(name);
/** Those that the schedule or people asked for. */
const asked = (...all: number[]) => days(...all).map((name) => ({ name }));
const forCopy = (...all: number[]) => days(...all).map((name) => ({ name, isForCopy: true as const }));

describe("what is deleted", () => {
  test("the oldest beyond the count, and what is older than the age", () => {
    const all = asked(0, 1, 2, 3, 40);
    expect(expiredBackups(all, { count: 14, forMs: undefined }, NOW)).toEqual([]);
    expect(expiredBackups(all.toReversed(), { count: 3, forMs: undefined }, NOW)).toEqual(days(40, 3));
    expect(expiredBackups(all, { count: 14, forMs: 30 * DAY }, NOW)).toEqual(days(40));
    expect(expiredBackups(all, { count: 2, forMs: 30 * DAY }, NOW)).toEqual(days(40, 3, 2));
  });

  test("never the newest, however old it is", () => {
    expect(expiredBackups(asked(90, 91), { count: 1, forMs: DAY }, NOW)).toEqual(days(91));
  });

  test("nothing that Berth has not named, nor copies of the database that an admin made", () => {
    const foreign = ["holiday.tar.gz", "berth-2020-01-01T00-00-00-000Z.db", "berth-old.tar.gz"];
    expect(
      expiredBackups([...foreign.map((name) => ({ name })), ...asked(0, 1)], { count: 1, forMs: DAY }, NOW),
    ).toEqual(days(1));
  });

  test("none that was asked for because of those that the continuous copy has made for itself, which are counted apart", () => {
    const all = [...asked(0, 1, 2, 3), ...forCopy(0.1, 0.2, 0.3, 0.4)];
    expect(expiredBackups(all, { count: 3, forMs: undefined }, NOW)).toEqual(days(3, 0.4));
    expect(expiredBackups([...asked(1), ...forCopy(0.1, 0.2)], { count: 1, forMs: undefined }, NOW)).toEqual(days(0.2));
    // With none beside them.
    expect(expiredBackups(forCopy(1, 2, 3), { count: 2, forMs: undefined }, NOW)).toEqual(days(3));
  });

  test("those of the copy that are older than all others that are kept, or too old", () => {
    const all = [...asked(0, 1, 2, 3), ...forCopy(0.5, 1.5, 2.5)];
    expect(expiredBackups(all, { count: 3, forMs: undefined }, NOW)).toEqual(days(3, 2.5));
    expect(expiredBackups(all, { count: 4, forMs: DAY }, NOW)).toEqual(days(3, 2.5, 2, 1.5));
  });

  test("files of a backup that was never completed, a day later", () => {
    const [young, old, complete] = [backupNameAt(NOW - HOUR, true), name(2), name(3)];
    const files = [
      young,
      `${young}.unfinished`,
      old,
      `${old}.unfinished`,
      complete,
      manifestNameOf(complete),
      "notes.txt",
    ];
    expect(leftovers(files, new Set([complete]), NOW)).toEqual([old, `${old}.unfinished`]);
    // A manifest without its archive is left by nothing but a stranger's deletion.
    expect(leftovers([manifestNameOf(old)], new Set(), NOW)).toEqual([manifestNameOf(old)]);
  });
});

describe("names", () => {
  test("have the time, sort by it, and say whether a backup is encrypted", () => {
    const at = Date.parse("2026-01-02T03:04:05.006Z");
    expect(backupNameAt(at, false)).toBe("berth-2026-01-02T03-04-05-006Z.tar.gz");
    expect(backupNameAt(at, true)).toBe("berth-2026-01-02T03-04-05-006Z.tar.gz.age");
    expect(timeOfBackup(backupNameAt(at, true))).toBe(at);
    expect(timeOfBackup("berth-2026-01-02T03-04-05-006Z.db")).toBe(at);
    expect(days(3, 1, 2).sort()).toEqual(days(3, 2, 1));
  });

  test("nothing else is taken for one", () => {
    for (const other of ["berth.db", "../berth-2026-01-02T03-04-05-006Z.tar.gz", `${name(1)}/x`, "secret.key", ""]) {
      expect([isArchiveName(other), isCopyName(other), archiveOf(other)]).toEqual([false, false, undefined]);
    }
    expect(archiveOf(`${name(1)}.json.unfinished`)).toBe(name(1));
  });
});

describe("a manifest", () => {
  const manifest: BackupManifest = {
    format: "berth.backup",
    version: 1,
    name: name(0),
    createdAt: new Date(NOW).toISOString(),
    program: "1.0.0",
    bytes: 10,
    sha256: "ab",
    recipients: [],
    cells: 1,
    files: 0,
    verified: "opened",
  };

  test("is read as it was written", () => {
    expect(parseManifest(formatManifest(manifest), name(0))).toEqual(manifest);
  });

  test("counts for nothing if it is cut, changed, or of another backup", () => {
    const text = formatManifest(manifest);
    for (let length = 0; length < text.length - 2; length++)
      expect(parseManifest(text.slice(0, length), name(0))).toBeUndefined();
    expect(parseManifest(text, name(1))).toBeUndefined();
    expect(parseManifest(text.replace('"ab"', "7"), name(0))).toBeUndefined();
  });
});
