// Tests how often a nonce queue with open spends is checked: at once after activity, and ever more rarely without.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { createJobs } from "../../../src/kernel/jobs/jobs.ts";
import { MINUTE } from "../../../src/kernel/util/time.ts";
import { fileDatabase, silent as log, type TestDatabase } from "../../../tests/support/database.ts";
import { eventually } from "../../../tests/support/eventually.ts";
import { createLedger, type NonceQueue } from "../spending/ledger.ts";
import { createNonceQueues } from "./nonce-queues.ts";

const queue: NonceQueue = { network: "testnet_chain", address: "0x1" };
let storage: TestDatabase;
beforeAll(async () => {
  storage = await fileDatabase();
});
afterAll(() => storage?.remove());

test("a queue rests after a long time without activity, until it is woken", async () => {
  const { database } = storage;
  let lastActivityAt = Date.now() - MINUTE;
  let checks = 0;
  let hasOpenSpends = true;
  const jobs = createJobs({ database, log });
  const ledger = { ...createLedger(storage), lastActivityAt: async () => lastActivityAt };
  const work = async () => {
    checks++;
    return hasOpenSpends;
  };
  const nonceQueues = createNonceQueues({ jobs, database, log, ledger, work });
  await jobs.start();
  try {
    const restMs = async () => {
      const { rows } = await database.read("SELECT run_at FROM jobs WHERE kind = 'wallet.lane' AND state = 'queued'");
      return rows[0] && Number(rows[0].run_at) - Date.now();
    };
    await database.write([nonceQueues.wakeStatement(queue)]);
    const rest = await eventually(async () => ((await restMs()) ?? 0) > 1_000 && restMs(), { what: "the queue rests" });
    expect(checks).toBe(1);
    expect(rest).toBeGreaterThan(10_000);
    expect(rest).toBeLessThanOrEqual(MINUTE / 4 + 1_000);

    lastActivityAt = Date.now();
    await database.write([nonceQueues.wakeStatement(queue)]);
    await eventually(() => checks > 3, { what: "the queue is checked repeatedly" });
    hasOpenSpends = false;
    await eventually(async () => (await restMs()) === undefined && checks > 4, { what: "the job ends" });
  } finally {
    nonceQueues.stop();
    await jobs.stop();
  }
});
