// Monitoring of the compiled binary: its metrics as promtool reads them, and that the dashboard and the alerts ask for metrics it has.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { testedBlocks } from "../site/tested-blocks.ts";
import { createClusterFigures } from "../src/cluster/figures.ts";
import { createMetrics } from "../src/kernel/telemetry/metrics.ts";
import { type Berth, startBerth } from "./support/berth.ts";
import { createClient } from "./support/client.ts";
import { type Collector, startCollector } from "./support/otlp.ts";
import { run, temporaryDir } from "./support/process.ts";
import { type Smtp, startSmtp } from "./support/smtp.ts";
import { startUpstream, type Upstream } from "./support/upstream.ts";

const folder = join(import.meta.dir, "../docs/monitoring");
const read = (name: string) => readFileSync(join(folder, name), "utf8");

/** Prometheus' own program, which `npm test` installs on Debian. */
function promtool(args: string[], stdin = ""): { exitCode: number; text: string } {
  if (Bun.which("promtool") === null) throw new Error("promtool is missing: apt-get install prometheus");
  const { exitCode, stdout, stderr } = Bun.spawnSync(["promtool", ...args], { cwd: folder, stdin: Buffer.from(stdin) });
  return { exitCode, text: `${stdout}${stderr}` };
}

let upstream: Upstream;
let smtp: Smtp;
let collector: Collector;
let berth: Berth;
let scraped: string;

beforeAll(async () => {
  upstream = await startUpstream();
  collector = startCollector();
  smtp = await startSmtp({ login: { user: "berth", pass: "canary-mail-password" } });
  berth = await startBerth({
    env: {
      PROVIDER_3_BASE_URL: upstream.url,
      SIGNUP_TRIAL: "enterprise:30d",
      SMTP_URL: smtp.url,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_SERVICE_NAME: "berth of the tests",
      MAIL_FROM: "Berth <berth@example.com>",
      BACKUP_SCHEDULE: "0 3 * * *",
      BACKUP_CONTINUOUS: "true",
      AUDIT_TO: "file:missing/audit.jsonl",
      STRIPE_API_URL: "http://127.0.0.1:9",
    },
  });
  const owner = createClient(berth);
  await owner.join({ email: "ada@example.com" });
  const { body } = await owner.post<{ agent: { id: string } }>("/api/agents/provision", { name: "Harbour" });
  expect((await owner.post("/api/chat", { agentId: body.agent.id, message: "Hello" })).status).toBe(200);
  scraped = await (await fetch(`${berth.backend}/metrics`)).text();
});
afterAll(async () => {
  await berth?.[Symbol.asyncDispose]();
  await upstream?.stop();
  await smtp?.stop();
  await collector?.stop();
});

describe("/metrics", () => {
  test("is as Prometheus' linter wants it", () => {
    expect(promtool(["check", "metrics"], scraped)).toEqual({ exitCode: 0, text: "" });
  });

  test("has the figures of what happened", () => {
    const samples = [
      /^berth_turns_total\{outcome="done"\} 1$/m,
      /^berth_turn_seconds_count\{outcome="done"\} 1$/m,
      /^berth_ai_tokens_total\{provider="provider_3",model="[\w.-]+",direction="input"\} [1-9]/m,
      /^berth_ai_call_seconds_count\{provider="provider_3"\} 1$/m,
      /^berth_http_operation_seconds_count\{operation="sendMessage"\} 1$/m,
      /^berth_inbox_oldest_seconds 0$/m,
      /^berth_outbox_waiting\{channel="channel_a",age="over_10m"\} 0$/m,
      /^berth_jobs\{kind="mail",state="late"\} 0$/m,
      /^berth_schedules_late 0$/m,
      /^berth_approvals_waiting 0$/m,
      /^berth_database_size_bytes [1-9]/m,
      /^berth_database_queue_wait_seconds_count [1-9]/m,
      /^berth_disk_free_bytes [1-9]/m,
      /^process_open_fds [1-9]/m,
      /^berth_metrics_reading_failures_total 0$/m,
    ];
    expect(samples.filter((sample) => !sample.test(scraped))).toEqual([]);
  });
});

test("doctor --online asks what the service depends on, and shows no secret", async () => {
  const { stdout, exitCode } = await berth.command("doctor", "--online");
  expect(stdout).toContain("✓ Mail: ");
  expect(stdout).toMatch(/^✓ Provider .* lists its models\.$/m);
  expect(stdout).toMatch(/^! Domains: nothing answers at http:\/\/localhost:\d+: .*\n {2}→ /m);
  for (const part of ["Clock: ", "Disk: ", "Backups: "]) expect(stdout).toContain(part);
  expect(stdout).not.toContain("canary");
  expect(stdout).toMatch(
    /^✗ Audit log: file:.*missing\/audit\.jsonl can't be used: .*ENOENT.*\n {2}→ Make its folder/m,
  );
  expect(exitCode).toBe(1);
});

