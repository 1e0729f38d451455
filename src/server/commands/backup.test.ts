// The arguments of the commands of backups.
import { afterAll, expect, test } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ERASURES_FILE } from "../../../plugins/privacy/settings.ts";
import { temporaryDir } from "../../../tests/support/process.ts";
import { loadConfig } from "../../kernel/config/config.ts";
import { openKernel } from "../../kernel/kernel.ts";
import { allSettings } from "../settings.ts";
import { eraseAgain, formOf, parseMoment } from "./backup.ts";

const now = Date.parse("2026-11-26T22:56:00Z");

test.each([
  ["2026-11-26T14:03:05Z", "2026-11-26T14:03:05.000Z"],
  ["2026-11-26T14:03:05.250Z", "2026-11-26T14:03:05.250Z"],
  ["2026-11-26T15:03:05+01:00", "2026-11-26T14:03:05.000Z"],
  ["2026-11-26T14:03Z", "2026-11-26T14:03:00.000Z"],
])("--at %s is a moment", (text, moment) => {
  expect(new Date(parseMoment(text, now)).toISOString()).toBe(moment);
});

test.each(["berth 5", "2026", "2026-11-26", "11/26/2026 22:56", "2026-11-26T14:03:05", "2026-02-30T00:00:00Z", ""])(
  "--at %p is refused: it is no time with a zone",
  (text) => {
    expect(() => parseMoment(text, now)).toThrow(/no time with a zone.*2026-11-26T14:03:05Z/);
  },
);

test("a time in the future is refused, with the way to the newest state", () => {
  expect(() => parseMoment("2026-11-26T22:56:01Z", now)).toThrow(
    /in the future: it is 2026-11-26T22:56.*restore latest/,
  );
});

test("the name of a file says what is written", () => {
  const inTemporary = (name: string) => formOf(join(tmpdir(), name));
  expect(["all.tar.gz", "all.tgz", "all.tar.gz.age"].map(inTemporary)).toEqual(["archive", "archive", "archive"]);
  expect(inTemporary("copy.db")).toBe("database");
});

test.each([
  ["s3://bucket/all.tar.gz", /set BACKUP_TO=s3/],
  ["foo.zip", /\.tar\.gz is an archive of everything.*\.db the database alone/],
  ["copy", /\.tar\.gz/],
  ["copy.db.age", /\.tar\.gz/],
  ["missing-folder/all.tar.gz", /no folder \S+missing-folder\. Make it/],
])("backup %s is refused", (file, says) => {
  expect(() => formOf(file)).toThrow(says);
});

test("without the key of the backup, who was erased may be back, and the restore has a problem", async () => {
  const dir = temporaryDir();
  afterAll(dir.remove);
  const env = { DATA_DIR: dir.path, LOG_LEVEL: "error" };
  const config = loadConfig(env, { cwd: dir.path, dotenv: false, settings: allSettings });
  await (await openKernel(config)).close();
  expect(await eraseAgain(config)).toEqual({ erased: "" });
  writeFileSync(join(dir.path, ERASURES_FILE), "");
  // The list has nobody.
  expect(await eraseAgain(config)).toEqual({ erased: "" });
  rmSync(join(dir.path, "secret.key"));
  const { erased, problem } = await eraseAgain(config);
  expect(erased).toBe("");
  expect(problem).toMatch(
    /^WARNING: People were erased .* could not be erased again: .*secret\.key is missing.* person reapply before you start the service\.$/,
  );
});
