// Makes, lists, verifies and restores backups in a folder and in a bucket, in the clear and encrypted.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { generateIdentity } from "age-encryption";
import { backupNameAt, manifestNameOf } from "../../../plugins/fleet/backups/backup-names.ts";
import { refusal, type S3Server, startS3 } from "../../../tests/support/s3.ts";
import type { Config } from "../../kernel/config/config.ts";
import { DAY } from "../../kernel/util/time.ts";
import { checkBackups } from "../commands/online/backup-check.ts";
import { unpackBytesInto } from "./archive.ts";
import { backupReport } from "./backup-report.ts";
import { storeErasuresBesideBackups, takeErasures } from "./erasure-lists.ts";
import { deleteBackup, listBackups, makeBackup, makeBackupFile } from "./make-backup.ts";
import { openStorage } from "./place/open-storage.ts";
import { restoreBackup } from "./restore-backup.ts";
import { type BackupFolder, newKeys, openBackupFolder, withDatabase } from "./support.test.ts";

let dir: BackupFolder;
let s3: S3Server;
let identity: string;
let recipient: string;
const at = (name: string) => dir.at(name);
const configOf = (...given: Parameters<BackupFolder["configOf"]>): Config => dir.configOf(...given);
const file = (data: string, path: string) => join(at(data), path);

const remember = (key: string, data = "data") =>
  withDatabase(at(data), ({ write }) => write([{ sql: "INSERT OR REPLACE INTO meta VALUES (?, 'x')", args: [key] }]));
const remembers = (key: string, data = "data") =>
  withDatabase(at(data), async ({ read }) => {
    const { rows } = await read("SELECT 1 FROM meta WHERE key = ?", [key]);
    return rows.length > 0;
  });
function upload(path: string, text: string, data = "data"): void {
  mkdirSync(join(at(data), path, ".."), { recursive: true });
  writeFileSync(file(data, path), text);
}
const namesOf = async (config: Config) => (await listBackups(openStorage(config))).map(({ name }) => name);
const encrypted = () => ({ BACKUP_ENCRYPT_TO: recipient, BACKUP_IDENTITY_FILE: at("key.txt") });

beforeAll(async () => {
  s3 = await startS3();
  ({ identity, recipient } = await newKeys());
});
afterAll(() => s3[Symbol.asyncDispose]());
beforeEach(async () => {
  dir = await openBackupFolder();
  s3.onRequest = () => undefined;
  writeFileSync(at("key.txt"), `# public key: ${recipient}\n${identity}\n`);
  await remember("first");
  upload("uploads/agent/one", "an upload");
  upload("knowledge/agent/two", "a file");
  upload("backups/agent/2026.json.gz", "an agent's own backup");
  upload("uploads/agent/three.unfinished", "half");
});
afterEach(() => dir.remove());

const PLACES: [string, () => Record<string, string>][] = [
  ["a folder", () => ({ BACKUP_TO: at("elsewhere") })],
  ["a folder, encrypted", () => ({ BACKUP_TO: at("elsewhere"), ...encrypted() })],
  ["a bucket", () => ({ ...s3.env, BACKUP_TO: `s3://backups/${dir.path.slice(5)}` })],
  ["a bucket, encrypted", () => ({ ...s3.env, BACKUP_TO: `s3://backups/${dir.path.slice(5)}`, ...encrypted() })],
];

