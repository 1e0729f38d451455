// The five providers: which of them can serve, where, and with which key.

import { isLoopbackUrl, type SettingsOf } from "../../../src/kernel/config/config.ts";
import type { Log } from "../../../src/kernel/telemetry/log.ts";
import type { providerSettings } from "../settings.ts";
import { type ProviderId, providerIds } from "./registry.ts";

export { type ProviderId, providerIds } from "./registry.ts";

/** `fetch` without the extras of the global one, so that a plain function (the demo model, a test) can stand in. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** A place that answers chat completions: an address with a key, or the demo model inside this process. */
export interface Upstream {
  readonly provider: ProviderId;
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
  settings: SettingsOf<typeof providerSettings>["providers"];
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

/** Headers that say who calls. Anthropic's list of models wants its own two (docs.anthropic.com, Models API). */
export function authHeaders({ provider, apiKey }: Upstream): Record<string, string> {
  if (apiKey === undefined) return {};
  const bearer = { authorization: `Bearer ${apiKey}` };
  return provider === "provider_4" ? { ...bearer, "x-api-key": apiKey, "anthropic-version": "2023-06-01" } : bearer;
}

/**
 * Reads the providers' settings. With no key anywhere and no own address for provider 3, a local Ollama is used while it
 * answers, else the demo model (contract §7). Nothing here delays the start: it is looked for in the background.
 */
export function createProviders({
  settings,
  demo,
  log,
  fetch: send = fetch,
  ollamaUrl = "http://127.0.0.1:11434",
}: Options): Providers {
  const upstreamsFromSettings = providerIds.flatMap((id): Upstream[] => {
    const { apiKey, hasCustomBaseUrl } = settings[id];
    const usable = apiKey !== undefined || (id === "provider_3" && hasCustomBaseUrl);
    return usable ? [upstream(id, apiKey)] : [];
  });
  const demoUpstream: Upstream = {
    provider: "provider_1",
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

  function upstream(id: ProviderId, apiKey: string | undefined): Upstream {
    const { baseUrl, label, hasCustomBaseUrl } = settings[id];
    const local = id === "provider_3" && hasCustomBaseUrl && (apiKey === undefined || isLoopbackUrl(baseUrl));
    return {
      provider: id,
      label,
      baseUrl: baseUrl.replace(/\/+$/, ""),
      apiKey,
      demo: false,
      local,
      fetch: send,
    };
  }

  async function detectOllama(): Promise<void> {
    const isRunning = await isOllamaRunning(send, ollamaUrl);
    if (isRunning !== activeUpstreams[0]?.demo) return;
    const ollama: Upstream = {
      ...upstream("provider_3", undefined),
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
    const made = upstream(provider, apiKey);
    const oldest = ownKeyUpstreams.size >= MAX_OWN_KEY_UPSTREAMS ? ownKeyUpstreams.keys().next().value : undefined;
    if (oldest !== undefined) ownKeyUpstreams.delete(oldest);
    ownKeyUpstreams.set(cacheKey, made);
    return made;
  }

  return {
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
