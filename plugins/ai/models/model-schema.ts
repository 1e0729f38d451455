// Schemas of the catalogue for people who choose a model.
import { t } from "elysia";

const optionalText = (description: string) => t.Optional(t.String({ description }));
const nullable = <Schema extends Parameters<typeof t.Union>[0][number]>(schema: Schema) => t.Union([schema, t.Null()]);

export const modelsQuery = t.Object({
  query: t.Optional(
    t.String({ maxLength: 100, description: "Words that id, name or description contain, in any case" }),
  ),
  provider: optionalText("Only the models of this provider"),
  available: optionalText("1: only models that can be called now, on the operator's keys"),
  agentId: optionalText("One of your agents: the choices are those of its keys"),
  limit: optionalText("1 to 500, default 100"),
  offset: optionalText("Default 0"),
});

const price = {
  inputCost: t.Number({ description: "USD per million input tokens" }),
  outputCost: t.Number({ description: "USD per million output tokens" }),
  priceKnown: t.Boolean({ description: "False: the price is the dearest of the provider" }),
};

const model = t.Object({
  reference: t.String({ description: "What a configuration names as `model`: `provider_N:id`" }),
  id: t.String({ description: "The provider's own id" }),
  name: t.String(),
  provider: t.String(),
  providerName: t.String(),
  description: t.String(),
  tags: t.Array(t.String(), { description: "Task types" }),
  ...price,
  contextWindow: nullable(t.Number({ description: "Tokens; null if it is not known" })),
  available: t.Boolean({ description: "Can be called now, on the operator's keys" }),
  inputs: t.Array(t.String(), { description: "Files that it accepts beside text: image, audio, ogg, pdf" }),
  tools: nullable(t.Boolean({ description: "Whether it can call tools; null if its provider does not say" })),
});

const choice = t.Object(
  {
    reference: nullable(t.String({ description: "null: the demo model" })),
    name: t.String(),
    provider: t.String(),
    providerName: t.String(),
    ...price,
    contextWindow: nullable(t.Number()),
    ownKey: t.Boolean({
      description: "The call is made with the agent's or its owner's key, who pay the provider themselves",
    }),
    demo: t.Boolean(),
  },
  { title: "ModelChoice" },
);

export const modelCatalogue = t.Object({
  models: t.Array(model),
  count: t.Integer({ description: "Models in this page" }),
  total: t.Integer({ description: "Models that match" }),
  providers: t.Array(t.Object({ id: t.String(), name: t.String(), configured: t.Boolean(), models: t.Integer() }), {
    description: "All providers, with the number of their models",
  }),
  choices: t.Object({ model_a: choice, model_b: choice }, { description: "What the choices stand for now" }),
  demo: t.Boolean({ description: "The built-in demo model serves, for want of a key" }),
});
