// Models for the agents' own turns: which one, with whose key, and what it may cost.

import type { LanguageModelV4, LanguageModelV4Prompt } from "@ai-sdk/provider";
import type { SettingsOf } from "../../../src/kernel/config/config.ts";
import type { BudgetScope, Ledger, Reservation } from "../ledger/ledger.ts";
import type { Candidates } from "../providers/candidates.ts";
import type { Catalogue } from "../providers/catalogue.ts";
import { canonicalModelId, DEMO_ENTRY } from "../providers/catalogue-entry.ts";
import { costMicroUsd, estimateTokensUpperBound, type Pricing } from "../providers/pricing.ts";
import type { ProviderId } from "../providers/provider.ts";
import type { Providers, Upstream } from "../providers/providers.ts";
import type { providerSettings } from "../settings.ts";
import { relabelOggRequests, withOggAudio } from "./ogg-audio.ts";
import { promptSize } from "./prompt-size.ts";
import type { ProviderCalls } from "./provider-calls.ts";
import type { TrafficMeter } from "./traffic-meter.ts";
import { createTurnCalls } from "./turn-calls.ts";

/** The model of one turn. */
export interface TurnModel {
  readonly provider: ProviderId;
  /** The provider's own id. */
  readonly modelId: string;
  /** Undefined: a server without keys, or the demo. Never to be logged or shown. */
  readonly apiKey: string | undefined;
  /** `provider_N:id`, or `demo (built-in demo model)`: as it is shown to people. */
  readonly label: string;
  readonly demo: boolean;
  readonly pricing: Pricing;
  /** Tokens; undefined when nobody told us. */
  readonly contextWindow: number | undefined;
  /** The key is the agent's or its owner's: they pay the provider themselves. */
  readonly ownKey: boolean;
  /** This provider and no other: it was named, or the key is its. */
  readonly isPinned: boolean;
}

export interface ModelSelection {
  choice: "model_a" | "model_b" | "custom";
  /** What `custom` means: `provider_N:id`, or a bare id. */
  configModel?: string | undefined;
  /** Keys of the agent or its owner; they go before the operator's. */
  keys: Readonly<Partial<Record<ProviderId, string>>>;
}

export interface TurnReservationRequest {
  agent: { id: string; userId: string };
  model: TurnModel;
  budget: { usdPerDay?: number; usdPerMonth?: number } | undefined;
  prompt: LanguageModelV4Prompt;
  /** The most tokens the reply may have, if that is limited. */
  maxTokens: number | undefined;
}

/** Output tokens set aside for a turn without a limit of its own; what it really uses is settled. */
const DEFAULT_OUTPUT_TOKENS = 4_096;
const MAX_OUTPUT_TOKENS = 200_000;
/** Models that are kept, each with its client. */
const MAX_CACHED_CLIENTS = 1_000;

interface Deps {
  settings: Pick<SettingsOf<typeof providerSettings>, "models">;
  providers: Providers;
  catalogue: Catalogue;
  candidates: Pick<Candidates, "alternatives">;
  calls: ProviderCalls;
  ledger: Ledger;
  /** Counts bytes of calls. */
  trafficMeter: TrafficMeter;
}

