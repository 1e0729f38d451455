// Selects the model, key and price of agents' turns, and makes the clients that call them.

import type { LanguageModelV4, LanguageModelV4Prompt } from "@ai-sdk/provider";
import { abortable } from "../../../src/kernel/util/timeout.ts";
import { createServedModels } from "../cost/served-model.ts";
import { createTurnSettlement } from "../cost/turn-settlement.ts";
import { type AgentBudget, agentScopes } from "../ledger/budgets.ts";
import type { ExpectedTokens, Ledger, Reservation } from "../ledger/ledger.ts";
import type { OperatorSettings } from "../operator/operator-settings.ts";
import type { Candidates } from "../providers/candidates.ts";
import type { Catalogue } from "../providers/catalogue.ts";
import { canonicalModelId, DEMO_ENTRY } from "../providers/catalogue-entry.ts";
import type { PriceCheck } from "../providers/price-check.ts";
import { costMicroUsd, estimateTokensUpperBound, type Pricing } from "../providers/pricing.ts";
import type { ProviderId } from "../providers/provider.ts";
import type { Fetch, Providers, Upstream } from "../providers/providers.ts";
import { createTextChat } from "../text-chat/text-chat.ts";
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
  /** Undefined for a server without keys and for the demo. Must not be logged or shown. */
  readonly apiKey: string | undefined;
  /** `provider_N:id`, or `demo (built-in demo model)`; shown to people. */
  readonly label: string;
  readonly demo: boolean;
  readonly pricing: Pricing;
  /** Nobody knows the price yet; `pricing` is the dearest of the provider. */
  readonly priceUnknown?: true;
  /** Tokens; undefined if it is not known. */
  readonly contextWindow: number | undefined;
  /** The key is the agent's or its owner's, who pay the provider themselves. */
  readonly ownKey: boolean;
  /** No other provider may serve the call: this one was named, or the key is for it. */
  readonly isPinned: boolean;
}

export interface ModelSelection {
  choice: "model_a" | "model_b" | "custom";
  /** The model of the choice `custom`: `provider_N:id`, or a bare id. */
  configModel?: string | undefined;
  /** Keys of the agent or its owner, which are preferred to the operator's. */
  keys: Readonly<Partial<Record<ProviderId, string>>>;
}

export interface TurnReservationRequest {
  agent: { id: string; userId: string };
  /** The inbox entry whose turn makes the call. */
  turnId?: string | undefined;
  model: TurnModel;
  budget: AgentBudget | undefined;
  prompt: LanguageModelV4Prompt;
  /** The token limit of the reply, if there is one. */
  maxTokens: number | undefined;
  /** Ends the wait for a price. */
  signal?: AbortSignal | undefined;
}

/** Output tokens reserved for a turn without a limit; its actual usage is settled. */
const DEFAULT_OUTPUT_TOKENS = 4_096;
const MAX_OUTPUT_TOKENS = 200_000;
/** Clients of models that are kept. */
const MAX_CACHED_CLIENTS = 1_000;

interface Deps {
  settings: Pick<OperatorSettings, "models">;
  providers: Providers;
  catalogue: Catalogue;
  candidates: Pick<Candidates, "alternatives" | "forModel">;
  prices: PriceCheck;
  calls: ProviderCalls;
  ledger: Ledger;
  /** Counts the bytes of calls. */
  trafficMeter: TrafficMeter;
}

