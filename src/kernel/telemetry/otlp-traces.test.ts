// Tests how traces meet a collector that refuses, hangs or comes back.
import { afterEach, expect, test } from "bun:test";
import { type Collector, startCollector } from "../../../tests/support/otlp.ts";
import { createLog } from "./log.ts";
import { createMetrics } from "./metrics.ts";
import { openTraces } from "./otlp-traces.ts";
import { createOutages } from "./outages.ts";

let collector: Collector | undefined;
afterEach(() => collector?.stop());

function open(url: string) {
  const lines: string[] = [];
  const log = createLog({ level: "info", format: "json", write: (line) => void lines.push(line) });
  const settings = { url: `${url}/v1/traces`, headers: {}, serviceName: "berth", withContents: false };
  const outages = createOutages({ metrics: createMetrics(), log, secrets: [] });
  return { lines, outages, traces: openTraces(settings, log, outages.watch("traces")) };
}

test("work that follows on other work is in its trace; what has no UUID gets a trace of its own", async () => {
  collector = startCollector();
  const { traces } = open(collector.url);
  const id = Bun.randomUUIDv7();
  traces.begin(id, "turn", { attributes: { "berth.empty": undefined, "berth.list": ["a", "b"] } }).end();
  traces.follow(id, "delivery", { kind: "producer" }).end("retry");
  const afterRestart = Bun.randomUUIDv7();
  traces.follow(afterRestart, "late delivery").end();
  traces.begin("reminder:1", "odd").end();
  await traces.close();
  expect(collector.violations).toEqual([]);
  const [turn, delivery, late, odd] = collector.spans;
  expect(turn).toMatchObject({ traceId: id.replaceAll("-", ""), attributes: { "berth.list": ["a", "b"] } });
  expect(Object.keys(turn?.attributes ?? {})).toEqual(["berth.list"]);
  expect(delivery).toMatchObject({
    ...{ traceId: turn?.traceId, parentSpanId: turn?.spanId, kind: 4, status: 2 },
    attributes: { "error.type": "retry" },
  });
  expect(late).toMatchObject({ traceId: afterRestart.replaceAll("-", ""), parentSpanId: undefined });
  expect(odd?.traceId).toMatch(/^[0-9a-f]{32}$/);
});

test("a refusal is logged", async () => {
  collector = startCollector();
  collector.answer(400);
  const { traces, lines, outages } = open(collector.url);
  traces.begin(Bun.randomUUIDv7(), "turn").end();
  await traces.close();
  expect(lines.filter((line) => line.includes("traces can't be sent"))).toHaveLength(1);
  expect([...outages.current.values()]).toMatchObject([{ of: "traces" }]);
});

test("a collector that never answers does not hold up the stop", async () => {
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Promise<Response>(() => undefined) });
  const { traces } = open(`http://127.0.0.1:${server.port}`);
  traces.begin(Bun.randomUUIDv7(), "turn").end();
  const startedAt = performance.now();
  await traces.close();
  expect(performance.now() - startedAt).toBeLessThan(4_000);
  await server.stop(true);
});
