// Tests the count of past turns: which entries count, and that none is missed or counted twice while turns end.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { firstIdAt, HOUR } from "../../../src/kernel/util/time.ts";
import { agentStats, type TurnHistory } from "../../agent-stats/index.ts";
import type { Agent } from "../../agents/index.ts";
import { openRuntimeFixture, type RuntimeFixture } from "../support.test.ts";
import { createTurnCounter } from "./turn-counter.ts";

let fixture: RuntimeFixture;
beforeAll(async () => {
  fixture = await openRuntimeFixture();
});
afterAll(() => fixture[Symbol.asyncDispose]());

async function countTurns({ id }: Agent): Promise<TurnHistory> {
  const { promise, resolve } = Promise.withResolvers<TurnHistory>();
  await createTurnCounter(fixture.kernel)(id, resolve);
  return promise;
}

test("answered and failed turns count; commands and cancelled, rejected or pending messages do not", async () => {
  const agent = await fixture.agent();
  await fixture.chat(agent, "One");
  await fixture.hear(agent, "Two");
  await fixture.hear(agent, "Tea", { kind: "reminder" });
  await fixture.hear(agent, "/help");
  await fixture.idle();
  fixture.upstream.script({ status: 401, message: "no" });
  await fixture.chat(agent, "Refused").catch(() => undefined);
  fixture.upstream.script({ hang: true });
  const leaves = new AbortController();
  const cancelled = fixture.chat(agent, "Cancelled", { signal: leaves.signal }).catch(() => undefined);
  await fixture.upstream.waitFor(({ open }) => open === 1);
  leaves.abort();
  await cancelled;
  fixture.upstream.script(undefined);
  await fixture.agents.setStatus(agent.id, "stopped");
  await fixture.hear(agent, "Waits");
  await fixture.idle();
  const { total, minutes, recent } = await countTurns(agent);
  expect(total).toBe(4);
  expect(minutes.reduce((sum, [, turns]) => sum + turns, 0)).toBe(4);
  expect(recent.map(({ ok }) => ok)).toEqual([true, true, true, false]);
  const rows = await fixture.rows(
    "SELECT settled_at - received_at AS ms FROM inbox WHERE agent_id = ? AND status IN ('done', 'failed') AND kind <> 'command' ORDER BY id",
    agent.id,
  );
  expect(recent.map(({ ms }) => ms)).toEqual(rows.map(({ ms }) => Number(ms)));
});

test("a count that is loaded while turns end agrees with the database", async () => {
  const agent = await fixture.agent();
  const statsService = fixture.host.use(agentStats);
  let highestCount = 0;
  const talking = Promise.all(
    Array.from({ length: 4 }, async (_, topic) => {
      for (let n = 0; n < 60; n++) {
        await fixture.chat(agent, `${n}`, { platform: "api", topic: `${topic}` });
        // The count is dropped and loaded again several times while turns run.
        if (n % 7 === topic) statsService.forgetAgent(agent.id);
        if (n % 3 === 0) highestCount = Math.max(highestCount, (await statsService.statsOf(agent.id)).turns.processed);
      }
    }),
  );
  await talking;
  expect(highestCount).toBeGreaterThan(100);
  expect((await statsService.statsOf(agent.id)).turns).toMatchObject({ processed: 240, lastHour: 240, successRate: 1 });
});

test("turns are counted from sums of hours, also of those that are deleted, and erased messages stay counted", async () => {
  const agent = await fixture.agent();
  await fixture.chat(agent, "The last");
  const settled = Date.now() - 2 * HOUR;
  await fixture.kernel.database.write([
    {
      sql: `WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < 100000)
        INSERT INTO inbox (id, agent_id, session_id, platform, sender_id, sender_name, by_owner, content, status, received_at, settled_at)
        SELECT printf('%s-%08x', ?3, value), ?1, '', 'web', '', '', 1, '', iif(value % 10, 'done', 'failed'), ?2 - value, ?2 FROM n`,
      args: [agent.id, settled, firstIdAt(settled).slice(0, 13)],
    },
    {
      sql: "INSERT INTO agent_hours (agent_id, hour, turns_ok, turns_failed) VALUES (?, ?, 90000, 10000)",
      args: [agent.id, Math.floor(settled / HOUR)],
    },
    { sql: "INSERT INTO turn_counts VALUES (?, 400000)", args: [agent.id] },
  ]);
  let turns = 0;
  let over = false;
  const turning = (async () => {
    for (; !over; turns++) await new Promise((resolve) => void setImmediate(resolve));
  })();
  const { total, minutes, recent } = await countTurns(agent);
  over = true;
  await turning;
  expect(total).toBe(500_001);
  expect(minutes.reduce((sum, [, count]) => sum + count, 0)).toBe(1);
  expect(recent).toHaveLength(1_000);
  expect(recent.filter(({ ok }) => !ok)).toHaveLength(100);
  expect(turns).toBeGreaterThan(40);
  const { statements, cleanUp } = fixture.runtime.service.backupRows.erase(agent.id);
  await fixture.kernel.database.write(statements);
  await cleanUp();
  expect((await countTurns(agent)).total).toBe(500_001);
});
