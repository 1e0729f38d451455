// The AI layer: models of five providers behind one door, for everyone on the backend surface and for the agents' own turns.
import { Elysia } from "elysia";
import { AppError } from "../../src/errors.ts";
import { contextOf, openRoutes } from "../../src/http.ts";
import { mayAnswer } from "../../src/openapi/told.ts";
import { plugin } from "../../src/plugin.ts";
import { type Agent, agents } from "../agents/index.ts";
import { auth } from "../auth/index.ts";
import { figures } from "../figures/index.ts";
import { createCalls } from "./calls.ts";
import { createCandidates } from "./candidates.ts";
import { createCatalogue } from "./catalogue.ts";
import { chatErrors, chatRequest, chatResponses, readChatBody } from "./chat-request.ts";
import { demoFetch } from "./demo.ts";
import { embeddingsRequest, embeddingsResponses, readEmbeddingsBody } from "./embeddings-request.ts";
import { type Entry, toWire } from "./entries.ts";
import { createGateway } from "./gateway.ts";
import { createHealth } from "./health.ts";
import type { InputKind } from "./inputs.ts";
import { createMoney } from "./ledger-parts.ts";
import { createMetering } from "./metering.ts";
import {
  aiHealth,
  estimate,
  estimateBody,
  modelList,
  openAiModels,
  providerModels,
  selectBody,
  selected,
} from "./model.ts";
import { costUsd } from "./pricing.ts";
import { createProviders, type ProviderId, providerIds } from "./providers.ts";
import { createPublicCalls } from "./public-chat.ts";
import { cacheHeader, readCacheWish } from "./response-cache.ts";
import { createTurns, type TurnModel } from "./turns.ts";
import { warnOfUnknownModels } from "./unknown-models.ts";

export type { Model } from "./entries.ts";
export type { InputKind } from "./inputs.ts";
export type { Scope, Spending } from "./ledger.ts";
export { promptSize } from "./prompt-size.ts";
export { MAX_AGE_S } from "./response-cache.ts";
export type { TurnCache } from "./response-cache-turns.ts";
export type { TurnModel } from "./turns.ts";

