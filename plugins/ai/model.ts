// What the AI layer looks like on the wire.
import { t } from "elysia";
import { taskTypes } from "./catalogue.ts";

const timestamp = t.String({ description: "ISO 8601" });
const provider = t.Union([
  t.Literal("provider_1"),
  t.Literal("provider_2"),
  t.Literal("provider_3"),
  t.Literal("provider_4"),
  t.Literal("provider_5"),
]);
const tasks = taskTypes.join(", ");

export const aiModel = t.Object({
  id: t.String({ description: "The provider's own id" }),
  name: t.String(),
  provider,
  description: t.String(),
  tags: t.Array(t.String(), { description: `Task types: ${tasks}` }),
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
    t.String({ maxLength: 64, description: `${tasks}; another counts as general`, error: "The task type is text." }),
  ),
});
export const selected = t.Object({ model: aiModel, taskType: t.String(), timestamp });

const tokens = (which: string) =>
  t.Integer({
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    error: `Give the number of ${which} tokens: a whole number, not negative, at most 2^53 - 1.`,
  });
export const estimateBody = t.Object({
  model: t.String({ minLength: 1, maxLength: 200, error: "Name the model: its id, or provider_N:id." }),
  inputTokens: tokens("input"),
  outputTokens: tokens("output"),
});
export const estimate = t.Object({
  model: t.String(),
  inputTokens: t.Number(),
  outputTokens: t.Number(),
  estimatedCost: t.Number({ description: "Rounded half up to 1e-9" }),
  currency: t.Literal("USD"),
  timestamp,
});

const number = (least: number, most: number, name: string) =>
  t.Optional(t.Number({ minimum: least, maximum: most, error: `${name} is a number from ${least} to ${most}.` }));
const wholeNumber = (name: string) =>
  t.Optional(t.Integer({ minimum: 1, error: `${name} is a whole number of at least 1.` }));

/** What Berth checks of a chat request; everything beyond it is the provider's to judge. */
export const chatBody = t.Object(
  {
    messages: t.Array(
      t.Object(
        {
          role: t.Union(
            [
              t.Literal("system"),
              t.Literal("developer"),
              t.Literal("user"),
              t.Literal("assistant"),
              t.Literal("tool"),
              t.Literal("function"),
            ],
            { error: "A role is one of: system, developer, user, assistant, tool, function." },
          ),
          content: t.Optional(
            t.Union([t.String(), t.Array(t.Any()), t.Null()], { error: "The content is text, or a list of parts." }),
          ),
        },
        { additionalProperties: true, error: "A message is an object with role and content." },
      ),
      { minItems: 1, error: "Give messages: a list of at least one." },
    ),
    model: t.Optional(
      t.String({
        minLength: 1,
        maxLength: 200,
        description: "An id, or provider_N:id; left out: chosen for the task type",
        error: "The model is text of 1 to 200 characters.",
      }),
    ),
    taskType: t.Optional(t.String({ maxLength: 64, description: tasks, error: "The task type is text." })),
    stream: t.Optional(t.Union([t.Boolean(), t.Null()], { error: "stream is true or false." })),
    stream_options: t.Optional(
      t.Union([t.Object({}, { additionalProperties: true }), t.Null()], { error: "stream_options is an object." }),
    ),
    temperature: number(0, 2, "temperature"),
    top_p: number(0, 1, "top_p"),
    max_tokens: wholeNumber("max_tokens"),
    max_completion_tokens: wholeNumber("max_completion_tokens"),
    n: t.Optional(t.Integer({ minimum: 1, maximum: 128, error: "n is a whole number from 1 to 128." })),
  },
  { additionalProperties: true, error: "Send a JSON object with messages." },
);

/** Of what a chat answers; `x-berth-model` names who did. */
export const chatResponses = {
  200: {
    description:
      "The provider's chat completion, byte for byte; with stream: true its server-sent events as they come.",
    headers: { "x-berth-model": { description: "provider_N:id that answered", schema: { type: "string" as const } } },
    content: {
      "application/json": { schema: { type: "object" as const, additionalProperties: true } },
      "text/event-stream": { schema: { type: "string" as const } },
    },
  },
};

export const openAiModels = t.Object({
  object: t.Literal("list"),
  data: t.Array(t.Object({ id: t.String(), object: t.Literal("model"), created: t.Integer(), owned_by: t.String() })),
});
