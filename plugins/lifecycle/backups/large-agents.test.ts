// A long history is written, forgotten and brought back in steps: nobody else waits for it.
import { expect, test } from "bun:test";
import { openHarness } from "./support.test.ts";

/** Of about 1 KB. A hundred thousand take the same steps, only more of them. */
const MESSAGES = 20_000;
/** Milliseconds that the loop may be held up. */
const STALL = 150;

test("20,000 messages: the loop goes on, and not one of them is lost", async () => {
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
    mend: () => backups.repair(agent.id),
    forget: () => backups.eraseMemory(agent.id),
    restore: () => backups.restore(agent.id, path),
  };
  const stalls: Record<string, number> = {};
  for (const [name, work] of Object.entries(works)) stalls[name] = await longestStall(work);
  expect(await harness.dumpBackup(agent)).toEqual(before);
  for (const [name, stall] of Object.entries(stalls))
    expect([name, stall < STALL ? "short" : stall]).toEqual([name, "short"]);
}, 60_000);

/** By what we did in it: a moment in which others had the processor is no stall of ours. */
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
