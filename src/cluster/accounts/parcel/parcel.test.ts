import { expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Database, openDatabase } from "../../../kernel/database/database.ts";
import { createLog } from "../../../kernel/telemetry/log.ts";
import { chooseShifts } from "./number-shifts.ts";
import { unpack } from "./parcel-reader.ts";
import { writeParcel } from "./parcel-writer.ts";

const log = createLog({ level: "error", format: "json" });

/** Two migrated databases in folders of their own. */
async function twoCells() {
  const root = mkdtempSync(join(tmpdir(), "berth-parcel-"));
  const cells = await Promise.all(
    ["old", "new"].map(async (name) => {
      const dataDir = join(root, name);
      mkdirSync(dataDir);
      const file = join(dataDir, "berth.db");
      return { dataDir, file, database: await openDatabase({ url: `file:${file}`, dataDir, log }) };
    }),
  );
  const [from, to] = cells;
  if (!from || !to) throw new Error("There are two.");
  return {
    from,
    to,
    root,
    async [Symbol.asyncDispose]() {
      for (const { database } of cells) await database.close();
      rmSync(root, { recursive: true });
    },
  };
}

const ANN = "01890000-0000-7000-8000-000000000001";
const EVE = "01890000-0000-7000-8000-000000000002";
const AGENT = "01890000-0000-7000-8000-00000000000a";
const JOB = "01890000-0000-7000-8000-0000000000f1";

async function fill({ database }: { database: Database }, user: string, agent: string, credits: number) {
  const add = (table: string, row: Record<string, string | number | Uint8Array>) => ({
    sql: `INSERT INTO ${table} (${Object.keys(row).join(", ")}) VALUES (${Object.keys(row).map(() => "?")})`,
    args: Object.values(row),
  });
  const times = { created_at: 1, updated_at: 1 };
  await database.write([
    add("users", { id: user, email: `${user}@example.com`, name: "n", referral_code: user, credits, ...times }),
    add("agents", {
      ...{ id: agent, user_id: user, name: "a", model: "model_a", subdomain: agent, ...times },
      ...{ status: "running", wanted: "up", runtime_version: "1" },
    }),
    add("memories", {
      ...{ id: `m-${agent}`, agent_id: agent, circle: "c", content: "likes herring", digest: "d", ...times },
      source: "owner",
    }),
    {
      sql: `INSERT INTO memory_vectors (seq, agent_id, model, dimensions, embedding)
        SELECT seq, agent_id, 'm', 1, x'0102' FROM memories WHERE agent_id = ?`,
      args: [agent],
    },
    add("events", { id: `e-${user}`, type: "a.b", user_id: user, data: "null", created_at: 1 }),
    add("usage", {
      ...{ id: `u-${user}`, at: 1, kind: "api", user_id: user, agent_id: agent, provider: "p", model: "m" },
      ...{ input_tokens: 1, output_tokens: 1, cost_micro_usd: 20000, latency_ms: 1, estimated: 0 },
      credit_micro_usd: 20000,
    }),
  ]);
}

test("an account arrives with its rows, numbers, credits, jobs and files, and nothing of anybody else's", async () => {
  await using cells = await twoCells();
  const { from, to, root } = cells;
  await fill(from, ANN, AGENT, 100);
  await fill(from, EVE, EVE.replace("2", "b"), 50);
  await fill(to, EVE.replace("02", "03"), EVE.replace("02", "0c"), 7);
  await from.database.write([
    {
      sql: "INSERT INTO jobs (id, kind, payload, run_at, max_attempts, created_at) VALUES (?, 'k', ?, 5, 8, 1)",
      args: [JOB, JSON.stringify({ agentId: AGENT })],
    },
  ]);
  const upload = join("uploads", AGENT, "file");
  mkdirSync(join(from.dataDir, "uploads", AGENT), { recursive: true });
  writeFileSync(join(from.dataDir, upload), "x".repeat(400_000));
  const path = join(root, "parcel");
  const packed = writeParcel({ file: from.file, dataDir: from.dataDir, account: ANN }, path);
  expect(packed).toMatchObject({ jobs: [JOB], running: 0 });
  expect(writeParcel({ file: from.file, dataDir: from.dataDir, account: ANN }, path).digest).toBe(packed.digest);

  const shifts = await chooseShifts(path, to.database);
  const noted: number[] = [];
  const progress = (done: number) => {
    noted.push(done);
    return { sql: "SELECT 1", args: [] };
  };
  const unpacking = { database: to.database, dataDir: to.dataDir, path, shifts, progress };
  const { jobs, files } = await unpack({ ...unpacking, done: 0 });
  expect({ jobs: jobs.map(({ id }) => id), files }).toEqual({ jobs: [JOB], files: [upload] });
  expect(readFileSync(join(to.dataDir, upload), "utf8")).toBe("x".repeat(400_000));
  // Once more from where it ended: nothing is inserted twice.
  await unpack({ ...unpacking, done: noted.at(-1) ?? 0 });

  const read = async ({ database }: { database: Database }, sql: string, ...args: string[]) =>
    (await database.read(sql, args)).rows.map((row) => ({ ...row }));
  const user = "SELECT * FROM users WHERE id = ?";
  expect(await read(to, user, ANN)).toEqual(await read(from, user, ANN));
  const credits = "SELECT count(*) AS n, sum(credits) AS sum FROM credit_entries WHERE user_id = ?";
  expect(await read(to, credits, ANN)).toMatchObject([{ n: 2, sum: 98 }]);
  const known = "SELECT m.content FROM memories m JOIN memory_vectors v USING (seq) WHERE m.agent_id = ?";
  expect(await read(to, known, AGENT)).toMatchObject([{ content: "likes herring" }]);
  const found = "SELECT count(*) AS n FROM memories_search WHERE memories_search MATCH 'herring'";
  expect(await read(to, found)).toMatchObject([{ n: 2 }]);
  // Below those of the cell: neither dispatched nor added up again.
  expect(await read(to, "SELECT seq < 1 AS below FROM events WHERE user_id = ?", ANN)).toMatchObject([{ below: 1 }]);
  expect(await read(to, "SELECT rowid < 1 AS below FROM usage WHERE user_id = ?", ANN)).toMatchObject([{ below: 1 }]);
  expect(await read(to, "SELECT count(*) AS n FROM users")).toMatchObject([{ n: 2 }]);
});
