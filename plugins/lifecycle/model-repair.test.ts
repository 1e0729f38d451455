// Tests the repair of a configured model that no provider offers any more.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { providerSettings } from "../ai/settings.ts";
import { type Harness, openHarness } from "./backups/support.test.ts";
import { createModelRepair } from "./model-repair.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await openHarness();
});
afterAll(() => harness[Symbol.asyncDispose]());

test("replaces only the model, also in a configuration that would be refused today", async () => {
  const { agents } = harness.services;
  const agent = await harness.agent();
  const stored = '{"model":"provider_5:gone","schedules":[{"cron":"banana","message":"Hi"}],"mcpServers":{"a":{}}}';
  await agents.saveRepairedConfig(agent.id, stored);
  const resolved = { provider: "provider_5", modelId: "fake-small", demo: false } as never;
  const ai = {
    isOffered: async () => false,
    resolveTurnModel: async () => resolved,
    defaultModels: () => harness.kernel.config.of(providerSettings).models,
  };
  const repairModel = createModelRepair({ agents, ai });
  expect(await repairModel(agent)).toEqual({ from: "provider_5:gone", to: "provider_5:fake-small" });
  expect(await agents.configText(agent.id)).toBe(stored.replace("provider_5:gone", "provider_5:fake-small"));
});
