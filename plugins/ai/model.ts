// What the AI layer looks like on the wire.
import { t } from "elysia";
import { taskTypes } from "./providers/catalogue-entry.ts";

const timestamp = t.String({ description: "ISO 8601" });
const provider = t.Union([
  t.Literal("provider_1"),
  t.Literal("provider_2"),
  t.Literal("provider_3"),
  t.Literal("provider_4"),
  t.Literal("provider_5"),
]);
const taskTypeList = taskTypes.join(", ");

export const aiModel = t.Object({
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

export const aiHealth = t.Object({
  status: t.Union([t.Literal("healthy"), t.Literal("degraded")], {
    description: "Only configured providers count: healthy when all can be reached, degraded when some are down",
  }),
  providers: t.Record(t.String(), t.Boolean(), { description: "All five; one that is not configured is false" }),
  demo: t.Boolean({ description: "The built-in demo model serves, for want of a key" }),
  timestamp,
});

export const modelList = t.Object({
  models: t.Array(aiModel),
  count: t.Integer(),
  provider_1: t.Integer(),
  provider_2: t.Integer(),
  provider_3: t.Integer(),
  provider_4: t.Integer(),
  provider_5: t.Integer(),
  timestamp,
});

export const providerModels = t.Object({ provider, models: t.Array(aiModel), count: t.Integer(), timestamp });

export const selectBody = t.Object({
  taskType: t.Optional(
    t.String({
      maxLength: 64,
      description: `${taskTypeList}; another counts as general`,
      error: "The task type is text.",
    }),
  ),
});
export const selectedModel = t.Object({ model: aiModel, taskType: t.String(), timestamp });

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

export const openAiModelList = t.Object({
  object: t.Literal("list"),
  data: t.Array(t.Object({ id: t.String(), object: t.Literal("model"), created: t.Integer(), owned_by: t.String() })),
});
