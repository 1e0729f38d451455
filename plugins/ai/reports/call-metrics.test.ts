// Tests that the series of models are bounded, whatever names accounts call.
import { expect, test } from "bun:test";
import { createMetrics } from "../../../src/kernel/telemetry/metrics.ts";
import { createCallMetrics } from "./call-metrics.ts";

const usage = { inputTokens: 10, outputTokens: 4, estimated: false };

test("known models have series of their own, at most a hundred; all others are counted together", () => {
  const metrics = createMetrics();
  const count = createCallMetrics({ metrics, isKnown: (_, model) => model.startsWith("known-") });
  count("provider_1", "known-a", usage, 1_500_000);
  count("provider_1", "known-a", usage, 500_000);
  for (let n = 0; n < 300; n++) count("provider_5", `invented-${n}`, usage, 1_000);
  for (let n = 0; n < 300; n++) count("provider_2", `known-${n}`, usage, 0);
  const text = metrics.render();
  expect(text).toContain('berth_ai_cost_usd_total{provider="provider_1",model="known-a"} 2\n');
  expect(text).toContain('berth_ai_tokens_total{provider="provider_1",model="known-a",direction="input"} 20\n');
  expect(text).toContain('berth_ai_tokens_total{provider="provider_1",model="known-a",direction="output"} 8\n');
  expect(text).toContain('berth_ai_tokens_total{provider="provider_5",model="other",direction="input"} 3000\n');
  expect(text).not.toContain("invented");
  expect(metrics.sum("berth_ai_tokens_total", { provider: "provider_2", direction: "output" })).toBe(1_200);
  expect([...text.matchAll(/^berth_ai_cost_usd_total\{/gm)].length).toBeLessThanOrEqual(102);
  metrics.stop();
});
