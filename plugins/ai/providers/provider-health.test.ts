// Tests the background probes of providers and the reported health.

import { afterEach, expect, test } from "bun:test";
import { loadConfig } from "../../../src/kernel/config/config.ts";
import { createMetrics } from "../../../src/kernel/telemetry/metrics.ts";
import { silent } from "../../../tests/support/database.ts";
import { eventually } from "../../../tests/support/eventually.ts";
import { demoFetch } from "../demo/demo-provider.ts";
import { providerSettings } from "../settings.ts";
import { createProviderHealth, type ProviderHealth } from "./provider-health.ts";
import { createProviders } from "./providers.ts";

let health: ProviderHealth | undefined;
afterEach(() => health?.stop());

/** Two providers that answer a probe with a status, sooner or later. */
function createFixture() {
  const answers: Record<string, number | Promise<number>> = { one: 200, five: 200 };
  let probes = 0;
  const send = async (url: string) => {
    probes++;
    return new Response("", { status: (await answers[new URL(url).host]) ?? 500 });
  };
  const env = {
    PROVIDER_1_API_KEY: "k",
    PROVIDER_1_BASE_URL: "http://one",
    PROVIDER_5_API_KEY: "k",
    PROVIDER_5_BASE_URL: "http://five",
  };
  const settings = loadConfig(env, { cwd: "/" }).of(providerSettings);
  const providers = createProviders({
    settings,
    demo: demoFetch,
    log: silent,
    fetch: send,
    ollamaUrl: settings.ollamaUrl,
  });
  const metrics = createMetrics();
  metrics.stop();
  health = createProviderHealth({ providers, metrics, log: silent, probeIntervalMs: 5 });
  return { answers, health, providers, metrics, probes: () => probes };
}

test("a report is answered from the last probe and sends none itself", async () => {
  const { answers, health, probes, metrics } = createFixture();
  expect(await health.report()).toMatchObject({ provider_1: true, provider_2: false, provider_5: true });
  const asked = probes();
  for (let n = 0; n < 100; n++) await health.report();
  expect(probes()).toBe(asked);
  health.start();
  for (const [bad, good] of [
    [500, 404],
    [401, 429],
    [403, 200],
  ] as const) {
    answers.five = bad;
    await eventually(async () => !(await health.report()).provider_5);
    answers.five = good;
    await eventually(async () => (await health.report()).provider_5);
  }
  expect(metrics.render()).toContain('berth_ai_provider_up{provider="provider_5"} 1');
});

test("failing calls make a provider unhealthy even if its probe succeeds", async () => {
  const { health, providers, metrics } = createFixture();
  const [one] = providers.configuredUpstreams();
  if (!one) throw new Error("There is none.");
  for (let n = 0; n < 8; n++) health.breakerOf(one).recordResult("call", "failed");
  expect(await health.report()).toMatchObject({ provider_1: false, provider_5: true });
  expect(health.isDown(one)).toBe(true);
  expect(metrics.render()).toContain('berth_ai_breaker_open{provider="provider_1"} 1');
  // Somebody's own key has its own calls.
  expect(health.isDown(providers.upstreamWithKey("provider_1", "mine"))).toBe(false);
  expect(providers.upstreamWithKey("provider_1", "mine")).toBe(providers.upstreamWithKey("provider_1", "mine"));
});

test("concurrent probes of one provider are one request", async () => {
  const { answers, health, providers, probes } = createFixture();
  const later = Promise.withResolvers<number>();
  answers.one = later.promise;
  const [one] = providers.configuredUpstreams();
  if (!one) throw new Error("There is none.");
  const all = Array.from({ length: 50 }, () => health.isReachable(one));
  later.resolve(500);
  expect([new Set(await Promise.all(all)), probes()]).toEqual([new Set([false]), 1]);
});