test("doctor says what the running service can't reach, and which settings have no effect, as the log does", async () => {
  const { stdout, exitCode } = await berth.command("doctor");
  expect(stdout).toMatch(/^! AUDIT_TO has taken no entries of the audit log since .*ENOENT.* Remove the reason/m);
  const idle = "STRIPE_API_URL: is set without STRIPE_SECRET_KEY, so it has no effect.";
  expect(stdout).toContain(`! ${idle}`);
  expect(berth.output().stderr).toContain(idle);
  expect(exitCode).toBe(0);
});

describe("top", () => {
  test("prints the service once without a terminal, and as JSON for programs", async () => {
    const [text, json] = await Promise.all([berth.command("top"), berth.command("top", "--json")]);
    expect([text.exitCode, json.exitCode]).toEqual([0, 0]);
    for (const part of ["turns/s", "agents up 1 of 1", "memory ", "USD today"]) expect(text.stdout).toContain(part);
    expect(text.stdout).not.toContain("\x1b");
    const { sums, rates, agents, providers } = JSON.parse(json.stdout);
    expect({ turns: sums.turns, rate: rates.turns, agents: agents.total }).toEqual({ turns: 1, rate: 0, agents: 1 });
    expect(providers).toContainEqual(expect.objectContaining({ id: "provider_3", configured: true }));
    expect(json.stdout).not.toContain("Hello");
    expect(berth.output().stdout).not.toContain("fleet.live");
  });

  test("is live in a terminal, and leaves it as it was", async () => {
    const program = join(import.meta.dir, "../dist/berth");
    const terminal = Bun.spawn(["script", "-qec", `stty rows 24 cols 60; exec ${program} top`, "/dev/null"], {
      cwd: berth.dir,
      env: { PATH: process.env.PATH, TERM: "xterm", DATA_DIR: join(berth.dir, "data") },
      stdin: "pipe",
      stdout: "pipe",
    });
    const decoder = new TextDecoder();
    let shown = "";
    let isAsked = false;
    for await (const bytes of terminal.stdout) {
      shown += decoder.decode(bytes, { stream: true });
      if (!isAsked && shown.includes("turns/s")) terminal.stdin.write("q");
      isAsked ||= shown.includes("turns/s");
    }
    expect(await terminal.exited).toBe(0);
    expect(shown).toStartWith("\x1b[?1049h\x1b[?25l");
    expect(shown.trimEnd()).toEndWith("\x1b[?25h\x1b[?1049l");
    const widths = Bun.stripANSI(shown)
      .split("\r\n")
      .map((line) => line.length);
    expect(Math.max(...widths)).toBeLessThanOrEqual(60);
  });

  test("says that no service runs", async () => {
    const dir = temporaryDir();
    const { exitCode, stderr } = await run(
      [join(import.meta.dir, "../dist/berth"), "top"],
      { DATA_DIR: dir.path },
      dir.path,
    );
    dir.remove();
    expect([exitCode, stderr]).toEqual([
      1,
      `berth: No service runs on ${dir.path}. Start it, or give its folder as DATA_DIR.\n`,
    ]);
  });
});

test("a turn is sent to the collector as one trace, without what was said", async () => {
  await collector.waitForSpans((spans) => spans.some(({ name }) => name.startsWith("invoke_agent")));
  expect(collector.violations).toEqual([]);
  const turn = collector.spans.find(({ name }) => name === "invoke_agent Harbour");
  const call = collector.spans.find(({ name }) => name.startsWith("chat "));
  expect(turn).toMatchObject({ status: 0, service: "berth of the tests", parentSpanId: undefined });
  expect([call?.traceId, call?.parentSpanId]).toEqual([turn?.traceId, turn?.spanId]);
  expect(collector.payloads.join()).not.toContain("Hello");
});