export function createTurnModels({ settings, providers, catalogue, candidates, calls, ledger, trafficMeter }: Deps) {
  const { registry } = providers;
  const turnCalls = createTurnCalls({ calls });
  const models = new Map<string, Promise<LanguageModelV4>>();

  /** Whoever can serve this provider: the agent's own key first. */
  function upstreamFor(provider: ProviderId, keys: ModelSelection["keys"]): Upstream | undefined {
    const own = keys[provider];
    return own === undefined ? providers.operatorUpstream(provider) : providers.upstreamWithKey(provider, own);
  }

  /** Providers in the order in which they are asked when none is named. */
  function usableProviders(keys: ModelSelection["keys"]): ProviderId[] {
    const own = registry.ids.filter((id) => keys[id] !== undefined);
    const others = providers.configuredUpstreams().filter(({ demo, provider }) => !demo && !own.includes(provider));
    return [...own, ...others.map(({ provider }) => provider)];
  }

  function defaultModel(choice: "model_a" | "model_b", keys: ModelSelection["keys"]) {
    const named = settings.models[choice];
    const eligible = usableProviders(keys);
    if (eligible.includes(named.provider)) return { provider: named.provider, modelId: named.model };
    const provider = eligible[0];
    if (!provider) return undefined;
    const local = providers.operatorUpstream(provider)?.local ? catalogue.listedModels(provider) : [];
    const modelId = local[choice === "model_b" ? Math.min(1, local.length - 1) : 0]?.id;
    return { provider, modelId: modelId ?? registry.get(provider).defaultModels[choice] };
  }

  /** The model that a provider answers with where it alone is named; its own id. */
  function modelOfProvider(provider: ProviderId): string {
    const { provider: first, model } = settings.models.model_a;
    if (first === provider) return model;
    const local = providers.operatorUpstream(provider)?.local ? catalogue.listedModels(provider)[0]?.id : undefined;
    return local ?? registry.get(provider).defaultModels.model_a;
  }

  function customModel(reference: string, keys: ModelSelection["keys"]) {
    const named = registry.parseReference(reference);
    if (named) return upstreamFor(named.provider, keys)?.demo === false ? named : undefined;
    const eligible = usableProviders(keys);
    const listed = eligible.flatMap((provider) => catalogue.listedModels(provider));
    const exact = listed.find(({ id }) => id === reference);
    const same = exact ?? listed.find(({ id }) => canonicalModelId(id) === canonicalModelId(reference));
    if (same) return { provider: same.provider, modelId: same.id };
    return eligible[0] ? { provider: eligible[0], modelId: reference } : undefined;
  }

  /**
   * Which model a turn uses: the agent's or owner's key before the operator's, the named model before a usual one, the
   * demo where nothing else can serve. Answers at once, but for the first moments of a process that looks for an Ollama.
   */
  function resolveTurnModel(selection: ModelSelection): TurnModel | Promise<TurnModel> {
    const ready = catalogue.untilReady();
    return ready ? ready.then(() => selectModel(selection)) : selectModel(selection);
  }

  function selectModel({ choice, configModel, keys }: ModelSelection): TurnModel {
    const custom = choice === "custom" && configModel ? customModel(configModel, keys) : undefined;
    const wanted = custom ?? defaultModel(choice === "model_b" ? "model_b" : "model_a", keys);
    const upstream = wanted && upstreamFor(wanted.provider, keys);
    if (!wanted || !upstream || upstream.demo) return DEMO_MODEL;
    const { provider, modelId } = wanted;
    const { pricing, contextWindow, windowKnown } = catalogue.entry(provider, modelId);
    return {
      provider,
      modelId,
      apiKey: upstream.apiKey,
      label: `${provider}:${modelId}`,
      demo: false,
      pricing,
      contextWindow: windowKnown ? contextWindow : undefined,
      ownKey: keys[provider] !== undefined,
      isPinned:
        keys[provider] !== undefined ||
        (custom !== undefined && registry.parseReference(configModel ?? "") !== undefined),
    };
  }

  function upstreamOf({ provider, apiKey, demo, ownKey }: TurnModel): Upstream | undefined {
    if (demo) return undefined;
    return ownKey && apiKey !== undefined
      ? providers.upstreamWithKey(provider, apiKey)
      : providers.operatorUpstream(provider);
  }

  /** Who else may answer in its place, and is paid by the same. */
  const alternativesTo = ({ isPinned, provider, modelId }: TurnModel) =>
    isPinned ? [] : candidates.alternatives(provider, modelId);

  async function createClient(model: TurnModel, upstream: Upstream): Promise<LanguageModelV4> {
    const { createOpenAI } = await import("@ai-sdk/openai");
    const send = trafficMeter.meteredFetch(turnCalls.fetch(upstream, () => alternativesTo(model)));
    const acceptsOgg = registry.get(model.provider).capabilities.oggAudio;
    const provider = createOpenAI({
      apiKey: model.apiKey ?? "none",
      baseURL: upstream.baseUrl,
      name: model.provider,
      fetch: asGlobalFetch(acceptsOgg ? relabelOggRequests(send) : send),
    });
    const chat = provider.chat(model.modelId);
    return acceptsOgg ? withOggAudio(chat) : chat;
  }

  /**
   * The model behind the AI SDK's provider interface, `doStream` and `doGenerate`, for calls in an agent's name. The SDK is
   * loaded at the first call; a client is kept for each model and key.
   */
  async function languageModel(model: TurnModel, agentId: string): Promise<LanguageModelV4> {
    const shared = await sharedClient(model);
    return trafficMeter.attributeTo(agentId, model.isPinned ? shared : turnCalls.trackServed(shared));
  }

  function sharedClient(model: TurnModel): Promise<LanguageModelV4> {
    const upstream = upstreamOf(model) ?? providers.demo;
    const key = `${clientKey(model, upstream)} ${model.isPinned} ${model.modelId}`;
    let made = models.get(key);
    if (!made) {
      made = createClient(model, upstream);
      cachePromise(models, key, made, MAX_CACHED_CLIENTS);
    }
    return made;
  }

  /**
   * Puts aside what a turn may cost: within the agent's budget, and on the operator's keys within its owner's plan and
   * credits. Throws 402 BUDGET_EXCEEDED; where something has to be read first, rejects with it. Calls on the agent's own
   * key count for its budget as well, which is the owner's word.
   */
  function reserve({
    agent,
    model,
    budget,
    prompt,
    maxTokens,
  }: TurnReservationRequest): Reservation | Promise<Reservation> {
    const { provider, modelId, pricing, ownKey } = model;
    const call = { kind: "turn" as const, agentId: agent.id, userId: agent.userId, provider, modelId, pricing, ownKey };
    const eligible = [model, ...alternativesTo(model)];
    if (eligible.every(isFree)) return withServedPriceWhenReserved(ledger.reserve(call, [], 0), prompt);
    const { text, fileTokens } = promptSize(prompt);
    const inputTokens = estimateTokensUpperBound(text) + fileTokens;
    const outputTokens = Math.min(maxTokens ?? DEFAULT_OUTPUT_TOKENS, MAX_OUTPUT_TOKENS);
    const maxMicroUsd = Math.max(...eligible.map((one) => costMicroUsd(one.pricing, inputTokens, outputTokens)));
    const scopes = budgetScopes(agent.id, budget);
    return withServedPriceWhenReserved(
      ledger.reserve(call, scopes, maxMicroUsd, { inputTokens, outputTokens }),
      prompt,
    );
  }

  function withServedPriceWhenReserved(reserved: Reservation | Promise<Reservation>, prompt: LanguageModelV4Prompt) {
    return reserved instanceof Promise
      ? reserved.then((one) => withServedPrice(one, prompt))
      : withServedPrice(reserved, prompt);
  }

  /** The same spending, at the price of whoever answers in the end. */
  const withServedPrice = (reservation: Reservation, prompt: LanguageModelV4Prompt): Reservation => ({
    settleStatement: (usage, latencyMs, served = turnCalls.servedBy(prompt)) =>
      reservation.settleStatement(usage, latencyMs, served),
    record: (usage, latencyMs, served = turnCalls.servedBy(prompt)) => reservation.record(usage, latencyMs, served),
    release: () => reservation.release(),
  });

  return { resolveTurnModel, modelOfProvider, languageModel, reserve };
}

