// Tests what `berth top` draws: rates between two looks, what needs attention, and terminals of any width.
import { describe, expect, test } from "bun:test";
import type { LiveSnapshot } from "../../../../plugins/fleet/index.ts";
import { joinSnapshots } from "../../cells/live-cells.ts";
import { drawScreen, ratesBetween } from "./top-screen.ts";

const AT = Date.parse("2026-07-01T12:00:00Z");

const snapshot = (sums: Partial<LiveSnapshot["sums"]> = {}, more: Partial<LiveSnapshot> = {}): LiveSnapshot => ({
  at: AT,
  version: "1.2.3",
  startedAt: new Date(AT - 90_000_000).toISOString(),
  problems: [],
  users: { total: 3, disabled: 0, newToday: 1 },
  agents: { total: 12, up: 10, stopped: 1, error: 1 },
  channels: { connected: 5, connecting: 1, backing_off: 2, failed: 0, stopped: 1 },
  today: { calls: 9, agentCalls: 8, costUsd: 1.5, ownKeyUsd: 0, errors: 4 },
  inbox: { waiting: 7, oldestAt: new Date(AT - 150_000).toISOString() },
  outbox: { waiting: 0, oldestAt: null },
  webhooks: { waiting: 0, oldestAt: null, disabledEndpoints: 0 },
  jobs: { waiting: 3, late: 0, running: 0, failed: 2 },
  turns: { ended: 30, failed: 1 },
  schedules: { late: 3 },
  approvals: { waiting: 2 },
  streams: { live: 1 },
  memoryBytes: 187_000_000,
  lagMs: 400,
  disk: { totalBytes: 100e9, freeBytes: 40e9 },
  providers: [
    {
      id: "provider_1",
      label: "OpenRouter",
      configured: true,
      demo: false,
      reachable: true,
      breaker: "closed",
      recent: { calls: 100, failed: 30, medianMs: 812, p95Ms: 2_000, lastAt: null },
    },
  ],
  ...more,
  sums: {
    turns: 0,
    failedTurns: 0,
    requests: 0,
    serverErrors: 0,
    modelCalls: 0,
    tokens: 0,
    costUsd: 0,
    cpuSeconds: 0,
    ...sums,
  },
});

const wide = { columns: 110, rows: 100, isColoured: false };
const idle = ratesBetween(snapshot(), snapshot({}, { at: AT + 1_000 }));

test("cells are added up, and each has a line", () => {
  const joined = joinSnapshots([
    snapshot({ turns: 5 }),
    undefined,
    snapshot(
      { turns: 2 },
      {
        inbox: { waiting: 1, oldestAt: new Date(AT - 300_000).toISOString() },
        outbox: { waiting: 4, oldestAt: new Date(AT - 10_000).toISOString() },
        lagMs: 20,
        problems: [{ code: "X", severity: "warning", message: "One.", action: "Look.", link: "/admin", values: {} }],
      },
    ),
  ]);
  if (!joined) throw new Error("Two cells have answered.");
  expect(joined).toMatchObject({
    at: AT,
    sums: { turns: 7 },
    agents: { total: 24, up: 20 },
    inbox: { waiting: 8, oldestAt: new Date(AT - 300_000).toISOString() },
    outbox: { waiting: 4, oldestAt: new Date(AT - 10_000).toISOString() },
    memoryBytes: 374_000_000,
    lagMs: 400,
    disk: { freeBytes: 40e9 },
    problems: [{ message: "One." }],
  });
  expect(joined.providers).toHaveLength(1);
  const screen = drawScreen(joined, idle, wide).join("\n");
  expect(screen).toContain("  0  agents up 10 of 12 · turns 30 · waiting 7 (2 min) · memory 187 MB · loop lag 400 ms");
  expect(screen).toContain("  1  starting");
  expect(screen).toContain("  2  agents up 10 of 12");
  expect(joinSnapshots([undefined])).toBeUndefined();
});

test("rates are what happened by second, and not negative after a restart", () => {
  const before = snapshot({ turns: 10, costUsd: 1 });
  const rates = ratesBetween(before, snapshot({ turns: 30, costUsd: 1.5, cpuSeconds: 1 }, { at: AT + 2_000 }));
  expect(rates).toMatchObject({ turns: 10, costUsd: 0.25, cpu: 0.5, requests: 0 });
  expect(ratesBetween(before, snapshot({ turns: 1 }, { at: AT + 2_000 })).turns).toBe(0);
});

describe("the screen", () => {
  test("shows messages, models, channels, fleet and service", () => {
    const text = drawScreen(snapshot(), { ...idle, turns: 3.456, tokens: 1234 }, wide).join("\n");
    for (const part of [
      "Berth 1.2.3 · up 1 d 1 h · 12:00:00 UTC",
      "turns/s 3.46",
      "waiting 7 (2 min)",
      "tokens/s 1234",
      "OpenRouter 812 ms, 30 % fail",
      "connected 5",
      "backing off 2",
      "agents up 10 of 12",
      "jobs failed 2",
      "schedules late 3",
      "memory 187 MB",
      "loop lag 400 ms",
    ]) {
      expect(text).toContain(part);
    }
    expect(text).not.toContain("\x1b");
    expect(text).not.toContain("Problems");
  });

  test("says what is wrong and what to do", () => {
    const problem = {
      code: "X",
      severity: "error" as const,
      message: "It burns.",
      action: "Call.",
      link: "",
      values: {},
    };
    const lines = drawScreen(snapshot({}, { problems: [problem] }), idle, wide);
    expect(lines.slice(-3)).toEqual(["Problems", "✗ It burns.", "  Call."]);
  });

  test.each([20, 33, 60, 80, 200])("fits into %d columns", (columns) => {
    const problem = {
      code: "X",
      severity: "warning" as const,
      message: "m".repeat(300),
      action: "a",
      link: "",
      values: {},
    };
    const lines = drawScreen(snapshot({}, { problems: [problem] }), idle, { columns, rows: 100, isColoured: false });
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(columns);
  });

  test("fits into the rows, and says that there is more", () => {
    const lines = drawScreen(snapshot(), idle, { ...wide, rows: 6 });
    expect(lines).toHaveLength(6);
    expect(lines.at(-1)).toBe("… more than fits here");
  });

  test("colours what needs attention, where colours are understood", () => {
    const text = drawScreen(snapshot(), idle, { ...wide, isColoured: true }).join("\n");
    expect(text).toContain("\x1b[33m  backing off 2");
    expect(Bun.stripANSI(text)).toContain("backing off 2");
  });
});
