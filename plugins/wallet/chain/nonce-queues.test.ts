// How often a lane that comes to no end is looked at: at once when somebody asks, and the less, the longer nobody does.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { createJobs } from "../../../src/kernel/jobs/jobs.ts";
import { fileDatabase, silent as log, type TestDatabase } from "../../../tests/support/database.ts";
import { eventually } from "../../../tests/support/eventually.ts";
import { createLedger, type NonceQueue } from "../spending/ledger.ts";
import { createNonceQueues } from "./nonce-queues.ts";

const MINUTE = 60_000;
const queue: NonceQueue = { network: "testnet_chain", address: "0x1" };
let storage: TestDatabase;
beforeAll(async () => {
  storage = await fileDatabase();
});
afterAll(() => storage?.remove());

test("a lane that nobody has asked anything of for long rests, until somebody does", async () => {
  const { database } = storage;
  let lastActivityAt = Date.now() - MINUTE;
  let looks = 0;
  let left = true;
  const jobs = createJobs({ database, log });
  const ledger = { ...createLedger(storage), lastActivityAt: async () => lastActivityAt };
  const work = async () => {
    looks++;
    return left;
  };
  const nonceQueues = createNonceQueues({ jobs, database, log, ledger, work });
  await jobs.start();
  try {
    const restMs = async () => {
      const { rows } = await database.read("SELECT run_at FROM jobs WHERE kind = 'wallet.lane' AND state = 'queued'");
      return rows[0] && Number(rows[0].run_at) - Date.now();
    };
    await database.write([nonceQueues.wakeStatement(queue)]);
    const rest = await eventually(async () => ((await restMs()) ?? 0) > 1_000 && restMs(), { what: "it rests" });
    expect(looks).toBe(1);
    expect(rest).toBeGreaterThan(10_000);
    expect(rest).toBeLessThanOrEqual(MINUTE / 4 + 1_000);

    lastActivityAt = Date.now();
    await database.write([nonceQueues.wakeStatement(queue)]);
    await eventually(() => looks > 3, { what: "it is looked at again and again" });
    left = false;
    await eventually(async () => (await restMs()) === undefined && looks > 4, { what: "it is over" });
  } finally {
    nonceQueues.stop();
    await jobs.stop();
  }
});
