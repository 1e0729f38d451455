// Pruning and erasing with the compiled binary: without a service and beside one, killed at any moment, and after a restored backup.
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startBerth } from "./support/berth.ts";
import { placeMigratedDatabase } from "./support/migrated.ts";
import { launch, run, temporaryDir } from "./support/process.ts";

/** `kill -9` this often during each of prune and erasure; by hand with 100. */
const KILLS = Number(process.env.BERTH_KILLS ?? 3);
const DAY = 86_400_000;
const MARK = "zqxmarkerzqx";
const SENDER = "8812345671";
const binary = join(import.meta.dir, "../dist/berth");
const AGENT = "01900000-0000-7000-8000-000000000001";

let dir: ReturnType<typeof temporaryDir>;
const dataDir = () => join(dir.path, "data");
const file = () => join(dataDir(), "berth.db");
const env = () => ({ PATH: process.env.PATH ?? "", DATA_DIR: dataDir() });
const berth = (...args: string[]) => run([binary, ...args], env(), dir.path);

function withDatabase<Result>(work: (database: Database) => Result): Result {
  const database = new Database(file());
  try {
    return work(database);
  } finally {
    database.close();
  }
}
const rows = (sql: string) => withDatabase((database) => database.query(sql).all() as Record<string, unknown>[]);
const count = (table: string) => Number(rows(`SELECT count(*) AS n FROM ${table}`)[0]?.n);
/** No message without its conversation, and each conversation counts its own. */
const expectWhole = () => {
  expect(rows("PRAGMA integrity_check")).toEqual([{ integrity_check: "ok" }]);
  expect(rows("PRAGMA foreign_key_check")).toEqual([]);
  const wrong = `SELECT id FROM sessions WHERE message_count <> (SELECT count(*) FROM messages WHERE session_id = sessions.id)`;
  expect(rows(wrong)).toEqual([]);
};

/** Conversations of a sender, so many days old. */
function plant(sender: string, text: string, messages: number, days: number): void {
  withDatabase((database) => {
    const at = Date.now() - days * DAY;
    const session = `${sender}-${days}`;
    database.exec("PRAGMA foreign_keys = ON");
    database.transaction(() => {
      database.run(
        "INSERT OR IGNORE INTO users (id, email, name, referral_code, created_at, updated_at) VALUES ('u', 'u@example.com', 'U', 'u', 0, 0)",
      );
      database.run(
        `INSERT OR IGNORE INTO agents (id, user_id, name, model, status, wanted, subdomain, runtime_version, created_at, updated_at)
          VALUES (?, 'u', 'Bot', 'model_a', 'stopped', 'down', 'bot', '1', 0, 0)`,
        [AGENT],
      );
      database.run(
        `INSERT INTO sessions (id, agent_id, platform, peer, status, message_count, summary, created_at, last_activity_at)
          VALUES (?, ?, 'channel_a', ?, 'completed', ?, ?, ?, ?)`,
        [session, AGENT, sender, messages, text, at, at],
      );
      for (let n = 0; n < messages; n++) {
        const hex = (at + n).toString(16).padStart(12, "0");
        const turn = `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-${sender.padStart(12, "0")}`;
        database.run(
          `INSERT INTO inbox (id, agent_id, session_id, platform, peer, sender_id, sender_name, by_owner, content, status, received_at, settled_at)
            VALUES (?, ?, ?, 'channel_a', ?, ?, ?, 0, ?, 'done', ?, ?)`,
          [turn, AGENT, session, sender, sender, `${text} Name`, `${text} ${n}`, at, at],
        );
        database.run(
          "INSERT INTO messages (id, session_id, agent_id, inbox_id, platform, role, content, created_at) VALUES (?, ?, ?, ?, 'channel_a', 'user', ?, ?)",
          [turn, session, AGENT, turn, `${text} ${n}`, at],
        );
      }
    })();
  });
}

/** Runs a command and ends it with `kill -9` at moments that are spread over its usual time. */
async function killed(args: string[], afterwards: () => void): Promise<void> {
  for (let kill = 0; kill < KILLS; kill++) {
    const child = launch({ command: [binary, ...args], env: env(), dir: dir.path });
    const timer = setTimeout(() => child.signal("SIGKILL"), 150 + (1_200 * kill) / KILLS);
    await child.exited.catch(() => undefined);
    clearTimeout(timer);
    afterwards();
  }
}