describe.each(PLACES)("in %s", (_, place) => {
  test("a backup is restored into an empty folder, with all files", async () => {
    const config = configOf(place());
    const { backup, problem } = await makeBackup(config);
    expect(problem).toBeUndefined();
    expect(backup.verified).toBe("opened");
    expect(await listBackups(openStorage(config))).toEqual([backup]);
    expect(readdirSync(at("data"))).not.toContain("backup-work");

    const { files, kept } = await restoreBackup(configOf(place(), "new"), "latest");
    expect({ files, kept }).toEqual({ files: 3, kept: [] });
    expect(await remembers("first", "new")).toBe(true);
    expect(readFileSync(file("new", "uploads/agent/one"), "utf8")).toBe("an upload");
    expect(readFileSync(file("new", "knowledge/agent/two"), "utf8")).toBe("a file");
    expect(readdirSync(file("new", "uploads/agent"))).toEqual(["one"]);
    expect(readdirSync(at("new"))).not.toContain("restore-work");
  });

  test("what is there is kept beside what is restored", async () => {
    const config = configOf(place());
    const { backup } = await makeBackup(config);
    await remember("second");
    upload("uploads/agent/one", "another upload");
    upload("uploads/agent/later", "later");
    const { kept } = await restoreBackup(config, backup.name);
    expect(await remembers("second")).toBe(false);
    expect(readFileSync(file("data", "uploads/agent/one"), "utf8")).toBe("an upload");
    const folder = kept.find((path) => path.includes("uploads.replaced-")) ?? "";
    expect(readFileSync(join(folder, "agent/one"), "utf8")).toBe("another upload");
    expect(readFileSync(join(folder, "agent/later"), "utf8")).toBe("later");
    expect(kept.filter((path) => path.includes("berth.db.replaced-")).length).toBe(1);
  });

  test("one that ends before its manifest is not offered, and its name is made anew", async () => {
    const config = configOf(place());
    const { backup } = await makeBackup(config);
    const storage = openStorage(config);
    await storage.remove(manifestNameOf(backup.name));
    expect(await namesOf(config)).toEqual([]);
    await expect(restoreBackup(config, "latest")).rejects.toThrow("There is no backup");
    await makeBackup(config, { name: backup.name });
    expect(await namesOf(config)).toEqual([backup.name]);
  });
});

test("backups of the continuous copy don't push out others", async () => {
  const config = configOf({ BACKUP_TO: at("elsewhere"), BACKUP_KEEP: "1" });
  const now = Date.now();
  await makeBackup(config, { now: now - DAY });
  for (const seconds of [3, 2]) await makeBackup(config, { now: now - seconds * 1000, isForCopy: true });
  expect(await namesOf(config)).toEqual([now - 2000, now - DAY].map((time) => backupNameAt(time, false)));
  await makeBackup(config, { now });
  expect(await namesOf(config)).toEqual([backupNameAt(now, false)]);
});

test("old ones are deleted once a new one is verified, and not before", async () => {
  const config = configOf({ BACKUP_TO: at("elsewhere"), BACKUP_KEEP: "2" });
  const now = Date.now();
  for (const day of [4, 3, 2]) await makeBackup(config, { now: now - day * DAY });
  writeFileSync(at("elsewhere/notes.txt"), "mine");
  writeFileSync(at(`elsewhere/${backupNameAt(now - 5 * DAY, false)}`), "left by a kill");
  expect(await namesOf(config)).toEqual([2, 3].map((day) => backupNameAt(now - day * DAY, false)));
  await expect(
    makeBackup(configOf({ BACKUP_TO: at("elsewhere"), BACKUP_KEEP: "2", DATABASE_URL: "file:missing.db" })),
  ).rejects.toThrow("no database");
  expect((await namesOf(config)).length).toBe(2);
  await makeBackup(config, { now });
  expect(readdirSync(at("elsewhere")).sort()).toEqual(
    [2, 0]
      .flatMap((day) => [backupNameAt(now - day * DAY, false), manifestNameOf(backupNameAt(now - day * DAY, false))])
      .concat("notes.txt"),
  );
  // Without a rule, nothing is deleted.
  await makeBackup(configOf({ BACKUP_TO: at("elsewhere") }), { now: now + 1 });
  expect((await namesOf(config)).length).toBe(3);
});

