// The continuous copy of the compiled binary: killed under load, and with its disk gone, it loses no more than its last seconds.
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { generateIdentity, identityToRecipient } from "age-encryption";
import { type Berth, startBerth } from "./support/berth.ts";
import type { Client } from "./support/client.ts";
import { eventually } from "./support/eventually.ts";
import { member, provision } from "./support/members.ts";
import { run, temporaryDir } from "./support/process.ts";
import { type S3Server, startS3 } from "./support/s3.ts";
import { startUpstream, type Upstream } from "./support/upstream.ts";

/** `kill -9` this often under load; by hand with 100. */
const KILLS = Number(process.env.BERTH_KILLS ?? 2);
/** What may be lost with the disk. */
const LIMIT_MS = 10_000;
const LOAD_MS = 1_500;
const binary = join(import.meta.dir, "../dist/berth");

let dir: ReturnType<typeof temporaryDir>;
let s3: S3Server;
let upstream: Upstream;
let berth: Berth;
let owner: Client;
let agentId: string;
/** When each message was acknowledged, by its text. */
const acknowledged = new Map<string, number>();

beforeAll(async () => {
  dir = temporaryDir();
  s3 = await startS3();
  upstream = await startUpstream();
  const identity = await generateIdentity();
  writeFileSync(join(dir.path, "key.txt"), `${identity}\n`);
  berth = await startBerth({
    env: {
      ...s3.env,
      BACKUP_CONTINUOUS: "1s",
      BACKUP_ENCRYPT_TO: await identityToRecipient(identity),
      PROVIDER_3_BASE_URL: upstream.url,
      MODEL_A: "provider_3:fake-small",
      RATE_LIMITS: "off",
    },
  });
  owner = await member(berth, "enterprise");
  agentId = (await provision(owner, "Harbour")).id;
  const isRestorable = async () => (await berth.command("backups")).stdout.includes("any moment from");
  await eventually(isRestorable, { timeoutMs: 30_000, everyMs: 300, what: "the first backup, with a segment" });
});
afterAll(async () => {
  await berth?.[Symbol.asyncDispose]();
  await upstream?.stop();
  await s3?.[Symbol.asyncDispose]();
  dir.remove();
});

async function copyMetric(name: string): Promise<number> {
  const text = await (await fetch(`${berth.backend}/metrics`)).text();
  return Number(new RegExp(`^berth_backup_copy_${name} (\\S+)$`, "m").exec(text)?.[1]);
}

let count = 0;
async function say(): Promise<void> {
  const message = `message ${String(count++).padStart(6, "0")}`;
  const { status } = await owner.post("/api/chat", { agentId, message });
  if (status === 200) acknowledged.set(message, Date.now());
}

/** Restores into a new data folder that has only the key, as after the loss of the disk. Returns the messages that it has. */
async function restore(...args: string[]): Promise<string[]> {
  const data = join(dir.path, "restored");
  rmSync(data, { recursive: true, force: true });
  mkdirSync(data);
  copyFileSync(join(berth.dir, "data/secret.key"), join(data, "secret.key"));
  const env = { ...berth.env, PATH: process.env.PATH ?? "", DATA_DIR: data };
  const restored = await run([binary, "restore", ...args, "--identity", join(dir.path, "key.txt")], env, dir.path);
  expect(restored).toMatchObject({ exitCode: 0, stderr: "" });
  expect(restored.stdout).toContain("With the continuous copy, it is as it was at 20");
  const database = new Database(join(data, "berth.db"));
  expect(database.query("PRAGMA integrity_check").values()).toEqual([["ok"]]);
  expect(database.query("PRAGMA foreign_key_check").values()).toEqual([]);
  const rows = database.query("SELECT content FROM messages WHERE role = 'user' ORDER BY content").values();
  database.close();
  return rows.map(([content]) => /message \d+/.exec(String(content))?.[0] ?? "");
}

test(
  "kill -9 under load, and the disk gone: at most the last seconds are lost, and never something between",
  async () => {
    let worst = 0;
    for (let kill = 0; kill < KILLS; kill++) {
      // A start writes something, which the copy begins with.
      await eventually(async () => (await copyMetric("segments_total")) > 0, { timeoutMs: 20_000, what: "the copy" });
      const until = Date.now() + LOAD_MS * (0.5 + Math.random());
      while (Date.now() < until) await say();
      const killedAt = Date.now();
      await berth.kill();
      const there = await restore("latest");
      const lost = [...acknowledged.keys()].filter((message) => !there.includes(message));
      // What is there is all that came first.
      expect(lost).toEqual([...acknowledged.keys()].slice(acknowledged.size - lost.length));
      const lostMs = lost[0] === undefined ? 0 : killedAt - (acknowledged.get(lost[0]) ?? 0);
      worst = Math.max(worst, lostMs);
      expect(lostMs).toBeLessThan(LIMIT_MS);
      await berth.restart({ keepPorts: true });
    }
    console.log(`${KILLS} kills, ${acknowledged.size} messages, at most ${worst} ms lost`);
  },
  30_000 + KILLS * 15_000,
);

test("--at leads to a moment between two messages, and the list says from when to when", async () => {
  await say();
  const first = [...acknowledged.keys()].at(-1) ?? "";
  await eventually(async () => (await copyMetric("age_seconds")) * 1000 < Date.now() - (acknowledged.get(first) ?? 0), {
    timeoutMs: 15_000,
    what: "the copy of the first message",
  });
  const between = new Date().toISOString();
  await say();
  const second = [...acknowledged.keys()].at(-1) ?? "";
  await eventually(
    async () => (await copyMetric("age_seconds")) * 1000 < Date.now() - (acknowledged.get(second) ?? 0),
    {
      timeoutMs: 15_000,
      what: "the copy of the second message",
    },
  );
  const then = await restore("latest", "--at", between);
  expect([then.includes(first), then.includes(second)]).toEqual([true, false]);
  expect((await restore("latest")).includes(second)).toBe(true);
  const { stdout } = await berth.command("backups");
  expect(stdout).toMatch(/any moment from 20\S+Z to 20\S+Z, by the continuous copy: \S+ restore --at TIME/);
});

test("a bucket that refuses makes the copy late in the log and in doctor, and it goes on by itself", async () => {
  const { stdout } = await berth.command("doctor", "--online");
  expect(stdout).toMatch(/✓ Continuous copy: all but the last \d+ s can be restored\./);
  s3.onRequest = (request) =>
    request.method === "PUT" ? new Response(null, { status: 503, statusText: "SlowDown" }) : undefined;
  await say();
  await eventually(() => /the continuous copy could not be stored/.test(Object.values(berth.output()).join("")), {
    timeoutMs: 20_000,
    what: "the warning",
  });
  s3.onRequest = () => undefined;
  const before = Date.now();
  await eventually(async () => (await copyMetric("age_seconds")) * 1000 < Date.now() - before, {
    timeoutMs: 20_000,
    what: "the copy goes on",
  });
});