beforeAll(async () => {
  dir = temporaryDir();
  mkdirSync(dataDir(), { recursive: true });
  await placeMigratedDatabase(dataDir());
  plant("1111111111", "old", 4_000, 200);
  plant("2222222222", "young", 50, 10);
});
afterAll(() => dir.remove());

test("a dry run shows what is old, and deletes nothing", async () => {
  const { stdout, exitCode } = await berth("prune", "--dry-run", "--older-than", "90d", "--json");
  expect(exitCode).toBe(0);
  const { kinds } = JSON.parse(stdout) as { kinds: { kind: string; rows: number; setting: string | null }[] };
  expect(kinds.find(({ kind }) => kind === "messages")).toMatchObject({ rows: 4_000, setting: "KEEP_MESSAGES" });
  expect(kinds.map(({ kind }) => kind)).toEqual(expect.arrayContaining(["logs", "turns", "events", "usage", "audit"]));
  expect(count("messages")).toBe(4_050);
  expect((await berth("prune", "dance")).stderr).toContain("Give one of events");
});

test("a prune that is killed at any moment leaves nothing half, and the next one ends it", async () => {
  await killed(["prune", "messages", "--older-than", "90d"], expectWhole);
  const { stdout, exitCode } = await berth("prune", "messages", "--older-than", "90d");
  expect({ exitCode, stdout }).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("messages") });
  expect([count("messages"), count("inbox")]).toEqual([50, 50]);
  expectWhole();
});

test("an erasure that is killed at any moment says that it is under way, and goes on", async () => {
  plant(SENDER, MARK, 600, 5);
  const erase = ["person", "erase", "--channel", "telegram", "--id", SENDER, "--yes"];
  await killed(erase, () => {
    expectWhole();
    const left = count(`inbox WHERE sender_id = '${SENDER}'`);
    const open = count("erasures WHERE ended_at IS NULL");
    expect(left < 600 && left > 0 ? open : 1).toBe(1);
  });
  const receipt = join(dir.path, "receipt.json");
  const done = await berth(...erase, "--out", receipt);
  expect(done).toMatchObject({ exitCode: 0 });
  expect(readFileSync(file()).includes(MARK)).toBe(false);
  expect(count("messages")).toBe(50);
  expect(await berth("person", "verify", receipt)).toMatchObject({ exitCode: 0 });
  writeFileSync(receipt, readFileSync(receipt, "utf8").replace('"startedAt": "2', '"startedAt": "1'));
  expect(await berth("person", "verify", receipt)).toMatchObject({ exitCode: 1 });
});

test("a restored backup does not bring the person back", async () => {
  plant(SENDER, MARK, 20, 3);
  const backup = join(dir.path, "backup.db");
  expect(await berth("backup", backup)).toMatchObject({ exitCode: 0 });
  await berth("person", "erase", "--channel", "telegram", "--id", SENDER, "--yes");
  const restored = await berth("restore", backup);
  expect(restored.stdout).toContain("1 person who had been erased was in it, and was erased again.");
  expect(count(`inbox WHERE sender_id = '${SENDER}'`)).toBe(0);
});

test("beside the service both go through it", async () => {
  plant(SENDER, MARK, 20, 2);
  await using service = await startBerth({ dir: dir.path });
  const pruned = await service.command("prune", "--older-than", "5d", "--json");
  expect(JSON.parse(pruned.stdout).kinds.find(({ kind }: { kind: string }) => kind === "messages")).toMatchObject({
    deleted: expect.any(Number),
  });
  const { stdout } = await service.command("person", "erase", "--channel", "telegram", "--id", SENDER, "--yes");
  expect(JSON.parse(stdout)).toMatchObject({ deleted: { received: 20 } });
  const metrics = await (await fetch(`${service.backend}/metrics`)).text();
  expect(metrics).toMatch(/berth_retention_deleted_total\{kind="messages"\} \d+/);
});
