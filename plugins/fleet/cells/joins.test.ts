// Tests that reports of cells are joined as one service would count, and that figures that can't be added are not.
import { describe, expect, test } from "bun:test";
import { addUp, addUpBy } from "./add-up.ts";
import { joinProviders } from "./join-providers.ts";
import { joinFigures, joinJobs, joinProviderPages, joinStorage, joinUsage } from "./joins.ts";

describe("sums", () => {
  test("add numbers at any depth, dollars to a millionth", () => {
    const one = { calls: 1, costUsd: 0.1, part: { late: 2 }, name: "a" };
    expect(addUp(one, { calls: 2, costUsd: 0.2, part: { late: 3 }, name: "b" })).toEqual({
      ...{ calls: 3, costUsd: 0.3, part: { late: 5 }, name: "a" },
    });
  });

  test("take the earlier of two times, and what is known of a number", () => {
    interface Queue {
      waiting: number;
      oldestAt: string | number | null;
    }
    const add = (one: Queue["oldestAt"], other: Queue["oldestAt"]) =>
      addUp<Queue>({ waiting: 1, oldestAt: one }, { waiting: 1, oldestAt: other }).oldestAt;
    expect(add("2030-01-02T00:00:00Z", "2030-01-01T00:00:00Z")).toBe("2030-01-01T00:00:00Z");
    expect([add(7, 5), add(null, 5), add(5, null), add(null, null)]).toEqual([5, 5, 5, null]);
    expect(addUp<{ bytes: number | null }>({ bytes: null }, { bytes: 3 })).toEqual({ bytes: 3 });
  });

  test("of rows are by their key", () => {
    const rows = [
      { key: "a", n: 1 },
      { key: "b", n: 2 },
      { key: "a", n: 4 },
    ];
    expect(addUpBy(rows, ({ key }) => key)).toEqual([
      { key: "a", n: 5 },
      { key: "b", n: 2 },
    ]);
  });
});

describe("usage", () => {
  const sums = (calls: number, costUsd: number) => ({
    ...{
      calls,
      cachedCalls: 0,
      estimatedCalls: 0,
      inputTokens: 0,
      outputTokens: 0,
      costUsd,
      ownKeyUsd: 0,
      creditsUsd: 0,
    },
  });
  const report = (by: "day" | "user", rows: [key: string, calls: number, costUsd: number][]) => ({
    ...{ from: "2030-01-01", to: "2030-01-02", by },
    total: sums(rows.length, rows.length),
    rows: rows.map(([key, calls, costUsd]) => ({ key, name: key, ...sums(calls, costUsd) })),
  });

  test("of days is in their order", () => {
    const { rows, total } = joinUsage([
      report("day", [["2030-01-02", 1, 1]]),
      report("day", [
        ["2030-01-01", 2, 2],
        ["2030-01-02", 3, 3],
      ]),
    ]);
    expect(rows.map(({ key, costUsd }) => [key, costUsd])).toEqual([
      ["2030-01-01", 2],
      ["2030-01-02", 4],
    ]);
    expect(total.calls).toBe(3);
  });

  test("of accounts has the dearest of all cells first, at most 200", () => {
    const many = (cell: number) =>
      report(
        "user",
        Array.from({ length: 150 }, (_, n): [string, number, number] => [`${cell}-${n}`, 1, n]),
      );
    const { rows } = joinUsage([many(0), many(1)]);
    expect(rows).toHaveLength(200);
    expect(rows.slice(0, 3).map(({ key }) => key)).toEqual(["0-149", "1-149", "0-148"]);
  });
});

describe("providers", () => {
  const provider = (calls: number, medianMs: number, todayUsd: number) => ({
    ...{ id: "provider_1", label: "One", name: "One", configured: true, demo: false, models: 3, keySetting: "X" },
    ...{ reachable: true as boolean | null, breaker: "closed" as "closed" | "open", retryAt: null as string | null },
    recent: { calls, failed: 1, medianMs, p95Ms: medianMs * 2, lastAt: null },
    ...{ todayUsd, monthUsd: todayUsd },
  });

  test("have the calls of all cells, and the times of the one that has called most", () => {
    const { providers } = joinProviderPages([
      { providers: [provider(10, 900, 0.1)] },
      { providers: [{ ...provider(30, 100, 0.2), retryAt: "2030-01-01T00:00:00Z" }] },
    ]);
    expect(providers).toMatchObject([
      { recent: { calls: 40, failed: 2, medianMs: 100, p95Ms: 200 }, todayUsd: 0.3, retryAt: "2030-01-01T00:00:00Z" },
    ]);
  });

  test("are in trouble if they are for one cell", () => {
    const trouble = { ...provider(0, 0, 0), reachable: false, breaker: "open" as const };
    expect(joinProviders([[provider(5, 1, 0)], [trouble]])).toMatchObject([{ reachable: false, breaker: "open" }]);
  });
});

test("failed jobs of all cells are one list, newest first, whose cursor holds in each", () => {
  const none = { waiting: 0, oldestAt: null };
  const queues = { inbox: none, outbox: none, webhooks: none };
  const ids = [["9", "6", "3"], ["8", "7"], []];
  const read = (limit: number, cursor: string) =>
    joinJobs(
      ids.map((own) => {
        const after = own.filter((id) => id < cursor);
        const failed = after
          .slice(0, limit)
          .map((id) => ({ id, kind: "k", attempts: 8, error: null, createdAt: "2030-01-01T00:00:00Z" }));
        return { kinds: [], queues, failed, next: after.length > limit ? (failed.at(-1)?.id ?? null) : null };
      }) as [never, never, never],
      limit,
    );
  const found: string[] = [];
  for (let cursor: string | null = "~"; cursor !== null; ) {
    const page: ReturnType<typeof read> = read(2, cursor);
    found.push(...page.failed.map(({ id }) => id));
    cursor = page.next;
  }
  expect(found).toEqual(["9", "8", "7", "6", "3"]);
});

test("figures of one step are added up, or the worst counts, also if a cell was asked a step later", () => {
  const figures = (from: string, requests: (number | null)[], lagMs: (number | null)[]) => ({
    ...{ from, stepSeconds: 60 },
    figures: new Proxy({} as Record<string, (number | null)[]>, {
      get: (_, name) => (name === "lagMs" ? lagMs : requests),
    }) as never,
  });
  const joined = joinFigures([
    figures("2030-01-01T00:00:00Z", [1, null, 3], [10, null, 5]),
    figures("2030-01-01T00:01:00Z", [20, null, 40], [7, null, 9]),
  ]);
  expect(joined.figures.requests).toEqual([1, 20, 3]);
  expect(joined.figures.lagMs).toEqual([10, 7, 5]);
});

test("storage counts the folders of other cells once, and shows the fullest disk", () => {
  const report = (entries: [name: string, bytes: number][], freeBytes: number) => ({
    ...{ dataDir: "data", complete: true, backups: [] },
    entries: entries.map(([name, bytes]) => ({ name, bytes, files: 1 })),
    database: { kind: "file" as const, bytes: 5, logBytes: null },
    disk: { totalBytes: 100, freeBytes },
  });
  const first = report(
    [
      ["cells/", 50],
      ["berth.db", 5],
    ],
    40,
  );
  expect(joinStorage([first, report([["berth.db", 50]], 10)])).toMatchObject({
    entries: [{ name: "berth.db", bytes: 55, files: 2 }],
    database: { bytes: 10 },
    disk: { freeBytes: 10 },
  });
});