export const DEMO_MODEL: TurnModel = {
  provider: DEMO_ENTRY.provider,
  modelId: DEMO_ENTRY.id,
  apiKey: undefined,
  label: "demo (built-in demo model)",
  demo: true,
  pricing: DEMO_ENTRY.pricing,
  contextWindow: DEMO_ENTRY.contextWindow,
  ownKey: false,
  isPinned: true,
};

const isFree = ({ pricing }: Pick<TurnModel, "pricing">) => pricing.input === 0 && pricing.output === 0;

function budgetScopes(agentId: string, budget: TurnReservationRequest["budget"]): BudgetScope[] {
  const { usdPerDay, usdPerMonth } = budget ?? {};
  const of = { agentId };
  return [
    ...(usdPerDay === undefined ? [] : [{ of, period: "day" as const, limit: Math.round(usdPerDay * 1e6) }]),
    ...(usdPerMonth === undefined ? [] : [{ of, period: "month" as const, limit: Math.round(usdPerMonth * 1e6) }]),
  ];
}

/** Where a provider is and how it is entered. Keys are told apart by their hash, so that none is kept as a map's key. */
const clientKey = ({ provider, apiKey = "", demo }: TurnModel, { baseUrl }: Upstream) =>
  demo ? "demo" : `${provider} ${baseUrl} ${Bun.hash(apiKey).toString(36)}`;

/** A bounded map: the oldest goes first. What is rejected is not kept. */
function cachePromise<Value>(
  map: Map<string, Promise<Value>>,
  key: string,
  value: Promise<Value>,
  maxEntries: number,
): void {
  const oldest = map.size >= maxEntries ? map.keys().next().value : undefined;
  if (oldest !== undefined) map.delete(oldest);
  map.set(key, value);
  value.catch(() => map.delete(key));
}

function asGlobalFetch(send: Upstream["fetch"]): typeof fetch {
  const call = (input: string | URL | Request, init?: RequestInit) =>
    send(typeof input === "string" ? input : input instanceof URL ? input.href : input.url, init ?? {});
  return Object.assign(call, { preconnect: fetch.preconnect });
}
