// The AI plugin: serves the models of all registered providers to API clients on the backend surface and to agents' turns.

import { plugin } from "../../src/kernel/plugin.ts";
import { perMinute } from "../../src/kernel/security/rate-limits/rate-limiter.ts";
import { once } from "../../src/kernel/util/cache.ts";
import { agentStats } from "../agent-stats/index.ts";
import { type Agent, agents } from "../agents/index.ts";
import { auth } from "../auth/index.ts";
import { createBilling } from "./billing.ts";
import { createApiCallers } from "./calls/api-callers.ts";
import { createApiCalls } from "./calls/api-calls.ts";
import { createPassthrough } from "./calls/passthrough.ts";
import { createProviderCalls } from "./calls/provider-calls.ts";
import { createLogPatterns } from "./calls/provider-errors.ts";
import { createTrafficMeter } from "./calls/traffic-meter.ts";
import { createTurnModels, type TurnModel } from "./calls/turn-models.ts";
import { chatRoute } from "./chat-route.ts";
import { demoFetch } from "./demo/demo-provider.ts";
import { createEmbedder } from "./embeddings/embedder.ts";
import { createTurnCalls } from "./ledger/turn-calls.ts";
import { createAddressCheck } from "./operator/address-check.ts";
import { createOperatorSettings } from "./operator/operator-settings.ts";
import { createStoredProviders } from "./operator/stored-providers.ts";
import { createCandidates } from "./providers/candidates.ts";
import { createCatalogue } from "./providers/catalogue.ts";
import { createPriceCheck } from "./providers/price-check.ts";
import type { InputModality, ProviderId } from "./providers/provider.ts";
import { createProviderHealth } from "./providers/provider-health.ts";
import { createProviders } from "./providers/providers.ts";
import { warnAboutUnknownModels } from "./providers/unknown-model-warnings.ts";
import { createCallRecorder } from "./reports/call-figures.ts";
import { createProviderReports } from "./reports/provider-reports.ts";
import { audioSettings, budgetSettings, embeddingSettings, pictureSettings, providerSettings } from "./settings.ts";

