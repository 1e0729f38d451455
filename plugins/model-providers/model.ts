// Schemas of the admin API for model providers. No field holds a key.
import { t } from "elysia";
import { TRY_FAILURES } from "../ai/index.ts";

const literals = <Text extends string>(values: readonly Text[], description?: string) =>
  t.Unsafe<Text>(
    t.Union(
      values.map((value) => t.Literal(value)),
      description === undefined ? {} : { description },
    ),
  );
const orNull = <Schema extends Parameters<typeof t.Union>[0][number]>(schema: Schema) => t.Union([schema, t.Null()]);
const source = (description: string) => literals(["environment", "stored", "default"] as const, description);
const models = t.Object({ model_a: t.String(), model_b: t.String() }, { description: "Its models by default" });

export const provider = t.Object(
  {
    id: t.Unsafe<`provider_${number}`>(t.String({ description: "Such as `provider_1`" })),
    label: t.String(),
    source: literals(["environment", "stored", "none"], "Where its settings come from; the environment wins"),
    inUse: t.Boolean({ description: "Agents can use it on the operator's account" }),
    isOllama: t.Boolean({ description: "An Ollama that was found on this machine serves in its place" }),
    hasKey: t.Boolean(),
    requiresKey: t.Boolean(),
    keyEnd: orNull(t.String({ description: "The last four characters of the key; null for none and for short ones" })),
    keyStart: orNull(t.String({ description: "How its keys begin" })),
    keyPage: orNull(t.String({ description: "Where people make a key" })),
    keySource: source("Of the key; `default`: there is none"),
    keyVariable: t.String({ description: "The variable of the environment that sets the key" }),
    baseUrl: t.String({ description: "The address that is called, without a password" }),
    ownBaseUrl: t.String({ description: "The provider's own address" }),
    addressSource: source("Of the address"),
    addressVariable: t.String(),
    canChangeAddress: t.Boolean(),
    isOverridden: t.Boolean({ description: "A key is stored as well, but the one of the environment is used" }),
    health: orNull(literals(["up", "down", "resting", "unknown"], "`resting`: it failed repeatedly and is left alone")),
    defaultModels: models,
    updatedAt: orNull(t.String({ description: "ISO 8601: when it was stored" })),
  },
  { title: "ModelProvider" },
);

const chosenModel = t.Object(
  {
    choice: literals(["model_a", "model_b"]),
    model: t.String({ description: "`provider_N:id`" }),
    source: source("Of the choice"),
    variable: t.String(),
    isUsable: t.Boolean({ description: "False: its provider is not set up, so that another one's model serves" }),
  },
  { title: "DefaultModel" },
);

export const providerList = t.Object({
  providers: t.Array(provider),
  count: t.Integer(),
  serving: literals(["keys", "ollama", "demo"], "What serves agents without a key of their own"),
  ollama: t.Object({
    found: t.Boolean({ description: "It answers on this machine" }),
    hasModels: t.Boolean({ description: "Without a model it can't answer, and is not used" }),
    inUse: t.Boolean(),
    baseUrl: orNull(t.String()),
  }),
  models: t.Array(chosenModel),
});

const apiKey = t.Optional(
  orNull(t.String({ maxLength: 4096, description: "Null removes it", error: "Give the key as one word." })),
);
const baseUrl = t.Optional(
  orNull(
    t.String({
      maxLength: 2048,
      description: "Of a local server. Null: the provider's own",
      error: "Give an address.",
    }),
  ),
);

export const providerBody = t.Object({ apiKey, baseUrl });
export const tryBody = t.Object({
  apiKey,
  baseUrl,
  model: t.Optional(
    t.String({ minLength: 1, maxLength: 200, description: "The provider's own id", error: "Give a model's id." }),
  ),
});

const ms = t.Integer({ description: "Milliseconds" });
export const tryResult = t.Union([
  t.Object(
    {
      ok: t.Literal(true),
      model: t.String({ description: "As the provider names it" }),
      reply: t.String({ description: "Written by the model: show it as text" }),
      ms,
      costUsd: t.Number(),
    },
    { title: "ModelProviderReply" },
  ),
  t.Object(
    {
      ok: t.Literal(false),
      model: t.String(),
      reason: literals(TRY_FAILURES),
      message: t.String({ description: "For people: what is wrong and what to do" }),
      detail: orNull(t.String({ description: "What the provider said, without keys" })),
      ms,
    },
    { title: "ModelProviderFailure" },
  ),
]);

const modelName = (choice: string) =>
  t.Optional(
    orNull(
      t.String({
        maxLength: 300,
        description: `${choice}, as \`provider_N:id\`. Null: the built-in one`,
        error: "Give a model.",
      }),
    ),
  );
export const defaultModelsBody = t.Object({
  model_a: modelName("Behind the choice `model_a`, the default of agents"),
  model_b: modelName("Behind the choice `model_b`"),
});

export const modelsQuery = t.Object({
  query: t.Optional(t.String({ maxLength: 200, description: "A part of the model's id or name" })),
  limit: t.Optional(t.String({ description: "1 to 200; more counts as 200. Default 50" })),
  offset: t.Optional(t.String({ description: "0 or more. Default 0" })),
});

const price = orNull(t.Number({ description: "USD per million tokens; null: not known" }));
export const defaultModels = t.Object({
  models: t.Array(chosenModel),
  choices: t.Array(
    t.Object({
      model: t.String({ description: "`provider_N:id`" }),
      name: t.String(),
      provider: t.String({ description: "Name for people" }),
      inputUsdPerMillion: price,
      outputUsdPerMillion: price,
      contextWindow: t.Integer({ description: "Tokens" }),
    }),
    { description: "What the providers in use offer" },
  ),
  total: t.Integer({ description: "The number of all matches" }),
  limit: t.Integer(),
  offset: t.Integer(),
});
