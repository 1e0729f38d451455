// Decides which of the registered providers can serve, where, and with which key.

import { isLoopbackUrl } from "../../../src/kernel/config/config.ts";
import type { Log } from "../../../src/kernel/telemetry/log.ts";
import { createBoundedMap } from "../../../src/kernel/util/bounded-map.ts";
import type { OperatorSettings } from "../operator/operator-settings.ts";
import type { ProviderSettings } from "../settings.ts";
import type { ProviderDefinition, ProviderId } from "./provider.ts";
import { defaultProvider, type ProviderRegistry } from "./registry.ts";

/** `fetch` without the properties of the global one, so that the demo model or a test can pass a plain function. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** An endpoint for chat completions: an address with a key, or the demo model in this process. */
export interface Upstream {
  readonly provider: ProviderId;
  readonly definition: ProviderDefinition;
  /** Name for people. */
  readonly label: string;
  /** Without a slash at its end; `/chat/completions` and `/models` are below it. */
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  readonly demo: boolean;
  /** The operator's own server: its calls cost nothing. */
  readonly local: boolean;
  /** A local Ollama that was found, not configured. */
  readonly found?: true;
  readonly fetch: Fetch;
}

/** An Ollama that answers. Without a model it can't serve. */
export interface FoundOllama {
  /** With `/v1`. */
  baseUrl: string;
  hasModels: boolean;
}

export interface Providers {
  readonly registry: ProviderRegistry;
  /** The upstreams with the operator's keys, in order of preference. Never empty: without any it is the demo model. */
  configuredUpstreams(): readonly Upstream[];
  operatorUpstream(provider: ProviderId): Upstream | undefined;
  /** The provider with the key of an agent or account. The same key gives the same object. */
  upstreamWithKey(provider: ProviderId, apiKey: string): Upstream;
  /** An upstream that nothing else uses, to try settings before they are stored. */
  upstreamToTry(provider: ProviderId, settings: Pick<ProviderSettings, "apiKey" | "baseUrl">): Upstream;
  readonly demo: Upstream;
  /** Whether the demo model serves because nothing else is configured or found. */
  isDemo(): boolean;
  /** Resolves when the first search for an Ollama has ended; at once where keys are configured. Never rejects. */
  ready(): Promise<void>;
  /** Searches again for a local Ollama, if no keys are configured. Never rejects. */
  detect(): Promise<void>;
  /** A local Ollama if one answers now, used or not. Never rejects. */
  findOllama(): Promise<FoundOllama | undefined>;
  /** Registers a callback for changes of the configured upstreams. */
  onChange(listener: () => void): void;
}

interface Options {
  settings: Pick<OperatorSettings, "registry" | "of"> & Partial<Pick<OperatorSettings, "onChange">>;
  demo: Fetch;
  /** Throws for an address that an admin stored and that may not be called; checked before each call. */
  checkAddress?: (url: string) => Promise<void>;
  log: Log;
  fetch?: Fetch;
  /** The address at which an Ollama is searched, without a slash at its end. */
  ollamaUrl: string;
}

/** Milliseconds. */
const OLLAMA_TIMEOUT_MS = 300;
/** Upstreams with other keys than the operator's that are kept. */
const MAX_OWN_KEY_UPSTREAMS = 1_000;