describe("the list of erasures", () => {
  const erasure = (person: string, at: number) => JSON.stringify({ person, channel: "telegram", at });
  const list = (...lines: string[]) => `${['{"format":"berth.erasures/1","key":"sealed"}', ...lines].join("\n")}\n`;
  const store = (text: string, data = "data") => {
    mkdirSync(at(data), { recursive: true });
    writeFileSync(file(data, "erasures.jsonl"), text);
  };
  const listOf = (data: string) => readFileSync(file(data, "erasures.jsonl"), "utf8");
  /** As `berth restore` does. Returns what it says. */
  async function restore(env: Record<string, string>, source = "latest", data = "new"): Promise<string[]> {
    const config = configOf(env, data);
    const { storage, kept } = await restoreBackup(config, source);
    return takeErasures(config, storage, { isNew: kept.length === 0 });
  }

  test.each(PLACES)(
    "is stored with each backup in %s, and comes with a restore into an empty folder",
    async (_, place) => {
      store(list(erasure("one", 1)));
      const { backup } = await makeBackup(configOf(place()));
      store(list(erasure("one", 1), erasure("two", 2), '{"person":"cu'));
      await storeErasuresBesideBackups(configOf(place()), 0);
      expect(await restore(place(), backup.name)).toEqual([]);
      expect(listOf("new")).toBe(list(erasure("one", 1), erasure("two", 2)));
      expect(await namesOf(configOf(place()))).toEqual([backup.name]);
      const stored = (await openStorage(configOf(place())).list()).filter(({ name }) => name.includes("erasures"));
      expect(stored).toHaveLength(1);
      const text = new TextDecoder().decode(await openStorage(configOf(place())).readListed(stored[0]?.name ?? ""));
      expect(text.includes("telegram")).toBe(!("BACKUP_ENCRYPT_TO" in place()));
    },
  );

  test("is joined with the one in the data folder", async () => {
    const env = { BACKUP_TO: at("elsewhere") };
    store(list(erasure("one", 1), erasure("two", 2)));
    await makeBackup(configOf(env));
    store(list(erasure("one", 1), erasure("three", 3)));
    expect(await restore(env, "latest", "data")).toEqual([]);
    expect(listOf("data")).toBe(list(erasure("one", 1), erasure("three", 3), erasure("two", 2)));
  });

  test("of another data folder is kept apart from it, and named", async () => {
    const env = { BACKUP_TO: at("elsewhere") };
    store(list(erasure("one", 1)));
    await makeBackup(configOf(env));
    store(list(erasure("other", 5)));
    await makeBackup(configOf(env));
    const [says, ...more] = await restore(env, "latest", "new");
    expect(says).toMatch(
      /berth-erasures-0-[0-9a-f]{16}\.jsonl is another list of erasures than .*new\/erasures\.jsonl/,
    );
    expect(more).toEqual([]);
    expect(listOf("new")).toBe(list(erasure("other", 5)));
  });

  test("comes from beside a file, too; without one, it is said that people may be back, and how to give it", async () => {
    await makeBackupFile(configOf(), at("alone.tar.gz"));
    const [says, ...more] = await restore({}, at("alone.tar.gz"));
    expect(says).toMatch(
      /^No list of erasures was found: people who were erased after this backup was made are there again\. .*new\/erasures\.jsonl, then run .* person reapply before you start the service\.$/,
    );
    expect(more).toEqual([]);
    store(list(erasure("one", 1)));
    const { backup } = await makeBackup(configOf({ BACKUP_TO: at("elsewhere") }));
    expect(await restore({}, at(`elsewhere/${backup.name}`), "another")).toEqual([]);
    expect(listOf("another")).toBe(list(erasure("one", 1)));
  });

  test("is stored nowhere while there are no backups", async () => {
    store(list(erasure("one", 1)));
    await storeErasuresBesideBackups(configOf({ BACKUP_TO: at("elsewhere") }), 0);
    expect(existsSync(at("elsewhere"))).toBe(false);
  });
});

