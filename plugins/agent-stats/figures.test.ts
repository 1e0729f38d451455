// Tests the figures of an agent: what turns add to the sums of their hour, and the points of each range.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { DAY, HOUR } from "../../src/kernel/util/time.ts";
import { openRuntimeFixture, type RuntimeFixture } from "../runtime/support.test.ts";
import { createFigureReader } from "./figures.ts";
import { agentStats } from "./index.ts";

let fixture: RuntimeFixture;
beforeAll(async () => {
  fixture = await openRuntimeFixture();
});
afterAll(() => fixture[Symbol.asyncDispose]());

describe("figures", () => {
  test("count messages, turns, tokens and cost when a turn ends", async () => {
    const agent = await fixture.agent();
    const figures = createFigureReader({ ...fixture.kernel, prepare: fixture.host.use(agentStats).prepareFigures });
    await fixture.hear(agent, "Ahoy");
    await fixture.hear(agent, "/status");
    await fixture.idle();
    const { points, total } = await figures.read(agent.id, "day", "UTC");
    expect(points).toHaveLength(24);
    expect(total).toMatchObject({ received: 2, sent: 2, turnsOk: 1, turnsFailed: 0 });
    expect(total.inputTokens).toBeGreaterThan(0);
    expect(total.costUsd).toBeGreaterThan(0);
    expect(total.averageAnswerMs).toBeNumber();
    expect(total.p95AnswerMs).toBeWithin(1, 1_001);
    expect(points.at(-1)).toMatchObject(total);
    expect((await figures.read((await fixture.agent()).id, "week", "UTC")).total).toEqual({
      received: 0,
      sent: 0,
      turnsOk: 0,
      turnsFailed: 0,
      inputTokens: 0,
      outputTokens: 0,
      costUsd: 0,
      averageAnswerMs: null,
      p95AnswerMs: null,
    });
  });

  test("begin days in the viewer's time zone, and interpolate the slowest answers", async () => {
    const agent = await fixture.agent();
    const figures = createFigureReader({ ...fixture.kernel, prepare: fixture.host.use(agentStats).prepareFigures });
    // 23:00 on 9 March in Berlin, and 00:00 on the 10th.
    const midnight = Date.UTC(2026, 2, 9, 23);
    const sql = "INSERT INTO agent_hours (agent_id, hour, turns_ok, answer_ms, s1, s5) VALUES (?, ?, 20, 40000, 18, 2)";
    await fixture.kernel.database.write(
      [midnight - HOUR, midnight, midnight - 40 * DAY].map((at) => ({ sql, args: [agent.id, at / HOUR] })),
    );
    const { points } = await figures.read(agent.id, "week", "Europe/Berlin", midnight + 5 * HOUR);
    expect(points).toHaveLength(7);
    expect(points.slice(-2)).toMatchObject([
      { at: midnight - DAY, turnsOk: 20, averageAnswerMs: 2_000, p95AnswerMs: 4_000 },
      { at: midnight, turnsOk: 20 },
    ]);
    const month = await figures.read(agent.id, "month", "America/Los_Angeles", midnight);
    expect([month.points.length, month.total.turnsOk]).toEqual([30, 40]);
    await figures.deleteOld(midnight);
    expect(await fixture.rows("SELECT count(*) AS left FROM agent_hours WHERE agent_id = ?", agent.id)).toEqual([
      { left: 2 },
    ]);
    // Their turns stay counted.
    expect(await fixture.rows("SELECT turns FROM turn_counts WHERE agent_id = ?", agent.id)).toEqual([{ turns: 20 }]);
  });
});
