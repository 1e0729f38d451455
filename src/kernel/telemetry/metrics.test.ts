// Tests the metrics in the format that Prometheus reads.

import { afterEach, describe, expect, test } from "bun:test";
import { createMetrics, type Metrics } from "./metrics.ts";
import { createReadings } from "./readings.ts";

let metrics: Metrics;
const fresh = () => {
  metrics = createMetrics();
  return metrics;
};
afterEach(() => metrics.stop());

/** Returns the lines of one metric, with its comments. */
const lines = (name: string) =>
  metrics
    .render()
    .split("\n")
    .filter((line) => line.split(/[ {]/).some((word) => word.startsWith(name)));

describe("counters", () => {
  test("add up, with and without an amount", () => {
    const counter = fresh().counter("berth_things_total", "Things.");
    counter.inc();
    counter.inc(2.5);
    expect(lines("berth_things")).toEqual([
      "# HELP berth_things_total Things.",
      "# TYPE berth_things_total counter",
      "berth_things_total 3.5",
    ]);
  });

  test("never fall", () => {
    const counter = fresh().counter("c_total", "C.");
    counter.inc(-5);
    counter.inc(Number.NaN);
    expect(lines("c_total")).toContain("c_total 0");
  });

  test("have one series per set of labels", () => {
    const counter = fresh().counter("calls_total", "Calls.", ["provider", "outcome"]);
    const ok = counter.labels({ provider: "provider_1", outcome: "ok" });
    ok.inc();
    ok.inc();
    counter.labels({ outcome: "ok", provider: "provider_1" }).inc();
    counter.labels({ provider: "provider_2", outcome: "failed" }).inc();
    expect(lines("calls_total").slice(2)).toEqual([
      'calls_total{provider="provider_1",outcome="ok"} 3',
      'calls_total{provider="provider_2",outcome="failed"} 1',
    ]);
  });

  test("escape characters of the format", () => {
    fresh().counter("x_total", "Two\nlines \\.", ["path"]).labels({ path: 'a"b\\c\nd' }).inc();
    expect(lines("x_total")).toEqual([
      "# HELP x_total Two\\nlines \\\\.",
      "# TYPE x_total counter",
      'x_total{path="a\\"b\\\\c\\nd"} 1',
    ]);
  });

  test("have a bounded number of series", () => {
    const counter = fresh().counter("many_total", "Many.", ["id"]);
    for (let i = 0; i < 5000; i++) counter.labels({ id: String(i) }).inc();
    const series = lines("many_total{");
    expect(lines("many_total").length).toBeLessThan(1010);
    expect(lines("many_total")).toContain('many_total{id="other"} 4000');
    expect(series).not.toContain('many_total{id="4999"} 1');
  });
});

describe("gauges", () => {
  test("are read at the scrape, one value or one per label", () => {
    let sessions = 1;
    fresh().gauge("sessions", "Sessions.", () => sessions);
    metrics.gauge("channels", "Channels.", ["state"], () => [
      [{ state: "connected" }, 2],
      [{ state: "failed" }, Number.POSITIVE_INFINITY],
    ]);
    expect(lines("sessions")).toContain("sessions 1");
    sessions = 7;
    expect(lines("sessions")).toContain("sessions 7");
    expect(lines("channels").slice(1)).toEqual([
      "# TYPE channels gauge",
      'channels{state="connected"} 2',
      'channels{state="failed"} +Inf',
    ]);
  });
});

describe("measured gauges", () => {
  test("are measured before a scrape, once for scrapes at the same time", async () => {
    let loads = 0;
    fresh().measured({ waiting: ["Waiting."], waiting_by: ["By channel.", "channel"] }, async () => ({
      waiting: ++loads,
      waiting_by: [[{ channel: "channel_a" }, 5]],
    }));
    // Without a scrape there is no value, and no zero that would look like one.
    expect(lines("waiting").filter((line) => !line.startsWith("#"))).toEqual([]);
    const texts = await Promise.all([metrics.scrape(), metrics.scrape()]);
    for (const text of texts) expect(text).toContain("waiting 1\n");
    expect(await metrics.scrape()).toContain("waiting 2\n");
    expect(metrics.render()).toContain('waiting_by{channel="channel_a"} 5\n');
  });

  test("that fail have no sample, hold up no other, and are counted", async () => {
    let isDown = false;
    fresh().measured({ failing: ["Failing."] }, async () => {
      if (isDown) throw new Error("The database is away.");
      return { failing: 7 };
    });
    metrics.measured({ working: ["Working."] }, async () => ({ working: 1 }));
    expect(await metrics.scrape()).toContain("failing 7\n");
    isDown = true;
    const text = await metrics.scrape();
    expect(text).not.toMatch(/^failing /m);
    expect(text).toContain("working 1\n");
    expect(text).toContain("berth_metrics_reading_failures_total 1\n");
  });

  test("that take too long are given up for this scrape, and are not begun a second time", async () => {
    let loads = 0;
    const { promise, resolve } = Promise.withResolvers<string>();
    let failures = 0;
    const readings = createReadings(() => failures++, 5);
    const value = readings.add(() => {
      loads++;
      return promise;
    });
    await readings.load();
    expect([value(), failures]).toEqual([undefined, 1]);
    const second = readings.load();
    resolve("late");
    await second;
    expect([value(), loads]).toEqual(["late", 1]);
  });
});

test("what is measured and called a total is a counter", async () => {
  fresh().measured({ seen_total: ["Seen."] }, async () => ({ seen_total: 12 }));
  await metrics.scrape();
  expect(lines("seen_total").slice(1)).toEqual(["# TYPE seen_total counter", "seen_total 12"]);
  expect(metrics.sum("seen_total")).toBe(12);
});

describe("histograms", () => {
  test("count cumulatively; a bound belongs to its bucket", () => {
    const histogram = fresh().histogram("wait_seconds", "Waits.", [0.1, 1]);
    for (const value of [0.05, 0.1, 0.5, 3]) histogram.observe(value);
    expect(lines("wait_seconds").slice(1)).toEqual([
      "# TYPE wait_seconds histogram",
      'wait_seconds_bucket{le="0.1"} 2',
      'wait_seconds_bucket{le="1"} 3',
      'wait_seconds_bucket{le="+Inf"} 4',
      "wait_seconds_sum 3.65",
      "wait_seconds_count 4",
    ]);
  });

  test("carry labels beside the bound", () => {
    fresh().histogram("http_seconds", "Time.", ["surface"]).labels({ surface: "web" }).observe(2);
    expect(lines("http_seconds")).toContain('http_seconds_bucket{surface="web",le="+Inf"} 1');
    expect(lines("http_seconds")).toContain('http_seconds_count{surface="web"} 1');
  });
});

describe("sums", () => {
  test("add the series of a counter that have the labels", () => {
    const counter = fresh().counter("calls_total", "Calls.", ["provider", "end"]);
    counter.labels({ provider: "one", end: "answered" }).inc(3);
    counter.labels({ provider: "two", end: "answered" }).inc(4);
    counter.labels({ provider: "two", end: "failed" }).inc(5);
    expect(metrics.sum("calls_total")).toBe(12);
    expect(metrics.sum("calls_total", { end: "answered" })).toBe(7);
    expect(metrics.sum("calls_total", { provider: "two", end: "failed" })).toBe(5);
    expect(metrics.sum("calls_total", { provider: "three" })).toBe(0);
    expect(metrics.sum("missing_total")).toBe(0);
  });

  test("read gauges, and count the values of histograms in their buckets", () => {
    fresh().gauge("channels", "Channels.", ["state"], () => [
      [{ state: "connected" }, 2],
      [{ state: "failed" }, 1],
    ]);
    expect(metrics.sum("channels", { state: "failed" })).toBe(1);
    const histogram = metrics.histogram("wait_seconds", "Waits.", ["surface"], [0.1, 1]);
    for (const value of [0.05, 0.5, 3]) histogram.labels({ surface: "web" }).observe(value);
    histogram.labels({ surface: "backend" }).observe(0.01);
    expect(metrics.sum("wait_seconds")).toBe(4);
    expect(metrics.sum("wait_seconds", { surface: "web" })).toBe(3);
    expect(metrics.buckets("wait_seconds")).toEqual({ bounds: [0.1, 1], counts: new Float64Array([2, 1, 1]) });
    expect(metrics.takeWorstLag()).toBeGreaterThanOrEqual(0);
  });
});

test("a name must be valid, and is used once", () => {
  fresh().counter("twice_total", "");
  expect(() => metrics.gauge("twice_total", "", () => 1)).toThrow("twice_total");
  expect(() => metrics.counter("No name", "")).toThrow("No name");
});

test("the process has metrics for memory, uptime, descriptors and the lag of the event loop", async () => {
  await fresh().scrape();
  const value = (name: string) => Number(lines(name).at(-1)?.split(" ")[1]);
  expect(value("process_resident_memory_bytes")).toBeGreaterThan(1e6);
  expect(value("process_uptime_seconds")).toBeGreaterThan(0);
  expect(value("berth_event_loop_lag_seconds")).toBeGreaterThanOrEqual(0);
  expect(lines("process_cpu_seconds_total")).toContain("# TYPE process_cpu_seconds_total counter");
  if (process.platform === "linux") expect(value("process_max_fds")).toBeGreaterThan(value("process_open_fds"));
  expect(metrics.render().endsWith("\n")).toBe(true);
  expect(metrics.render()).not.toContain("undefined");
});
