// Backups of the whole service: on a schedule, encrypted, to an S3-compatible server; killed, on a full disk, and restored.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { generateIdentity, identityToRecipient } from "age-encryption";
import { type Berth, startBerth } from "./support/berth.ts";
import { type Client, createClient } from "./support/client.ts";
import { eventually } from "./support/eventually.ts";
import { launch, run, temporaryDir } from "./support/process.ts";
import { refusal, type S3Server, startS3 } from "./support/s3.ts";

/** `kill -9` this often during backups; by hand with 100. */
const KILLS = Number(process.env.BERTH_KILLS ?? 8);
const binary = join(import.meta.dir, "../dist/berth");
const path = { PATH: process.env.PATH ?? "" };

interface Listed {
  name: string;
  address: string;
  bytes: number;
  verified: string;
}

let dir: ReturnType<typeof temporaryDir>;
let s3: S3Server;
let berth: Berth;
let ada: Client;
let identity: string;
const backups = async (of = berth): Promise<Listed[]> => JSON.parse((await of.command("backups", "--json")).stdout);

beforeAll(async () => {
  dir = temporaryDir();
  s3 = await startS3();
  identity = await generateIdentity();
  const settings = { BACKUP_SCHEDULE: "0 3 * * *", BACKUP_ENCRYPT_TO: await identityToRecipient(identity) };
  berth = await startBerth({ env: { ...s3.env, ...settings } });
  ada = createClient(berth);
  await ada.join();
  await berth.command("user", "admin", ada.account.email);
  mkdirSync(join(berth.dir, "data/uploads/agent"), { recursive: true });
  writeFileSync(join(berth.dir, "data/uploads/agent/file"), "an upload");
  writeFileSync(join(berth.dir, "key.txt"), `${identity}\n`);
});
afterAll(async () => {
  await berth.stop();
  await s3[Symbol.asyncDispose]();
  dir.remove();
});

test("a scheduled backup goes encrypted to a bucket, and makes a new service from nothing but the key", async () => {
  await eventually(async () => (await backups()).length > 0, { timeoutMs: 30_000, what: "the first backup" });
  // Of now, with everything above.
  await ada.post("/api/admin/backups");
  await eventually(async () => (await backups()).length === 2, { what: "the second backup" });
  const [newest] = await backups();
  expect(newest).toMatchObject({ verified: "checksum" });
  const stored = readdirSync(s3.folder, { recursive: true, encoding: "utf8" });
  for (const name of stored.filter((one) => one.endsWith(".age._S3rver_object")))
    expect(readFileSync(join(s3.folder, name), "latin1").slice(0, 21)).toBe("age-encryption.org/v1");

  const empty = join(dir.path, "empty");
  mkdirSync(join(empty, "data"), { recursive: true });
  copyFileSync(join(berth.dir, "data/secret.key"), join(empty, "data/secret.key"));
  const env = { ...path, ...s3.env };
  const refused = await run([binary, "restore", "latest"], env, empty);
  expect(refused.stderr).toContain("--identity FILE");
  const address = newest?.address ?? "";
  const restored = await run([binary, "restore", address, "--identity", join(berth.dir, "key.txt")], env, empty);
  expect(restored).toMatchObject({ exitCode: 0, stderr: "" });
  expect(readFileSync(join(empty, "data/uploads/agent/file"), "utf8")).toBe("an upload");
  await using copy = await startBerth({ dir: empty });
  const there = createClient(copy);
  expect((await there.post("/api/auth/callback/credentials", ada.account)).status).toBe(200);
});