/** The headers that authenticate a call: the bearer token, and what the provider wants besides. */
export const authHeaders = ({ definition, apiKey }: Upstream): Record<string, string> =>
  apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}`, ...definition.authHeaders?.(apiKey) };

/**
 * Builds the upstreams of the operator's settings. Where none is configured, a local Ollama is used while it answers and has
 * a model, as the first provider that may be a local server; else the demo model. It is looked for in the background, so that
 * the start does not wait.
 */
export function createProviders({
  settings,
  demo,
  checkAddress = async () => undefined,
  log,
  fetch: send = fetch,
  ollamaUrl,
}: Options): Providers {
  const { registry } = settings;
  /** A host's name may lead elsewhere than when its address was stored. */
  const checkedSend: Fetch = async (url, init) => {
    await checkAddress(url);
    return send(url, { ...init, redirect: "manual" });
  };
  let upstreamsFromSettings = readSettings([]);
  const localProvider = registry.all.find(({ capabilities }) => capabilities.localServer);
  const demoUpstream: Upstream = {
    provider: defaultProvider.id,
    definition: defaultProvider,
    label: "Demo model",
    baseUrl: "http://demo.invalid/v1",
    apiKey: undefined,
    demo: true,
    local: true,
    fetch: demo,
  };
  const demoOnly = [demoUpstream];
  let activeUpstreams: readonly Upstream[] = upstreamsFromSettings.length > 0 ? upstreamsFromSettings : demoOnly;
  let detection: Promise<void> | undefined;
  const listeners: (() => void)[] = [];
  /** By provider and hash of the key. */
  const ownKeyUpstreams = createBoundedMap<Upstream>(MAX_OWN_KEY_UPSTREAMS);
  settings.onChange?.(applySettings);

  /** Keeps the object of an upstream that stays as it is, since its circuit breaker is kept by object. */
  function readSettings(before: readonly Upstream[]): readonly Upstream[] {
    return registry.all.flatMap((definition): Upstream[] => {
      const { apiKey, hasCustomBaseUrl } = settings.of(definition.id);
      const usable = apiKey !== undefined || (!definition.credential.required && hasCustomBaseUrl);
      if (!usable) return [];
      const made = upstream(definition, settings.of(definition.id));
      const same = before.find(
        (one) => one.provider === made.provider && one.apiKey === made.apiKey && one.baseUrl === made.baseUrl,
      );
      return [same ?? made];
    });
  }

  function applySettings(): void {
    upstreamsFromSettings = readSettings(upstreamsFromSettings);
    ownKeyUpstreams.clear();
    activeUpstreams = upstreamsFromSettings.length > 0 ? upstreamsFromSettings : demoOnly;
    for (const listener of listeners) listener();
    void detect();
  }

  function upstream(definition: ProviderDefinition, chosen: ProviderSettings): Upstream {
    const { apiKey, baseUrl, label, hasCustomBaseUrl, hasStoredBaseUrl } = chosen;
    const canBeLocal = definition.capabilities.localServer && hasCustomBaseUrl;
    const local = canBeLocal && (apiKey === undefined || isLoopbackUrl(baseUrl));
    return {
      provider: definition.id,
      definition,
      label,
      baseUrl: baseUrl.replace(/\/+$/, ""),
      apiKey,
      demo: false,
      local,
      fetch: hasStoredBaseUrl ? checkedSend : send,
    };
  }

  async function detectOllama(): Promise<void> {
    if (!localProvider) return;
    const isUsable = (await findOllama(send, ollamaUrl))?.hasModels === true;
    if (upstreamsFromSettings.length > 0) return;
    if (isUsable !== activeUpstreams[0]?.demo) return;
    const ollama: Upstream = {
      ...upstream(localProvider, { ...settings.of(localProvider.id), apiKey: undefined }),
      label: "Ollama",
      baseUrl: `${ollamaUrl}/v1`,
      local: true,
      found: true,
    };
    activeUpstreams = isUsable ? [ollama] : demoOnly;
    log.info(isUsable ? "a local Ollama answers and is used" : "the local Ollama is gone; the demo model serves");
    for (const listener of listeners) listener();
  }

  function detect(): Promise<void> {
    if (upstreamsFromSettings.length > 0) return Promise.resolve();
    detection = detectOllama();
    return detection;
  }

  /** Returns the same object for the same key, since its circuit breaker is kept by object. */
  function upstreamWithKey(provider: ProviderId, apiKey: string): Upstream {
    const cacheKey = `${provider} ${Bun.hash(apiKey).toString(36)}`;
    const known = ownKeyUpstreams.get(cacheKey);
    if (known?.apiKey === apiKey) return known;
    const made = upstream(registry.get(provider), { ...settings.of(provider), apiKey });
    ownKeyUpstreams.set(cacheKey, made);
    return made;
  }

  return {
    registry,
    configuredUpstreams: () => activeUpstreams,
    operatorUpstream: (provider) => activeUpstreams.find((one) => one.provider === provider),
    upstreamWithKey,
    upstreamToTry(provider, wanted) {
      const known = settings.of(provider);
      const isNew = wanted.baseUrl !== known.baseUrl;
      const address = isNew ? { hasCustomBaseUrl: true, hasStoredBaseUrl: true } : {};
      return upstream(registry.get(provider), { ...known, ...wanted, ...address });
    },
    findOllama: () => findOllama(send, ollamaUrl),
    demo: demoUpstream,
    isDemo: () => activeUpstreams[0]?.demo === true,
    ready: () => detection ?? detect(),
    detect,
    onChange: (listener) => void listeners.push(listener),
  };
}

/** Asks for the models on its disk: https://docs.ollama.com/api/tags */
async function findOllama(send: Fetch, url: string): Promise<FoundOllama | undefined> {
  try {
    const response = await send(`${url}/api/tags`, { signal: AbortSignal.timeout(OLLAMA_TIMEOUT_MS) });
    const body: unknown = await response.json();
    if (!response.ok || typeof body !== "object" || body === null || !("models" in body)) return undefined;
    return { baseUrl: `${url}/v1`, hasModels: Array.isArray(body.models) && body.models.length > 0 };
  } catch {
    // No Ollama runs here, as on most machines.
    return undefined;
  }
}
