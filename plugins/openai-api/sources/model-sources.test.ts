// Model sources are found by the prefix of a model's id.
import { expect, test } from "bun:test";
import type { ModelSource } from "./model-source.ts";
import { createModelSources } from "./model-sources.ts";

const sourceWith = (prefix: string): ModelSource => ({
  prefix,
  list: async () => [],
  find: async () => undefined,
  open: () => Promise.reject(new Error("Not called.")),
});

test("a model belongs to the source whose prefix begins its id, and to none otherwise", () => {
  const sources = createModelSources();
  const agents = sourceWith("agent:");
  sources.register(agents);
  expect(sources.sourceOf("agent:harbour")).toEqual({ source: agents, name: "harbour" });
  for (const model of ["gpt-5", "provider_1:agent:x", "Agent:harbour", "", undefined, null, 7]) {
    expect(sources.sourceOf(model)).toBeUndefined();
  }
});

test("a prefix is registered once", () => {
  const sources = createModelSources();
  sources.register(sourceWith("agent:"));
  expect(() => sources.register(sourceWith("agent:"))).toThrow("agent:");
  expect(sources.all).toHaveLength(1);
});