export function createTurnModels(deps: Deps) {
  const { settings, providers, catalogue, candidates, prices, calls, ledger, trafficMeter } = deps;
  const { registry } = providers;
  const turnCalls = createTurnCalls({ calls });
  const settleTurn = createTurnSettlement({
    selectServed: createServedModels({ catalogue }),
    answerTo: turnCalls.answerTo,
  });
  const models = new Map<string, Promise<LanguageModelV4>>();

  /** The upstream of a provider, with the agent's own key if there is one. */
  function upstreamFor(provider: ProviderId, keys: ModelSelection["keys"]): Upstream | undefined {
    const own = keys[provider];
    return own === undefined ? providers.operatorUpstream(provider) : providers.upstreamWithKey(provider, own);
  }

  /** Providers in order of preference, for a model without a named provider. */
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

  /** The provider's own id of the model that is used where only the provider is named. */
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
   * Selects the model of a turn: the agent's or owner's key is preferred to the operator's, the named model to a default
   * one, and the demo serves if nothing else can. Returns a promise only until the catalogue is ready for first calls.
   */
  function resolveTurnModel(selection: ModelSelection): TurnModel | Promise<TurnModel> {
    const ready = catalogue.untilReady();
    // Refreshes old lists in the background.
    catalogue.listKnown();
    return ready ? ready.then(() => selectModel(selection)) : selectModel(selection);
  }

  function selectModel({ choice, configModel, keys }: ModelSelection): TurnModel {
    const custom = choice === "custom" && configModel ? customModel(configModel, keys) : undefined;
    const wanted = custom ?? defaultModel(choice === "model_b" ? "model_b" : "model_a", keys);
    const upstream = wanted && upstreamFor(wanted.provider, keys);
    if (!wanted || !upstream || upstream.demo) return DEMO_MODEL;
    const { provider, modelId } = wanted;
    const { pricing, priceKnown, contextWindow, windowKnown } = catalogue.entry(provider, modelId);
    return {
      provider,
      modelId,
      apiKey: upstream.apiKey,
      label: `${provider}:${modelId}`,
      demo: false,
      pricing,
      ...(priceKnown ? {} : { priceUnknown: true }),
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

  /** Fallbacks for a model, which the same account pays for. */
  const alternativesTo = ({ isPinned, provider, modelId }: TurnModel) =>
    isPinned ? [] : candidates.alternatives(provider, modelId).filter(prices.isPriced);

  async function createClient(model: TurnModel, upstream: Upstream): Promise<LanguageModelV4> {
    const { createOpenAI } = await import("@ai-sdk/openai");
    const send = trafficMeter.meteredFetch(turnCalls.fetch(upstream, () => alternativesTo(model)));
    const acceptsOgg = registry.get(model.provider).capabilities.oggAudio;
    const open = (fetch: Fetch) =>
      createOpenAI({
        apiKey: model.apiKey ?? "none",
        baseURL: upstream.baseUrl,
        name: model.provider,
        fetch: asGlobalFetch(fetch),
      }).chat(model.modelId);
    const chat = createTextChat({ open, send: acceptsOgg ? relabelOggRequests(send) : send });
    return acceptsOgg ? withOggAudio(chat) : chat;
  }

  /**
   * The model as the AI SDK's provider interface (`doStream` and `doGenerate`), whose calls count for the agent. The SDK is
   * loaded at the first call; a client is kept for each model and key.
   */
  async function languageModel(model: TurnModel, agentId: string): Promise<LanguageModelV4> {
    const shared = await sharedClient(model);
    return trafficMeter.attributeTo(agentId, model.demo ? shared : turnCalls.trackAnswers(shared, !isFree(model)));
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
   * Reserves the highest cost of a turn: within the agent's budget, and on the operator's keys within its owner's plan and
   * credits. Throws 402 BUDGET_EXCEEDED, or rejects with it if a balance has to be read first. Calls on the agent's own key
   * count for its budget as well, since the owner set it. If the price of a model on the operator's key is unknown, it is
   * waited for, and the rejections of `priced` apply.
   */
  function reserve(request: TurnReservationRequest): Reservation | Promise<Reservation> {
    const { model } = request;
    return model.priceUnknown && !model.ownKey ? reserveWhenPriced(request) : reservePriced(request);
  }

  async function reserveWhenPriced(request: TurnReservationRequest): Promise<Reservation> {
    const { model, signal } = request;
    const find = () => candidates.forModel(`${model.provider}:${model.modelId}`);
    const waiting = Promise.resolve(prices.priced(find));
    const [priced] = await (signal ? abortable(waiting, signal) : waiting);
    return reservePriced(priced ? { ...request, model: { ...model, pricing: priced.pricing } } : request);
  }

  function reservePriced({ agent, turnId, model, budget, prompt, maxTokens }: TurnReservationRequest) {
    const { provider, modelId, pricing, ownKey } = model;
    const payer = { kind: "turn" as const, agentId: agent.id, userId: agent.userId, turnId };
    const call = { ...payer, provider, modelId, pricing, ownKey };
    const eligible = [model, ...alternativesTo(model)];
    const candidate = { upstream: upstreamOf(model) ?? providers.demo, modelId, pricing };
    const settledBy = (one: Reservation, expected: ExpectedTokens) => settleTurn(one, { candidate, prompt, expected });
    if (eligible.every(isFree)) {
      const reserved = ledger.reserve(call, [], 0);
      return reserved instanceof Promise ? reserved : settledBy(reserved, { inputTokens: 0, outputTokens: 0 });
    }
    const { text, fileTokens } = promptSize(prompt);
    const inputTokens = estimateTokensUpperBound(text) + fileTokens;
    const outputTokens = Math.min(maxTokens ?? DEFAULT_OUTPUT_TOKENS, MAX_OUTPUT_TOKENS);
    const maxMicroUsd = Math.max(...eligible.map((one) => costMicroUsd(one.pricing, inputTokens, outputTokens)));
    const expected = { inputTokens, outputTokens };
    const reserved = ledger.reserve(call, agentScopes(agent.id, budget), maxMicroUsd, expected);
    return reserved instanceof Promise
      ? reserved.then((one) => settledBy(one, expected))
      : settledBy(reserved, expected);
  }

  /** A text of a provider without the key of the turn's model and those of its fallbacks. */
  function redactKeys({ apiKey }: TurnModel, text: string): string {
    const keys = [apiKey, ...providers.configuredUpstreams().map((upstream) => upstream.apiKey)];
    return keys.reduce<string>((redacted, key) => (key ? redacted.replaceAll(key, "…") : redacted), text);
  }

  return { resolveTurnModel, modelOfProvider, languageModel, redactKeys, reserve };
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

const isFree = ({ pricing }: Pick<TurnModel, "pricing">) => costMicroUsd(pricing, 1e6, 1e6) === 0;

/** Identifies a client by address and key. The key is hashed, so that it is not kept in a map. */
const clientKey = ({ provider, apiKey = "", demo }: TurnModel, { baseUrl }: Upstream) =>
  demo ? "demo" : `${provider} ${baseUrl} ${Bun.hash(apiKey).toString(36)}`;

/** Adds a promise to a map that drops its oldest entry when full. A rejected promise is removed. */
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