/** The names of metrics in an expression. */
const namesIn = (expr: string) => expr.match(/\b(?:berth|process|up)(?:_\w+)?\b(?=[^"]*(?:"[^"]*"[^"]*)*$)/g) ?? [];

/** What a machine of a cluster has beside them. */
function clusterMetrics(): string {
  const metrics = createMetrics();
  createClusterFigures().register(metrics);
  return metrics.render();
}

/** The metrics that the binary has, also those without a sample yet, and the parts of histograms. */
function metricNames(): Set<string> {
  const found = [...`${scraped}\n${clusterMetrics()}`.matchAll(/^# TYPE (\w+) (\w+)$/gm)].flatMap(
    ([, name = "", type]) => (type === "histogram" ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name]),
  );
  return new Set([...found, "up"]);
}

describe("the alert rules", () => {
  const alerts = [...read("alerts.yml").matchAll(/- alert: (\w+)\n {8}expr: \|-\n([\s\S]*?)\n {8}for:/g)];

  test("are valid, and each fires and is silent as its test says", () => {
    expect(promtool(["check", "rules", "alerts.yml"])).toMatchObject({ exitCode: 0 });
    expect(promtool(["test", "rules", "alerts.test.yml"])).toMatchObject({ exitCode: 0 });
  });

  test("are read with the configuration that docs/monitoring.md shows", () => {
    for (const { code } of testedBlocks(import.meta.path, "docs/monitoring.md", 2)) {
      const dir = temporaryDir();
      writeFileSync(join(dir.path, "prometheus.yml"), code);
      writeFileSync(join(dir.path, "alerts.yml"), read("alerts.yml"));
      expect(promtool(["check", "config", join(dir.path, "prometheus.yml")])).toMatchObject({ exitCode: 0 });
      dir.remove();
    }
  });

  test("each have a test of both, and say what is wrong and what to do", () => {
    expect(alerts.length).toBeGreaterThan(20);
    const tests = read("alerts.test.yml");
    for (const [, name] of alerts) {
      expect(tests).toContain(`name: ${name} fires`);
      expect(tests).toContain(`name: ${name} is silent`);
    }
    expect(read("alerts.yml").match(/^ {10}summary: "/gm)?.length).toBe(alerts.length);
    expect(read("alerts.yml").match(/^ {10}action: "/gm)?.length).toBe(alerts.length);
  });

  test("ask for metrics that the binary has", () => {
    const known = metricNames();
    const unknown = alerts.flatMap(([, name, expr = ""]) =>
      namesIn(expr).flatMap((metric) => (known.has(metric) ? [] : [`${name}: ${metric}`])),
    );
    expect(unknown).toEqual([]);
  });
});

describe("the dashboard", () => {
  interface Panel {
    title: string;
    type: string;
    targets?: { expr: string }[];
  }
  const { panels }: { panels: Panel[] } = JSON.parse(read("dashboard.json"));
  const expressions = panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ title, expr })));

  test("asks for metrics that the binary has, and for all of them", () => {
    const known = metricNames();
    const asked = expressions.flatMap(({ title, expr }) => namesIn(expr).map((metric) => ({ title, metric })));
    expect(asked.filter(({ metric }) => !known.has(metric))).toEqual([]);
    const families = new Set(asked.map(({ metric }) => metric.replace(/_(?:bucket|sum|count)$/, "")));
    const left = [...scraped.matchAll(/^# TYPE (berth_\w+) /gm)].filter(([, name = ""]) => !families.has(name));
    const minor = [
      "berth_ai_cache_bytes",
      "berth_audit_export_failures_total",
      "berth_audit_exported_total",
      "berth_backup_age_seconds",
      "berth_backup_copy_age_seconds",
      "berth_backup_copy_bytes_total",
      "berth_backup_copy_late",
      "berth_backup_copy_segments_total",
      "berth_backup_failures_total",
      "berth_backup_late",
      "berth_metrics_reading_failures_total",
      "berth_outage_seconds",
      "berth_outbox_held",
      "berth_outbox_oldest_seconds",
      "berth_retention_deleted_total",
    ];
    expect(left.map(([, name]) => name).toSorted()).toEqual(minor);
  });

  test("has expressions that Prometheus can read", () => {
    const rules = expressions.map(({ expr }, n) => ({
      record: `panel_${n}`,
      expr: expr.replaceAll("$__rate_interval", "5m"),
    }));
    const dir = temporaryDir();
    writeFileSync(join(dir.path, "panels.json"), JSON.stringify({ groups: [{ name: "panels", rules }] }));
    expect(promtool(["check", "rules", join(dir.path, "panels.json")])).toMatchObject({ exitCode: 0 });
    dir.remove();
  });

  test("is described in the guide, as every metric is", () => {
    const guide = readFileSync(join(folder, "../monitoring.md"), "utf8");
    const missing = [...scraped.matchAll(/^# TYPE (\w+) /gm)].filter(([, name]) => !guide.includes(`\`${name}\``));
    expect(missing.map(([, name]) => name)).toEqual([]);
  });
});