test("one that fails is in the overview, in the metrics, an event, and gone once one succeeds", async () => {
  s3.onRequest = (request) => (request.method === "PUT" ? refusal(403, "AccessDenied") : undefined);
  const problems = async () =>
    (await ada.get<{ problems: { code: string; message: string }[] }>("/api/admin/overview")).body.problems;
  const failed = async () => (await problems()).find(({ code }) => code === "BACKUP_FAILED");
  await ada.post("/api/admin/backups");
  const { message } = (await eventually(failed, { what: "the problem" })) || { message: "" };
  expect(message).toContain("It needs to list, get, put and delete");
  const metrics = await (await fetch(`${berth.backend}/metrics`)).text();
  expect(metrics).toContain("berth_backup_failures_total 1\n");
  expect(metrics).toMatch(/^berth_backup_age_seconds \d/m);
  expect(metrics).toContain("berth_backup_late 0\n");
  s3.onRequest = () => undefined;
  await ada.post("/api/admin/backups");
  await eventually(async () => (await failed()) === undefined, { what: "the end of the problem" });
  const { stdout } = await berth.command("doctor");
  expect(stdout).toContain("The newest backup at s3://backups/berth/ is of");
});

test("kill -9 of a backup at any moment leaves no torn one in the list", async () => {
  const to = join(dir.path, "killed");
  const env = { ...path, DATA_DIR: join(berth.dir, "data"), BACKUP_TO: to, BACKUP_KEEP: "2" };
  const started = performance.now();
  expect(await run([binary, "backup"], env, dir.path)).toMatchObject({ exitCode: 0 });
  const usualMs = performance.now() - started;
  for (let kill = 0; kill < KILLS; kill++) {
    const child = launch({ command: [binary, "backup"], env, dir: dir.path });
    const timer = setTimeout(() => child.signal("SIGKILL"), usualMs * (0.2 + (0.9 * kill) / KILLS));
    await child.exited.catch(() => undefined);
    clearTimeout(timer);
    const manifests = readdirSync(to).filter((name) => name.endsWith(".json"));
    expect(manifests.length).toBeGreaterThan(0);
    for (const name of manifests) {
      const manifest: { name: string; sha256: string } = JSON.parse(readFileSync(join(to, name), "utf8"));
      const digest = createHash("sha256")
        .update(readFileSync(join(to, manifest.name)))
        .digest("hex");
      expect(digest).toBe(manifest.sha256);
    }
  }
  expect(await run([binary, "backup"], env, dir.path)).toMatchObject({ exitCode: 0 });
  expect(readdirSync(join(berth.dir, "data"))).not.toContain("backup-work");
}, 300_000);

test("kill -9 of the service ends its backup, which is made after the next start", async () => {
  const arrived = Promise.withResolvers<void>();
  const never = Promise.withResolvers<Response>();
  s3.onRequest = (request) => {
    if (request.method !== "PUT") return undefined;
    arrived.resolve();
    return never.promise;
  };
  await ada.post("/api/admin/backups");
  await arrived.promise;
  const before = (await backups()).length;
  await berth.kill();
  s3.onRequest = () => undefined;
  await berth.restart({ keepPorts: true });
  // The killed one would still wait for its answer, and keep others from being made.
  await eventually(async () => (await backups()).length > before, { what: "the backup" });
  never.resolve(refusal(500, "InternalError"));
});

test("a full disk is named with what to do, and leaves the earlier backups", async () => {
  const disk = join(dir.path, "disk");
  mkdirSync(disk);
  // Only root may mount a file system of its own; elsewhere there is no small disk to fill.
  const mounted = await run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", disk], path, "/");
  if (mounted.exitCode !== 0) return;
  try {
    const env = { ...path, DATA_DIR: join(berth.dir, "data"), BACKUP_TO: join(disk, "to") };
    expect(await run([binary, "backup"], env, "/")).toMatchObject({ exitCode: 0 });
    const before = readdirSync(env.BACKUP_TO);
    expect(() => writeFileSync(join(disk, "fill"), Buffer.alloc(2_000_000))).toThrow("ENOSPC");
    const { exitCode, stderr } = await run([binary, "backup"], env, "/");
    expect({ exitCode, stderr }).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining(`The disk of ${env.BACKUP_TO} is full`),
    });
    expect(readdirSync(env.BACKUP_TO)).toEqual(before);
    expect(JSON.parse((await run([binary, "backups", "--json"], env, "/")).stdout).length).toBe(1);
  } finally {
    await run(["umount", disk], path, "/");
  }
});
