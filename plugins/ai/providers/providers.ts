// Decides which of the registered providers can serve, where, and with which key.

import { isLoopbackUrl, type SettingsOf } from "../../../src/kernel/config/config.ts";
import type { Log } from "../../../src/kernel/telemetry/log.ts";
import type { providerSettings } from "../settings.ts";
import type { ProviderDefinition, ProviderId } from "./provider.ts";
import { defaultProvider, type ProviderRegistry } from "./registry.ts";

/** `fetch` without the extras of the global one, so that a plain function (the demo model, a test) can stand in. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** A place that answers chat completions: an address with a key, or the demo model inside this process. */
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
  readonly fetch: Fetch;
}

export interface Providers {
  readonly registry: ProviderRegistry;
  /** Those that serve with the operator's keys, in order. Never empty: in the worst case it is the demo model. */
  configuredUpstreams(): readonly Upstream[];
  operatorUpstream(provider: ProviderId): Upstream | undefined;
  /** The same provider with somebody's own key. */
  upstreamWithKey(provider: ProviderId, apiKey: string): Upstream;
  readonly demo: Upstream;
  /** The demo model is in use, for want of anything better. */
  isDemo(): boolean;
  /** Settles once it is known whether there is an Ollama to use; at once where keys are configured. Never rejects. */
  ready(): Promise<void>;
  /** Looks again whether there is an Ollama, where no keys are configured. Never rejects. */
  detect(): Promise<void>;
  /** Calls back when the set of usable providers has changed. */
  onChange(listener: () => void): void;
}

interface Options {
  settings: Pick<SettingsOf<typeof providerSettings>, "registry" | "of">;
  demo: Fetch;
  log: Log;
  fetch?: Fetch;
  /** Where a local Ollama would answer. */
  ollamaUrl?: string;
}

/** Milliseconds. */
const OLLAMA_TIMEOUT_MS = 300;
/** Keys other than the operator's whose upstreams are remembered. */
const MAX_OWN_KEY_UPSTREAMS = 1_000;

/** The headers that authenticate a call: the bearer token, and what the provider wants besides. */
export const authHeaders = ({ definition, apiKey }: Upstream): Record<string, string> =>
  apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}`, ...definition.authHeaders?.(apiKey) };

/**
 * Builds the upstreams of the operator's settings. Where none is configured, a local Ollama is used while it answers, as
 * the first provider that may be a local server; else the demo model. It is looked for in the background, so that the start
 * does not wait.
 */
export function createProviders({
  settings,
  demo,
  log,
  fetch: send = fetch,
  ollamaUrl = "http://127.0.0.1:11434",
}: Options): Providers {
  const { registry } = settings;
  const upstreamsFromSettings = registry.all.flatMap((definition): Upstream[] => {
    const { apiKey, hasCustomBaseUrl } = settings.of(definition.id);
    const usable = apiKey !== undefined || (!definition.credential.required && hasCustomBaseUrl);
    return usable ? [upstream(definition, apiKey)] : [];
  });
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
  const ownKeyUpstreams = new Map<string, Upstream>();

  function upstream(definition: ProviderDefinition, apiKey: string | undefined): Upstream {
    const { baseUrl, label, hasCustomBaseUrl } = settings.of(definition.id);
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
      fetch: send,
    };
  }

  async function detectOllama(): Promise<void> {
    if (!localProvider) return;
    const isRunning = await isOllamaRunning(send, ollamaUrl);
    if (isRunning !== activeUpstreams[0]?.demo) return;
    const ollama: Upstream = {
      ...upstream(localProvider, undefined),
      label: "Ollama",
      baseUrl: `${ollamaUrl}/v1`,
      local: true,
    };
    activeUpstreams = isRunning ? [ollama] : demoOnly;
    log.info(isRunning ? "a local Ollama answers and is used" : "the local Ollama is gone; the demo model serves");
    for (const listener of listeners) listener();
  }

  function detect(): Promise<void> {
    if (upstreamsFromSettings.length > 0) return Promise.resolve();
    detection = detectOllama();
    return detection;
  }

  /** The same object for the same key, since it is remembered how its calls went. */
  function upstreamWithKey(provider: ProviderId, apiKey: string): Upstream {
    const cacheKey = `${provider} ${Bun.hash(apiKey).toString(36)}`;
    const known = ownKeyUpstreams.get(cacheKey);
    if (known?.apiKey === apiKey) return known;
    const made = upstream(registry.get(provider), apiKey);
    const oldest = ownKeyUpstreams.size >= MAX_OWN_KEY_UPSTREAMS ? ownKeyUpstreams.keys().next().value : undefined;
    if (oldest !== undefined) ownKeyUpstreams.delete(oldest);
    ownKeyUpstreams.set(cacheKey, made);
    return made;
  }

  return {
    registry,
    configuredUpstreams: () => activeUpstreams,
    operatorUpstream: (provider) => activeUpstreams.find((one) => one.provider === provider),
    upstreamWithKey,
    demo: demoUpstream,
    isDemo: () => activeUpstreams[0]?.demo === true,
    ready: () => detection ?? detect(),
    detect,
    onChange: (listener) => void listeners.push(listener),
  };
}

async function isOllamaRunning(send: Fetch, url: string): Promise<boolean> {
  try {
    const response = await send(`${url}/api/version`, { signal: AbortSignal.timeout(OLLAMA_TIMEOUT_MS) });
    await response.body?.cancel();
    return response.ok;
  } catch {
    // Nobody there, as on most machines.
    return false;
  }
}
