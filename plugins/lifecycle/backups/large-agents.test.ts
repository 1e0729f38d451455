// Tests that backups, resets and restores of a long history run in steps that don't block the event loop.
import { expect, test } from "bun:test";
import { openHarness } from "./support.test.ts";

/** Messages of about 1 KB each. */
const MESSAGES = 20_000;
/** Milliseconds that the event loop may be blocked. */
const STALL = 150;

test("20,000 messages: no step blocks the event loop, and no message is lost", async () => {
  await using harness = await openHarness();
  const agent = await harness.agent();
  await harness.run(
    `WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 49)
      INSERT INTO sessions (id, agent_id, platform, peer, created_at, last_activity_at)
      SELECT 'sess_' || i, ?, 'channel_a', 'chat-' || i, 1, 1 FROM n`,
    agent.id,
  );
  await harness.run(
    `WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${MESSAGES - 1})
      INSERT INTO messages (id, session_id, agent_id, inbox_id, platform, role, content, created_at)
      SELECT 'm' || i, 'sess_' || (i % 50), ?, 'i' || (i / 2), 'channel_a', iif(i % 2, 'assistant', 'user'),
        hex(randomblob(500)), i FROM n`,
    agent.id,
  );
  await harness.run("UPDATE sessions SET message_count = 400");
  const before = await harness.dumpBackup(agent);

  const { backups } = harness;
  let path = "";
  const works: Record<string, () => Promise<unknown>> = {
    write: async () => ({ path } = await backups.write(agent.id)),
    "restore where nothing changed": () => backups.restore(agent.id, path),
    repair: () => backups.repair(agent.id),
    reset: () => backups.eraseMemory(agent.id),
    restore: () => backups.restore(agent.id, path),
  };
  const stalls: Record<string, number> = {};
  for (const [name, work] of Object.entries(works)) stalls[name] = await longestStall(work);
  expect(await harness.dumpBackup(agent)).toEqual(before);
  for (const [name, stall] of Object.entries(stalls))
    expect([name, stall < STALL ? "short" : stall]).toEqual([name, "short"]);
});

/** The longest stall in ms, by this process's CPU time: time in which other processes ran doesn't count. */
async function longestStall(work: () => Promise<unknown>): Promise<number> {
  const used = () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1_000;
  };
  let longest = 0;
  let last = { at: performance.now(), used: used() };
  const look = () => {
    const now = { at: performance.now(), used: used() };
    longest = Math.max(longest, Math.min(now.at - last.at, now.used - last.used));
    last = now;
  };
  const timer = setInterval(look, 5);
  try {
    await work();
  } finally {
    clearInterval(timer);
  }
  look();
  return longest;
}