export const ai = plugin("ai", (host) => {
  const { kernel } = host;
  const { config, limits, log, metrics } = kernel;
  const accounts = host.use(auth);
  const { identities } = accounts;
  const hosted = host.use(agents);
  const providers = createProviders({ settings: config.providers, demo: demoFetch, log });
  const health = createHealth({ providers, metrics, log });
  const catalogue = createCatalogue({ providers, log });
  const candidates = createCandidates({ providers, health, catalogue });
  const calls = createCalls({ health, metrics });
  const money = createMoney({ kernel, accounts, agents: hosted });
  const { ledger } = money;
  const turns = createTurns({
    config,
    providers,
    catalogue,
    candidates,
    calls,
    ledger,
    metering: createMetering(host.use(figures).traffic),
  });
  warnOfUnknownModels({ agents: hosted, offers: catalogue.offers, log });
  const open = createPublicCalls({
    candidates,
    catalogue,
    gateway: createGateway({ calls, log }),
    ledger,
    budget: config.publicBudgetMicroUsd,
    cached: money.cached,
  });

  const tags = ["AI"];
  const now = () => new Date().toISOString();

  /** Counts the call, and finds out who calls where that can be known; keys of other makes are what OpenAI clients must send. */
  async function enter(request: Request): Promise<string | undefined> {
    const decision = limits.take("ai", contextOf(request).address);
    if (!decision.allowed) throw limits.refusal(decision);
    const otherKey = /^bearer (?!bk_)/i.test(request.headers.get("authorization") ?? "");
    return otherKey ? undefined : (await identities.recognize(request, "chat"))?.user.id;
  }

  const callOf = async <Body>(request: Request, body: () => Body) => {
    const userId = await enter(request);
    const maxAgeS = readCacheWish(request.headers.get("x-berth-cache"));
    return { text: contextOf(request).bodyText ?? "", body: body(), signal: request.signal, userId, maxAgeS };
  };

  const chat = async ({ body, request }: { body: unknown; request: Request }) =>
    open.chat(await callOf(request, () => readChatBody(body)));

  const shown = (entry: Entry) =>
    toWire({ ...entry, available: entry.available && !candidates.isDown(entry.provider) });

  const backend = new Elysia({ name: "ai.backend" })
    .use(openRoutes)
    .use(money.backend)
    .get(
      "/api/ai/health",
      async () => {
        const up = await health.report();
        const down = providers.configured().filter(({ provider }) => !up[provider]);
        if (down.length === providers.configured().length) {
          const more = { status: "error", providers: up, timestamp: now() };
          throw new AppError(503, "AI_UNAVAILABLE", "No AI provider can be reached.", more);
        }
        const status = down.length === 0 ? ("healthy" as const) : ("degraded" as const);
        return { status, providers: up, demo: providers.isDemo(), timestamp: now() };
      },
      {
        open: true,
        response: { 200: aiHealth },
        detail: { tags, summary: "Which AI providers can be reached", ...mayAnswer({ 503: "AI_UNAVAILABLE" }) },
      },
    )
    .get(
      "/api/ai/models",
      async () => {
        const models = (await catalogue.list()).map(shown);
        const of = (id: string) => models.filter(({ provider }) => provider === id).length;
        return {
          models,
          count: models.length,
          provider_1: of("provider_1"),
          provider_2: of("provider_2"),
          provider_3: of("provider_3"),
          provider_4: of("provider_4"),
          provider_5: of("provider_5"),
          timestamp: now(),
        };
      },
      { open: true, response: { 200: modelList }, detail: { tags, summary: "All models" } },
    )
    .get(
      "/api/ai/models/:provider",
      async ({ params }) => {
        const provider = providerIds.find((id) => id === params.provider);
        if (!provider) {
          throw new AppError(
            404,
            "UNKNOWN_PROVIDER",
            `There is no such provider; there are ${providerIds.join(", ")}.`,
          );
        }
        const models = (await catalogue.list()).filter((one) => one.provider === provider).map(shown);
        return { provider, models, count: models.length, timestamp: now() };
      },
      {
        open: true,
        response: { 200: providerModels },
        detail: { tags, summary: "One provider's models", ...mayAnswer({ 404: "UNKNOWN_PROVIDER" }) },
      },
    )
    .post(
      "/api/ai/models/select",
      async ({ body: { taskType = "general" } }) => {
        const model = await candidates.best(taskType);
        if (!model) throw new AppError(404, "NO_MODELS", "No model is available.");
        return { model: toWire(model), taskType, timestamp: now() };
      },
      {
        open: true,
        body: selectBody,
        response: { 200: selected },
        detail: {
          tags,
          summary: "The best model available for a task: suited first, then cheapest",
          ...mayAnswer({ 404: "NO_MODELS" }),
        },
      },
    )
    .post("/api/ai/chat", chat, {
      open: true,
      detail: {
        tags,
        summary: "Chat with a model, passed through",
        ...mayAnswer(chatErrors),
        parameters: [cacheHeader],
        requestBody: chatRequest,
        responses: chatResponses,
      },
    })
    .post(
      "/api/ai/estimate-cost",
      ({ body: { model, inputTokens, outputTokens } }) => {
        const entry = catalogue.find(model);
        if (!entry?.priceKnown) throw new AppError(400, "UNKNOWN_MODEL", "The price of this model is not known.");
        const estimatedCost = costUsd(entry.pricing, inputTokens, outputTokens);
        return { model, inputTokens, outputTokens, estimatedCost, currency: "USD" as const, timestamp: now() };
      },
      {
        open: true,
        body: estimateBody,
        response: { 200: estimate },
        detail: { tags, summary: "What so many tokens would cost", ...mayAnswer({ 400: "UNKNOWN_MODEL" }) },
      },
    )
    .post("/v1/chat/completions", chat, {
      open: true,
      detail: {
        tags,
        summary: "The same as /api/ai/chat, for OpenAI clients",
        description: "Errors have Berth's body, which OpenAI's own clients put into their exceptions as it is.",
        ...mayAnswer(chatErrors),
        parameters: [cacheHeader],
        requestBody: chatRequest,
        responses: chatResponses,
      },
    })
    .post(
      "/v1/embeddings",
      async ({ body, request }) => open.embeddings(await callOf(request, () => readEmbeddingsBody(body))),
      {
        open: true,
        detail: {
          tags,
          summary: "Embeddings, passed through, for OpenAI clients",
          ...mayAnswer(chatErrors),
          parameters: [cacheHeader],
          requestBody: embeddingsRequest,
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
          const taken = seen.has(id);
          seen.add(id);
          return { id: taken ? `${provider}:${id}` : id, object: "model" as const, created: 0, owned_by: provider };
        });
        return { object: "list" as const, data };
      },
      {
        open: true,
        response: { 200: openAiModels },
        detail: { tags, summary: "Available models, for OpenAI clients" },
      },
    );

  return {
    web: money.web,
    backend,
    service: {
      ...turns,
      /** What an agent gets that names no more than its provider. `baseUrl` is shown to anybody: no password is in it. */
      providerConfig(provider: ProviderId) {
        const url = new URL(config.providers[provider].baseUrl);
        const shown = `${url.origin}${url.pathname.replace(/\/$/, "")}`;
        return { model: turns.modelOfProvider(provider), baseUrl: shown, requiresKey: provider !== "provider_3" };
      },
      turnCache: money.turnCache,
      estate: money.estate,
      /** The model that this agent's next turn would use. */
      async modelOf({ id, model }: Pick<Agent, "id" | "model">) {
        const settings = await hosted.settings(id);
        const keys = await hosted.credentials.providerKeys(id);
        return turns.resolveTurnModel({ choice: model, configModel: settings.model, keys });
      },
      /** No key is configured and no Ollama answers: what was not given a key of its own speaks with the demo model. */
      isDemo: providers.isDemo,
      spent: ledger.spent,
      offers: catalogue.offers,
      /** What a turn's model takes beside text. Asked only when there is something. */
      inputsOf: async ({ demo, provider, modelId }: TurnModel): Promise<readonly InputKind[]> =>
        demo ? [] : catalogue.inputs(provider, modelId),
    },
    async start() {
      health.start();
      await ledger.start();
    },
    async stop() {
      health.stop();
      await ledger.close();
    },
  };
});