describe("a folder that is not there", () => {
  test("is made for the first backup; later it is on a disk that is not mounted, which is named", async () => {
    mkdirSync(at("disk"));
    const config = configOf({ BACKUP_TO: at("disk/berth") });
    expect(await namesOf(config)).toEqual([]);
    await makeBackup(config);
    renameSync(at("disk"), at("away"));
    const says = `The folder ${at("disk/berth")} with the backups of this service is not there.`;
    // The mount point stays when its disk is gone.
    for (const mountPoint of [false, true]) {
      if (mountPoint) mkdirSync(at("disk"));
      await expect(makeBackup(config)).rejects.toThrow(says);
      await expect(listBackups(openStorage(config))).rejects.toThrow(says);
      for (const schedule of [{}, { BACKUP_SCHEDULE: "0 3 * * *" }])
        expect(await backupReport(configOf({ BACKUP_TO: at("disk/berth"), ...schedule }))).toContain(says);
      expect(await checkBackups(config)).toMatchObject({ level: "broken", text: expect.stringContaining(says) });
    }
    expect(readdirSync(at("disk"))).toEqual([]);
    rmdirSync(at("disk"));
    renameSync(at("away"), at("disk"));
    await makeBackup(config);
    expect((await namesOf(config)).length).toBe(2);
    // Another place begins anew.
    await makeBackup(configOf({ BACKUP_TO: at("elsewhere") }));
  });

  test("may also be a mount point, which is there without its disk", async () => {
    const config = configOf({ BACKUP_TO: at("disk") });
    const { backup } = await makeBackup(config);
    renameSync(at("disk"), at("away"));
    mkdirSync(at("disk"));
    await expect(makeBackup(config)).rejects.toThrow(
      `The folder ${at("disk")} has none of the backups that were made there. If it is on a disk that is not mounted, mount it. If backups are to begin anew there, delete ${file("data", "backup-folder")} first.`,
    );
    expect(readdirSync(at("disk"))).toEqual([]);
    rmdirSync(at("disk"));
    renameSync(at("away"), at("disk"));
    // After a deletion of the last one, an empty folder is as it should be.
    await deleteBackup(config, backup.name);
    expect(await namesOf(config)).toEqual([]);
    await makeBackup(config);
    unlinkSync(file("data", "backup-folder"));
    rmSync(at("disk"), { recursive: true });
    await makeBackup(config);
  });

  test("is not made below another that is not there either", async () => {
    await expect(makeBackup(configOf({ BACKUP_TO: at("disk/berth") }))).rejects.toThrow(
      `There is no folder ${at("disk")}, in which BACKUP_TO would be made.`,
    );
    expect(existsSync(at("disk"))).toBe(false);
  });
});