export type { Speaker, Transcriber } from "./audio/audio.ts";
export { cacheHeader, MAX_AGE_S } from "./cache/response-cache.ts";
export type { TurnCache } from "./cache/turn-caches.ts";
export { type ApiCaller, type ApiCallers, readApiCall } from "./calls/api-callers.ts";
export type { ApiCall } from "./calls/api-calls.ts";
export {
  type ChatBody,
  chatErrors,
  chatRequestBody,
  chatResponses,
  parseChatBody,
} from "./calls/chat-request.ts";
export { embeddingsRequestBody, embeddingsResponses, parseEmbeddingsBody } from "./calls/embeddings-request.ts";
export { promptSize } from "./calls/prompt-size.ts";
export { isProviderAway, MODEL_UNUSABLE } from "./calls/provider-errors.ts";
export type { TurnModel } from "./calls/turn-models.ts";
export { createEmbedder, type Embedder } from "./embeddings/embedder.ts";
export { fuse } from "./embeddings/fusion.ts";
export { createVectorIndex, type VectorIndex } from "./embeddings/vector-index.ts";
export { MICRO_USD_PER_CREDIT } from "./ledger/account-balances.ts";
export type { BudgetScope, Reservation } from "./ledger/ledger.ts";
export { budgetOf } from "./ledger/plan-allowance.ts";
export { TURN_CALLS_SQL, type TurnCall } from "./ledger/turn-calls.ts";
export type { MediaPayment } from "./media/media-calls.ts";
export type { OperatorProviders } from "./operator/operator-providers.ts";
export { TRY_FAILURES } from "./operator/try-provider.ts";
export type { Painter } from "./pictures/pictures.ts";
export type { Model } from "./providers/catalogue-entry.ts";
export type { InputModality, PictureShape } from "./providers/provider.ts";
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
  const authService = host.use(auth);
  const { identities } = authService;
  const agentService = host.use(agents);
  const agentStatsService = host.use(agentStats);
  const checkAddress = createAddressCheck(kernel);
  const providers = createProviders({ settings, demo: demoFetch, checkAddress, log, ollamaUrl: environment.ollamaUrl });
  const health = createProviderHealth({ providers, metrics, log });
  const catalogue = createCatalogue({ providers, database, log });
  const candidates = createCandidates({ providers, health, catalogue });
  const { unknownPrice, publicMicroUsd } = config.of(budgetSettings);
  const prices = createPriceCheck({ catalogue, unknownPrice });
  const recorder = createCallRecorder();
  const calls = createProviderCalls({ health, metrics, recorder });
  const billing = createBilling({
    kernel,
    authService,
    agents: agentService,
    agentStats: agentStatsService,
    isKnownModel: catalogue.isListed,
  });
  const { ledger } = billing;
  const turnModels = createTurnModels({
    settings,
    providers,
    catalogue,
    candidates,
    prices,
    calls,
    ledger,
    trafficMeter: createTrafficMeter(agentStatsService.recordTraffic),
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

  const { isDown } = candidates;
  const mediaModels = { providers, isDown, unknownPrice };
  const audio = once(async () => {
    const { createAudio } = await import("./audio/audio.ts");
    const operator = config.of(audioSettings);
    return createAudio({
      models: mediaModels,
      calls: { calls, ledger, registry },
      agents: agentService,
      operator,
    });
  });

  const pictures = once(async () => {
    const { createPictures } = await import("./pictures/pictures.ts");
    return createPictures({
      models: mediaModels,
      calls: { calls, ledger, registry },
      agents: agentService,
      operatorModel: config.of(pictureSettings).model,
    });
  });

  const apiMedia = once(async () => {
    const { createApiMedia } = await import("./api-media/api-media.ts");
    const { transcription, speech } = config.of(audioSettings);
    return createApiMedia({
      models: mediaModels,
      calls: { calls, ledger, registry },
      publicBudget: publicMicroUsd,
      isUnlimited: billing.isUnlimited,
      operator: { transcription, speech, pictures: config.of(pictureSettings).model },
    });
  });

  agentService.registerConfigCheck(async (agentId, agentSettings) => {
    const { voice, transcription, pictures: painting } = agentSettings;
    if (!voice && !transcription?.model && !painting?.model) return [];
    const { createMediaWarnings } = await import("./media/media-warnings.ts");
    const operatorSpeech = config.of(audioSettings).speech;
    const warnings = createMediaWarnings({ models: mediaModels, operatorSpeech });
    return warnings(agentSettings, await agentService.credentials.providerKeys(agentId));
  });

  const { model: embeddingModel } = config.of(embeddingSettings);
  const callers = createApiCallers({ limits, backend: kernel.backend, identities });
  const modelSurfaces = once(async () =>
    (await import("./models/model-routes.ts")).modelRoutes({
      backend: kernel.backend,
      identities,
      agents: agentService,
      providers,
      catalogue,
      resolveTurnModel: turnModels.resolveTurnModel,
      labelOf: (provider) => settings.of(provider).label,
      isDown,
    }),
  );

  return {
    backend: chatRoute({ callers, open }),
    lateRoutes: {
      web: [...billing.lateRoutes.web, async () => (await modelSurfaces()).web],
      backend: [
        ...billing.lateRoutes.backend,
        async () =>
          (await import("./models/model-info-routes.ts")).modelInfoRoutes({
            candidates,
            catalogue,
            health,
            providers,
            registry,
          }),
        async () => (await modelSurfaces()).backend,
      ],
    },
    rateLimitRules: { ai: { rates: [perMinute(120)], deferred: true } },
    // Keys of OpenRouter, OpenAI and Anthropic, of Groq, and of Google.
    secretPatterns: createLogPatterns(registry),
    service: {
      ...turnModels,
      /** The calls of API clients on the operator's keys, which pay for them from their account or the public budget. */
      api: { callers, chat: open.chat, embeddings: open.embeddings, models: catalogue.list, media: apiMedia },
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
      /** Undefined without an embedding model. */
      embedder: embeddingModel === undefined ? undefined : createEmbedder(open, embeddingModel),
      /** The model that writes down recordings for an agent. */
      transcriberFor: async (agent: Pick<Agent, "id" | "userId">) => (await audio()).transcriberFor(agent),
      /** The model that reads replies of an agent aloud. */
      speakerFor: async (agent: Pick<Agent, "id" | "userId">) => (await audio()).speakerFor(agent),
      /** The model that makes pictures for an agent; undefined if no provider of the agent or the operator has one. */
      painterFor: async (agent: Pick<Agent, "id" | "userId">) => (await pictures()).painterFor(agent),
      /** Each provider with its health and its last calls, for admins. */
      providerReports: createProviderReports({ providers, health, catalogue, calls: recorder }),
      /** Adds the last calls to the sums of accounts. Call it before reading these. */
      addUp: () => billing.ledger.addUp(),
      isOperator: billing.isOperator,
      turnCache: billing.turnCache,
      forgetResponses: billing.forgetResponses,
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
      agentCosts: billing.agentCosts,
      isOffered: catalogue.isOffered,
      /** The models in force behind the choices `model_a` and `model_b`. */
      defaultModels: () => settings.models,
      /** The providers of the operator's keys, for admins. Loaded at the first use. */
      operatorProviders: once(async () =>
        (await import("./operator/operator-providers.ts")).createOperatorProviders({
          settings,
          providers,
          health,
          catalogue,
          checkAddress,
          log,
        }),
      ),
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
