// The backend's routes by which API clients learn of models: which there are, their prices, and whether they can be reached.
import { Elysia } from "elysia";
import { AppError } from "../../../src/kernel/errors.ts";
import { documentErrors } from "../../../src/kernel/http/openapi/route-documentation.ts";
import { openRoutes } from "../../../src/kernel/http/route-guards.ts";
import { aiHealth, costEstimate, createModelSchemas, estimateBody, selectBody } from "../model.ts";
import type { createCandidates } from "../providers/candidates.ts";
import type { createCatalogue } from "../providers/catalogue.ts";
import { type CatalogueEntry, toWireModel } from "../providers/catalogue-entry.ts";
import { costUsd } from "../providers/pricing.ts";
import type { ProviderId } from "../providers/provider.ts";
import type { createProviderHealth } from "../providers/provider-health.ts";
import type { createProviders } from "../providers/providers.ts";
import type { ProviderRegistry } from "../providers/registry.ts";

interface Deps {
  candidates: ReturnType<typeof createCandidates>;
  catalogue: ReturnType<typeof createCatalogue>;
  health: ReturnType<typeof createProviderHealth>;
  providers: ReturnType<typeof createProviders>;
  registry: ProviderRegistry;
}

export function modelInfoRoutes({ candidates, catalogue, health, providers, registry }: Deps) {
  const { modelList, providerModels, selectedModel } = createModelSchemas(registry);
  const tags = ["AI"];
  const now = () => new Date().toISOString();

  const toWireWithHealth = (entry: CatalogueEntry) =>
    toWireModel({ ...entry, available: entry.available && !candidates.isDown(entry.provider) });

  return new Elysia({ name: "ai.model-info" })
    .use(openRoutes)
    .get(
      "/api/ai/health",
      async () => {
        const reachable = await health.report();
        const unreachable = providers.configuredUpstreams().filter(({ provider }) => !reachable[provider]);
        if (unreachable.length === providers.configuredUpstreams().length) {
          const details = { status: "error", providers: reachable, timestamp: now() };
          throw new AppError(503, "AI_UNAVAILABLE", "No AI provider can be reached.", details);
        }
        const status = unreachable.length === 0 ? ("healthy" as const) : ("degraded" as const);
        return { status, providers: reachable, demo: providers.isDemo(), timestamp: now() };
      },
      {
        open: true,
        response: { 200: aiHealth },
        detail: {
          tags,
          summary: "Which AI providers can be reached",
          description:
            "`providers` has each provider's reachability; 503 if none can be reached. `demo` is true while the built-in demo model answers.",
          ...documentErrors({ 503: "AI_UNAVAILABLE" }),
        },
      },
    )
    .get(
      "/api/ai/models",
      async () => {
        const models = (await catalogue.list()).map(toWireWithHealth);
        const countOf = (id: ProviderId) => models.filter(({ provider }) => provider === id).length;
        const counts: Record<ProviderId, number> = Object.fromEntries(registry.ids.map((id) => [id, countOf(id)]));
        return { models, count: models.length, ...counts, timestamp: now() };
      },
      {
        open: true,
        response: { 200: modelList },
        detail: {
          tags,
          summary: "All models",
          description:
            "Prices are US dollars for a million tokens. The numbers of models by provider are beside the list.",
        },
      },
    )
    .get(
      "/api/ai/models/:provider",
      async ({ params }) => {
        const provider = registry.find(params.provider)?.id;
        if (!provider) {
          throw new AppError(
            404,
            "UNKNOWN_PROVIDER",
            `There is no such provider; there are ${registry.ids.join(", ")}.`,
          );
        }
        const models = (await catalogue.list()).filter((one) => one.provider === provider).map(toWireWithHealth);
        return { provider, models, count: models.length, timestamp: now() };
      },
      {
        open: true,
        response: { 200: providerModels },
        detail: {
          tags,
          summary: "One provider's models",
          description: "The same rows as `GET /api/ai/models`, of one provider.",
          operationId: "listProviderModels",
          ...documentErrors({ 404: "UNKNOWN_PROVIDER" }),
        },
      },
    )
    .post(
      "/api/ai/models/select",
      async ({ body: { taskType = "general" } }) => {
        const model = await candidates.bestForTask(taskType);
        if (!model) throw new AppError(404, "NO_MODELS", "No model is available.");
        return { model: toWireModel(model), taskType, timestamp: now() };
      },
      {
        open: true,
        body: selectBody,
        response: { 200: selectedModel },
        detail: {
          tags,
          summary: "The best model available for a task: suited first, then cheapest",
          description: "`taskType` is such as `coding` or `chat`. Providers without a key are left out.",
          operationId: "selectModel",
          ...documentErrors({ 404: "NO_MODELS" }),
        },
      },
    )
    .post(
      "/api/ai/estimate-cost",
      async ({ body: { model, inputTokens, outputTokens } }) => {
        const entry = await catalogue.find(model);
        if (!entry?.priceKnown) throw new AppError(400, "UNKNOWN_MODEL", "The price of this model is not known.");
        const estimatedCost = costUsd(entry.pricing, inputTokens, outputTokens);
        return { model, inputTokens, outputTokens, estimatedCost, currency: "USD" as const, timestamp: now() };
      },
      {
        open: true,
        body: estimateBody,
        response: { 200: costEstimate },
        detail: {
          tags,
          summary: "What so many tokens would cost",
          description: "By the same prices that calls are charged with.",
          operationId: "estimateCost",
          ...documentErrors({ 400: "UNKNOWN_MODEL" }),
        },
      },
    );
}
