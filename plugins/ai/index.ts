// The AI plugin: serves the models of all registered providers to API clients on the backend surface and to agents' turns.

import { Elysia } from "elysia";
import { AppError } from "../../src/kernel/errors.ts";
import { documentErrors } from "../../src/kernel/http/openapi/route-documentation.ts";
import { contextOf } from "../../src/kernel/http/request-context.ts";
import { openRoutes } from "../../src/kernel/http/route-guards.ts";
import { plugin } from "../../src/kernel/plugin.ts";
import { perMinute } from "../../src/kernel/security/rate-limits/rate-limiter.ts";
import { agentStats } from "../agent-stats/index.ts";
import { type Agent, agents } from "../agents/index.ts";
import { auth } from "../auth/index.ts";
import { createBilling } from "./billing.ts";
import { cacheHeader, parseCacheHeader } from "./cache/response-cache.ts";
import { createApiCalls } from "./calls/api-calls.ts";
import { chatErrors, chatRequestBody, chatResponses, parseChatBody } from "./calls/chat-request.ts";
import { embeddingsRequestBody, embeddingsResponses, parseEmbeddingsBody } from "./calls/embeddings-request.ts";
import { createPassthrough } from "./calls/passthrough.ts";
import { createProviderCalls } from "./calls/provider-calls.ts";
import { createLogPatterns } from "./calls/provider-errors.ts";
import { createTrafficMeter } from "./calls/traffic-meter.ts";
import { createTurnModels, type TurnModel } from "./calls/turn-models.ts";
import { demoFetch } from "./demo/demo-provider.ts";
import { createTurnCalls } from "./ledger/turn-calls.ts";
import { aiHealth, costEstimate, createModelSchemas, estimateBody, openAiModelList, selectBody } from "./model.ts";
import { modelRoutes } from "./models/model-routes.ts";
import { createAddressCheck } from "./operator/address-check.ts";
import { createOperatorProviders } from "./operator/operator-providers.ts";
import { createOperatorSettings } from "./operator/operator-settings.ts";
import { createStoredProviders } from "./operator/stored-providers.ts";
import { createCandidates } from "./providers/candidates.ts";
import { createCatalogue } from "./providers/catalogue.ts";
import { type CatalogueEntry, toWireModel } from "./providers/catalogue-entry.ts";
import { createPriceCheck } from "./providers/price-check.ts";
import { costUsd } from "./providers/pricing.ts";
import type { InputModality, ProviderId } from "./providers/provider.ts";
import { createProviderHealth } from "./providers/provider-health.ts";
import { createProviders } from "./providers/providers.ts";
import { warnAboutUnknownModels } from "./providers/unknown-model-warnings.ts";
import { createCallRecorder } from "./reports/call-figures.ts";
import { createProviderReports } from "./reports/provider-reports.ts";
import { budgetSettings, providerSettings } from "./settings.ts";
import { createAgentCosts } from "./usage/agent-costs.ts";

export { MAX_AGE_S } from "./cache/response-cache.ts";
export type { TurnCache } from "./cache/turn-caches.ts";
export { promptSize } from "./calls/prompt-size.ts";
export { MODEL_UNUSABLE } from "./calls/provider-errors.ts";
export type { TurnModel } from "./calls/turn-models.ts";
export type { BudgetScope, Reservation } from "./ledger/ledger.ts";
export { TURN_CALLS_SQL, type TurnCall } from "./ledger/turn-calls.ts";
export type { OperatorProviders } from "./operator/operator-providers.ts";
export { TRY_FAILURES } from "./operator/try-provider.ts";
export type { Model } from "./providers/catalogue-entry.ts";
export type { InputModality } from "./providers/provider.ts";
export type { ProviderReport } from "./reports/provider-reports.ts";
export { type DayRange, dateOf, MAX_DAYS, parseDayRange, type UsageTotals } from "./usage/usage-reports.ts";