describe("errors", () => {
  test("a bucket that stores other bytes fails the backup, which is deleted, and old ones stay", async () => {
    const env = { ...s3.env, BACKUP_TO: `s3://backups/${dir.path.slice(5)}`, BACKUP_KEEP: "1" };
    const config = configOf(env);
    const { backup } = await makeBackup(config);
    s3.onRequest = async (request) => {
      if (request.method !== "GET" || !new URL(request.url).pathname.endsWith(".gz")) return undefined;
      return new Response(new Uint8Array(5000).fill(7));
    };
    await expect(makeBackup(config)).rejects.toThrow("damaged");
    s3.onRequest = () => undefined;
    expect((await openStorage(config).list()).map(({ name }) => name).sort()).toEqual([
      backup.name,
      manifestNameOf(backup.name),
    ]);
  });

  test("a refused key, a missing bucket and a server that does not answer are named, with what to do", async () => {
    const make = (env: Record<string, string>) => makeBackup(configOf({ ...s3.env, ...env }));
    await expect(make({ BACKUP_S3_SECRET_ACCESS_KEY: "wrong" })).rejects.toThrow(
      "BACKUP_S3_SECRET_ACCESS_KEY does not belong",
    );
    await expect(make({ BACKUP_TO: "s3://nowhere/x" })).rejects.toThrow("no such bucket");
    await expect(make({ BACKUP_S3_ENDPOINT: "http://127.0.0.1:9" })).rejects.toThrow("Check BACKUP_S3_ENDPOINT");
    s3.onRequest = (request) => (request.method === "PUT" ? refusal(403, "AccessDenied") : undefined);
    await expect(make({})).rejects.toThrow("It needs to list, get, put and delete");
    expect(existsSync(at("data/backup-work"))).toBe(false);
  });

  test("an encrypted backup says which key it needs, and a wrong one opens nothing", async () => {
    const env = { BACKUP_TO: at("elsewhere"), BACKUP_ENCRYPT_TO: recipient };
    const { backup } = await makeBackup(configOf(env));
    expect(backup.verified).toBe("checksum");
    await expect(restoreBackup(configOf(env, "new"), "latest")).rejects.toThrow("--identity FILE");
    writeFileSync(at("other.txt"), `${await generateIdentity()}\n`);
    await expect(restoreBackup(configOf(env, "new"), "latest", { identityFile: at("other.txt") })).rejects.toThrow(
      "encrypted to other keys",
    );
    await expect(restoreBackup(configOf(env, "new"), "latest", { identityFile: at("elsewhere") })).rejects.toThrow(
      "can't be read",
    );
    writeFileSync(at("none.txt"), recipient);
    await expect(restoreBackup(configOf(env, "new"), "latest", { identityFile: at("none.txt") })).rejects.toThrow(
      "AGE-SECRET-KEY-",
    );
    expect(existsSync(at("new/berth.db"))).toBe(false);
    expect((await restoreBackup(configOf(env, "new"), "latest", { identityFile: at("key.txt") })).files).toBe(3);
    const mistyped = recipient.slice(0, -1) + (recipient.endsWith("q") ? "p" : "q");
    const wrong = configOf({ ...env, BACKUP_ENCRYPT_TO: mistyped });
    await expect(makeBackup(wrong)).rejects.toThrow("not a whole public key");
  });

  test("a damaged archive replaces nothing, wherever it is cut or changed", async () => {
    const env = { BACKUP_TO: at("elsewhere") };
    const { path, bytes } = await makeBackupFile(configOf(env), at("good.tar.gz"));
    await remember("kept");
    const good = readFileSync(path);
    for (const share of [0.01, 0.3, 0.6, 0.99]) {
      writeFileSync(at("bad.tar.gz"), good);
      truncateSync(at("bad.tar.gz"), Math.floor(bytes * share));
      await expect(restoreBackup(configOf(env), at("bad.tar.gz"))).rejects.toThrow("damaged");
      const flipped = Buffer.from(good);
      flipped.fill(0xff, Math.floor(bytes * share), Math.floor(bytes * share) + 16);
      writeFileSync(at("bad.tar.gz"), flipped);
      await expect(restoreBackup(configOf(env), at("bad.tar.gz"))).rejects.toThrow();
    }
    writeFileSync(at("bad.tar.gz"), "");
    await expect(restoreBackup(configOf(env), at("bad.tar.gz"))).rejects.toThrow("no backup");
    expect(await remembers("kept")).toBe(true);
    expect(readdirSync(at("data")).filter((name) => name.includes("replaced"))).toEqual([]);
  });

  test("a backup of another number of cells is refused", async () => {
    await makeBackup(configOf({ BACKUP_TO: at("elsewhere") }));
    const two = configOf({ BACKUP_TO: at("elsewhere"), CELLS: "2" }, "new");
    await expect(restoreBackup(two, "latest")).rejects.toThrow("CELLS=1");
  });
});

test("an archive with other entries puts nothing outside of its own folders", async () => {
  const { packTar } = await import("modern-tar");
  const body = "x";
  const entry = (name: string, type: "file" | "symlink" = "file") => ({
    header: { name, type, size: type === "file" ? 1 : 0, ...(type === "symlink" && { linkname: "/etc" }) },
    ...(type === "file" && { body }),
  });
  const names = ["uploads/../../../escaped", "../escaped", "secret.key", "uploads/../secret.key", "cells/x/berth.db"];
  const bytes = await packTar([...names.map((name) => entry(name)), entry("uploads/link", "symlink")]);
  const zipped = Bun.gzipSync(Buffer.from(bytes));
  writeFileSync(at("bad.tar.gz"), zipped);
  await expect(restoreBackup(configOf({}, "new"), at("bad.tar.gz"))).rejects.toThrow();
  // The same for a segment, which is unpacked in memory.
  await expect(unpackBytesInto(at("new/segment"), zipped, [])).rejects.toThrow("outside of the archive");
  const left = readdirSync(dir.path, { recursive: true, encoding: "utf8" });
  expect(left.filter((name) => /escaped|link|new\/secret/.test(name))).toEqual([]);
});
