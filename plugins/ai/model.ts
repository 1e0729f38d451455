// Schemas of the AI layer on the wire.
import { t } from "elysia";
import { taskTypes } from "./providers/catalogue-entry.ts";
import type { ProviderId } from "./providers/provider.ts";
import type { ProviderRegistry } from "./providers/registry.ts";

const timestamp = t.String({ description: "ISO 8601" });
const taskTypeList = taskTypes.join(", ");

/** The schemas that name providers. */
export function createModelSchemas({ ids }: Pick<ProviderRegistry, "ids">) {
  const provider = t.Unsafe<ProviderId>(t.Union(ids.map((id) => t.Literal(id))));
  const aiModel = t.Object({
    id: t.String({ description: "The provider's own id" }),
    name: t.String(),
    provider,
    description: t.String(),
    tags: t.Array(t.String(), { description: `Task types: ${taskTypeList}` }),
    inputCost: t.Number({ description: "USD per million input tokens" }),
    outputCost: t.Number({ description: "USD per million output tokens" }),
    contextWindow: t.Number({ description: "Tokens" }),
    available: t.Boolean({ description: "Can be called now, on the operator's keys" }),
  });
  const models = t.Array(aiModel);
  const counts: Record<ProviderId, ReturnType<typeof t.Integer>> = Object.fromEntries(
    ids.map((id) => [id, t.Integer()]),
  );
  return {
    modelList: t.Object({ models, count: t.Integer(), ...counts, timestamp }),
    providerModels: t.Object({ provider, models, count: t.Integer(), timestamp }),
    selectedModel: t.Object({ model: aiModel, taskType: t.String(), timestamp }),
  };
}

export const aiHealth = t.Object({
  status: t.Union([t.Literal("healthy"), t.Literal("degraded")], {
    description: "Only configured providers count: healthy when all can be reached, degraded when some are down",
  }),
  providers: t.Record(t.String(), t.Boolean(), { description: "All providers; one that is not configured is false" }),
  demo: t.Boolean({ description: "The built-in demo model serves, for want of a key" }),
  timestamp,
});

export const selectBody = t.Object({
  taskType: t.Optional(
    t.String({
      maxLength: 64,
      description: `${taskTypeList}; another counts as general`,
      error: "The task type is text.",
    }),
  ),
});

const tokenCount = (which: string) =>
  // Elysia's Integer takes digits in a text for a number; a number that must be whole doesn't.
  t.Number({
    multipleOf: 1,
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    error: `Give the number of ${which} tokens: a whole number, not negative, at most 2^53 - 1.`,
  });
export const estimateBody = t.Object({
  model: t.String({ minLength: 1, maxLength: 200, error: "Name the model: its id, or provider_N:id." }),
  inputTokens: tokenCount("input"),
  outputTokens: tokenCount("output"),
});
export const costEstimate = t.Object({
  model: t.String(),
  inputTokens: t.Number(),
  outputTokens: t.Number(),
  estimatedCost: t.Number({ description: "Rounded half up to 1e-9" }),
  currency: t.Literal("USD"),
  timestamp,
});