export const ai = plugin("ai", (host) => {
  const { kernel } = host;
  const { config, limits, log, metrics } = kernel;
  const storedProviders = createStoredProviders(kernel);
  const { database } = kernel;
  const environment = config.of(providerSettings);
  const settings = createOperatorSettings({ environment, storedProviders, database });
  const { registry } = settings;
  const { modelList, providerModels, selectedModel } = createModelSchemas(registry);
  const authService = host.use(auth);
  const { identities } = authService;
  const agentService = host.use(agents);
  const checkAddress = createAddressCheck(kernel);
  const providers = createProviders({ settings, demo: demoFetch, checkAddress, log, ollamaUrl: environment.ollamaUrl });
  const health = createProviderHealth({ providers, metrics, log });
  const catalogue = createCatalogue({ providers, database, log });
  const candidates = createCandidates({ providers, health, catalogue });
  const { unknownPrice, publicMicroUsd } = config.of(budgetSettings);
  const prices = createPriceCheck({ catalogue, unknownPrice });
  const recorder = createCallRecorder();
  const calls = createProviderCalls({ health, metrics, recorder });
  const billing = createBilling({ kernel, authService, agents: agentService });
  const { ledger } = billing;
  const turnModels = createTurnModels({
    settings,
    providers,
    catalogue,
    candidates,
    prices,
    calls,
    ledger,
    trafficMeter: createTrafficMeter(host.use(agentStats).recordTraffic),
  });
  warnAboutUnknownModels({ agents: agentService, isOffered: catalogue.isOffered, log });
  const open = createApiCalls({
    candidates,
    catalogue,
    prices,
    passthrough: createPassthrough({ registry, calls, log }),
    ledger,
    budget: publicMicroUsd,
    cachedCall: billing.cachedCall,
    isUnlimited: billing.isUnlimited,
  });

  const tags = ["AI"];
  const now = () => new Date().toISOString();

  /** Takes from the rate limit and identifies the caller. Foreign bearer tokens are ignored, since OpenAI clients must send one. */
  async function admitCaller(request: Request): Promise<string | undefined> {
    const decision = limits.take("ai", contextOf(request).address);
    if (!decision.allowed) throw limits.tooManyRequests(decision);
    const otherKey = /^bearer (?!bk_)/i.test(request.headers.get("authorization") ?? "");
    return otherKey ? undefined : (await identities.authenticateOptional(request, "chat"))?.user.id;
  }

  const readApiCall = async <Body>(request: Request, body: () => Body) => {
    const userId = await admitCaller(request);
    const maxAgeS = parseCacheHeader(request.headers.get("x-berth-cache"));
    return { text: contextOf(request).bodyText ?? "", body: body(), signal: request.signal, userId, maxAgeS };
  };

  const chat = async ({ body, request }: { body: unknown; request: Request }) =>
    open.chat(await readApiCall(request, () => parseChatBody(body)));

  const toWireWithHealth = (entry: CatalogueEntry) =>
    toWireModel({ ...entry, available: entry.available && !candidates.isDown(entry.provider) });

  const backend = new Elysia({ name: "ai.backend" })
    .use(openRoutes)
    .use(billing.backend)
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
        detail: { tags, summary: "Which AI providers can be reached", ...documentErrors({ 503: "AI_UNAVAILABLE" }) },
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
      { open: true, response: { 200: modelList }, detail: { tags, summary: "All models" } },
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
        detail: { tags, summary: "One provider's models", ...documentErrors({ 404: "UNKNOWN_PROVIDER" }) },
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
          ...documentErrors({ 404: "NO_MODELS" }),
        },
      },
    )
    .post("/api/ai/chat", chat, {
      open: true,
      detail: {
        tags,
        summary: "Chat with a model, passed through",
        ...documentErrors(chatErrors),
        parameters: [cacheHeader],
        requestBody: chatRequestBody,
        responses: chatResponses,
      },
    })
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
        detail: { tags, summary: "What so many tokens would cost", ...documentErrors({ 400: "UNKNOWN_MODEL" }) },
      },
    )
    .post("/v1/chat/completions", chat, {
      open: true,
      detail: {
        tags,
        summary: "The same as /api/ai/chat, for OpenAI clients",
        description: "Errors have Berth's body, which OpenAI's own clients put into their exceptions as it is.",
        ...documentErrors(chatErrors),
        parameters: [cacheHeader],
        requestBody: chatRequestBody,
        responses: chatResponses,
      },
    })
    .post(
      "/v1/embeddings",
      async ({ body, request }) => open.embeddings(await readApiCall(request, () => parseEmbeddingsBody(body))),
      {
        open: true,
        detail: {
          tags,
          summary: "Embeddings, passed through, for OpenAI clients",
          ...documentErrors(chatErrors),
          parameters: [cacheHeader],
          requestBody: embeddingsRequestBody,
          responses: embeddingsResponses,
        },
      },
    )
    .get(
      "/v1/models",
      async () => {
        const models = (await catalogue.list()).filter(({ available }) => available);
        const seen = new Set<string>();
        const data = models.map(({ id, provider }) => {
          const isDuplicate = seen.has(id);
          seen.add(id);
          return {
            id: isDuplicate ? `${provider}:${id}` : id,
            object: "model" as const,
            created: 0,
            owned_by: provider,
          };
        });
        return { object: "list" as const, data };
      },
      {
        open: true,
        response: { 200: openAiModelList },
        detail: { tags, summary: "Available models, for OpenAI clients" },
      },
    );

  const modelSurfaces = modelRoutes({
    backend: kernel.backend,
    identities,
    agents: agentService,
    providers,
    catalogue,
    resolveTurnModel: turnModels.resolveTurnModel,
    labelOf: (provider) => settings.of(provider).label,
    isDown: candidates.isDown,
  });

  return {
    web: new Elysia({ name: "ai.web" }).use(billing.web).use(modelSurfaces.web),
    backend: backend.use(modelSurfaces.backend),
    rateLimitRules: { ai: { rates: [perMinute(120)], deferred: true } },
    // Keys of OpenRouter, OpenAI and Anthropic, of Groq, and of Google.
    secretPatterns: createLogPatterns(registry),
    service: {
      ...turnModels,
      /** The model and address for an agent that names only a provider. `baseUrl` is public, so it has no password. */
      providerConfig(provider: ProviderId) {
        const url = new URL(settings.of(provider).baseUrl);
        const publicBaseUrl = `${url.origin}${url.pathname.replace(/\/$/, "")}`;
        return {
          model: turnModels.modelOfProvider(provider),
          baseUrl: publicBaseUrl,
          requiresKey: registry.get(provider).credential.required,
        };
      },
      /** Each provider with its health and its last calls, for admins. */
      providerReports: createProviderReports({ providers, health, catalogue, calls: recorder }),
      isOperator: billing.isOperator,
      turnCache: billing.turnCache,
      /** The calls of models that turns have made, by the id of the inbox entry. */
      callsOfTurns: createTurnCalls({ database: kernel.database, ledger }),
      backupRows: billing.backupRows,
      /** The model that the agent's next turn would use. */
      async turnModelOf({ id, model }: Pick<Agent, "id" | "model">) {
        const settings = await agentService.settings(id);
        const keys = await agentService.credentials.providerKeys(id);
        return turnModels.resolveTurnModel({ choice: model, configModel: settings.model, keys });
      },
      /** Whether agents without a key of their own use the demo model, since no key is configured and no Ollama was found. */
      isDemo: providers.isDemo,
      spentMicroUsd: ledger.spentMicroUsd,
      agentCosts: createAgentCosts(kernel),
      isOffered: catalogue.isOffered,
      /** The models in force behind the choices `model_a` and `model_b`. */
      defaultModels: () => settings.models,
      /** The providers of the operator's keys, for admins. */
      operatorProviders: createOperatorProviders({ settings, providers, health, catalogue, checkAddress, log }),
      /** The kinds of files that a turn's model accepts. Called only for messages with files. */
      inputModalities: async ({ demo, provider, modelId }: TurnModel): Promise<readonly InputModality[]> =>
        demo ? [] : catalogue.inputModalities(provider, modelId),
    },
    async start() {
      await settings.load();
      health.start();
      await ledger.start();
    },
    async stop() {
      health.stop();
      await ledger.close();
    },
  };
});
