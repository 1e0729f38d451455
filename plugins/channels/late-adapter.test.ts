// The code of a channel is loaded by its first bot, and has the verbs that its row promises.
import { expect, test } from "bun:test";
import { channelDefinitions } from "../../channels/registry.ts";
import { loadConfig } from "../../src/kernel/config/config.ts";
import { allSettings } from "../../src/server/settings.ts";
import { createLateAdapter } from "./late-adapter.ts";
import { channelSettings } from "./settings.ts";

const config = loadConfig({ DATA_DIR: "/nowhere" }, { cwd: "/nowhere", settings: allSettings });
const log = { debug: () => undefined, warn: () => undefined };
const options = { commands: {}, log, traffic: () => undefined, resolveHost: () => Promise.resolve(["127.0.0.1"]) };

test.each(channelDefinitions().map((row) => [row.label, row] as const))(
  "the adapter of %s has what its capabilities say",
  async (_, definition) => {
    const { capabilities, create, id } = definition;
    const adapter = await create({ ...options, settings: config.of(channelSettings)[id] });
    expect({
      hasListener: adapter.listener !== undefined,
      hasWebhook: adapter.webhook !== undefined,
      hasPreviews: adapter.preview !== undefined,
    }).toEqual({
      hasListener: capabilities.hasListener,
      hasWebhook: capabilities.hasWebhook,
      hasPreviews: capabilities.hasPreviews,
    });
    expect(capabilities.silenceTimeout !== undefined).toBe(capabilities.hasListener);
  },
);

test("its code is loaded once, at the first call; a failure to load is tried again", async () => {
  const definition = channelDefinitions()[0];
  if (!definition) throw new Error("There are no channels.");
  const binding = { agentId: "a", token: "t", bot: { id: "1", username: "bot" } };
  const forgotten: string[] = [];
  let loads = 0;
  const adapter = createLateAdapter(definition, () => {
    loads++;
    if (loads === 1) throw new Error("no memory");
    const refused = () => Promise.reject(new Error("not asked for"));
    return {
      identify: (token) => Promise.resolve({ id: token, username: "bot" }),
      ...{ send: refused, typing: refused, fetchFile: refused },
      forget: ({ agentId }) => void forgotten.push(agentId),
    };
  });
  adapter.forget(binding);
  expect(loads).toBe(0);
  const signal = AbortSignal.timeout(1_000);
  await expect(adapter.identify("5", signal)).rejects.toThrow("no memory");
  expect(await adapter.identify("5", signal)).toEqual({ id: "5", username: "bot" });
  expect(await adapter.identify("6", signal)).toEqual({ id: "6", username: "bot" });
  adapter.forget(binding);
  expect({ loads, forgotten }).toEqual({ loads: 2, forgotten: ["a"] });
});
