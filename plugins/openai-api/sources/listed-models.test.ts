// Tests the dates of models under /v1, which clients show.
import { describe, expect, test } from "bun:test";
import { createListedModels, LIST_DATE, toAnthropicModel } from "./listed-models.ts";
import { createModelSources } from "./model-sources.ts";

const AT = Date.UTC(2025, 9, 1) / 1000;
const caller = { userId: undefined, isAdmin: false, address: "127.0.0.1" };

async function listedAs(id: string, releasedAt?: number) {
  const model = { id, provider: "provider_4", available: true, ...(releasedAt !== undefined && { releasedAt }) };
  const listed = createListedModels({ models: async () => [model], sources: createModelSources() });
  return listed.find(id, caller);
}

describe("the date of a model", () => {
  test("is the one that its provider says", async () => {
    expect((await listedAs("gpt-5-mini", AT)).created).toBe(AT);
  });

  test.each(["claude-haiku-4-5-20251001", "gpt-4o-2025-10-01", "anthropic/claude@20251001"])(
    "is else the one in its id: %s",
    async (id) => {
      expect((await listedAs(id)).created).toBe(AT);
    },
  );

  test.each(["gpt-5-mini", "llama-3.1-20259999"])(
    "of %s is not known: that of the list, never 1970; Anthropic's clients get theirs for that",
    async (id) => {
      const model = await listedAs(id);
      expect(model.created).toBe(LIST_DATE);
      expect(toAnthropicModel(model).created_at).toBe("1970-01-01T00:00:00.000Z");
    },
  );
});
