// Tests the metrics of messages: outcomes and times of turns, and what waits for its reply or its delivery.
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { MINUTE } from "../../src/kernel/util/time.ts";
import type { Agent } from "../agents/index.ts";
import { openRuntimeFixture, type RuntimeFixture } from "./support.test.ts";

let fixture: RuntimeFixture;
let agent: Agent;
beforeAll(async () => {
  fixture = await openRuntimeFixture();
});
afterAll(() => fixture[Symbol.asyncDispose]());
beforeEach(async () => {
  agent = await fixture.agent();
});

const sampleOf = (text: string, series: string) =>
  Number(
    text
      .split("\n")
      .find((line) => line.startsWith(`${series} `))
      ?.slice(series.length + 1),
  );

test("a turn counts with its outcome and time, and its first text where the reply is streamed", async () => {
  await fixture.chat(agent, "Hello");
  await fixture.chat(agent, "Hello", { observer: { delta: () => undefined, tool: () => undefined } });
  const text = await fixture.kernel.metrics.scrape();
  expect(sampleOf(text, 'berth_turns_total{outcome="done"}')).toBe(2);
  expect(sampleOf(text, 'berth_turn_seconds_count{outcome="done"}')).toBe(2);
  expect(sampleOf(text, 'berth_turns_total{outcome="cancelled"}')).toBe(0);
  expect(sampleOf(text, "berth_turn_first_token_seconds_count")).toBe(1);
  expect(sampleOf(text, "berth_turn_first_token_seconds_sum")).toBeLessThanOrEqual(
    sampleOf(text, 'berth_turn_seconds_sum{outcome="done"}'),
  );
});

test("messages and replies that wait are counted by age; those of a stopped agent wait for its owner", async () => {
  const stopped = await fixture.agent();
  const insert = (agentId: string, at: number) => [
    {
      sql: `INSERT INTO inbox (id, agent_id, session_id, platform, sender_id, sender_name, by_owner, content, received_at)
        VALUES (?, ?, 's', 'channel_a', '1', 'Ada', 0, 'x', ?)`,
      args: [Bun.randomUUIDv7(), agentId, at],
    },
    {
      sql: `INSERT INTO outbox (id, inbox_id, agent_id, platform, peer, body, created_at)
        VALUES (?, 'i', ?, 'channel_a', '1', 'x', ?)`,
      args: [Bun.randomUUIDv7(), agentId, at],
    },
  ];
  const at = Date.now();
  await fixture.kernel.database.write([
    { sql: "UPDATE agents SET status = 'stopped' WHERE id = ?", args: [stopped.id] },
    ...[at, at - 2 * MINUTE, at - 30 * MINUTE].flatMap((time) => insert(agent.id, time)),
    ...insert(stopped.id, at - 90 * MINUTE),
  ]);
  const text = await fixture.kernel.metrics.scrape();
  expect(sampleOf(text, "berth_inbox_waiting")).toBe(3);
  const oldest = sampleOf(text, "berth_inbox_oldest_seconds");
  expect([oldest >= 1_800, oldest < 1_860]).toEqual([true, true]);
  for (const age of ["under_1m", "under_10m", "over_10m"]) {
    expect(sampleOf(text, `berth_outbox_waiting{channel="channel_a",age="${age}"}`)).toBe(1);
    expect(sampleOf(text, `berth_outbox_waiting{channel="channel_b",age="${age}"}`)).toBe(0);
  }
  expect(sampleOf(text, 'berth_outbox_oldest_seconds{channel="channel_a"}')).toBeGreaterThanOrEqual(1_800);
  expect(sampleOf(text, 'berth_outbox_oldest_seconds{channel="channel_b"}')).toBe(0);
});
