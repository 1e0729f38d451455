// The five providers: which of them can serve, with which key, and whether they can be reached.
import type { Config, ProviderId } from "../../src/config.ts";
import { isLoopbackUrl, providerIds } from "../../src/config.ts";
import type { Log } from "../../src/log.ts";

export type { ProviderId } from "../../src/config.ts";
export { providerIds } from "../../src/config.ts";

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
  configured(): readonly Upstream[];
  operator(provider: ProviderId): Upstream | undefined;
  /** The same provider with somebody's own key. */
  withKey(provider: ProviderId, apiKey: string): Upstream;
  readonly demo: Upstream;
  /** The demo model is in use, for want of anything better. */
  isDemo(): boolean;
  /** Settles once it is known whether there is an Ollama to use; at once where keys are configured. Never rejects. */
  ready(): Promise<void>;
  /** The last probe of each; those not configured are false. Waits for the first probe alone. */
  health(): Promise<Record<ProviderId, boolean>>;
  /** Calls back when the set of usable providers has changed. */
  onChange(listener: () => void): void;
  start(): void;
  stop(): void;
}

interface Options {
  settings: Config["providers"];
  demo: Fetch;
  log: Log;
  fetch?: Fetch;
  /** Where a local Ollama would answer. */
  ollamaUrl?: string;
  /** Milliseconds between probes. */
  probeEvery?: number;
}

const PROBE_TIMEOUT = 3_000;
const OLLAMA_TIMEOUT = 300;

/** Headers that say who calls. Anthropic's list of models wants its own two (docs.anthropic.com, Models API). */
export function authHeaders({ provider, apiKey }: Upstream): Record<string, string> {
  if (apiKey === undefined) return {};
  const bearer = { authorization: `Bearer ${apiKey}` };
  return provider === "provider_4" ? { ...bearer, "x-api-key": apiKey, "anthropic-version": "2023-06-01" } : bearer;
}

/**
 * Reads the providers' settings. With no key anywhere and no own address for provider 3, a local Ollama is used while it
 * answers, else the demo model (contract §7). Nothing here delays the start: all probing is in the background.
 */
export function createProviders({
  settings,
  demo,
  log,
  fetch: send = fetch,
  ollamaUrl = "http://127.0.0.1:11434",
  probeEvery = 30_000,
}: Options): Providers {
  const fixed = providerIds.flatMap((id): Upstream[] => {
    const { apiKey, ownBaseUrl } = settings[id];
    const usable = apiKey !== undefined || (id === "provider_3" && ownBaseUrl);
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
  let current: readonly Upstream[] = fixed.length > 0 ? fixed : demoOnly;
  let detection: Promise<void> | undefined;
  let probing: Promise<void> | undefined;
  let reachable: ReadonlySet<ProviderId> | undefined;
  let timer: ReturnType<typeof setInterval> | undefined;
  const listeners: (() => void)[] = [];

  function upstream(id: ProviderId, apiKey: string | undefined): Upstream {
    const { baseUrl, label, ownBaseUrl } = settings[id];
    const local = id === "provider_3" && ownBaseUrl && (apiKey === undefined || isLoopbackUrl(baseUrl));
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
    const found = await answers(send, `${ollamaUrl}/api/version`, {}, OLLAMA_TIMEOUT);
    if (found !== current[0]?.demo) return;
    const ollama: Upstream = {
      ...upstream("provider_3", undefined),
      label: "Ollama",
      baseUrl: `${ollamaUrl}/v1`,
      local: true,
    };
    current = found ? [ollama] : demoOnly;
    log.info(found ? "a local Ollama answers and is used" : "the local Ollama is gone; the demo model serves");
    for (const listener of listeners) listener();
  }

  async function probe(): Promise<void> {
    if (fixed.length === 0) {
      detection = detectOllama();
      await detection;
    }
    const up = await Promise.all(
      current.map((one) => one.demo || answers(one.fetch, `${one.baseUrl}/models`, authHeaders(one), PROBE_TIMEOUT)),
    );
    const now = new Set(current.filter((_, index) => up[index]).map(({ provider }) => provider));
    for (const { provider, label } of current) {
      if (!now.has(provider) && (reachable === undefined || reachable.has(provider))) {
        log.warn("an AI provider can't be reached", { provider, label });
      }
    }
    reachable = now;
  }

  function ready(): Promise<void> {
    if (fixed.length > 0) return Promise.resolve();
    detection ??= detectOllama();
    return detection;
  }

  function probed(): Promise<void> {
    probing ??= probe();
    return probing;
  }

  return {
    configured: () => current,
    operator: (provider) => current.find((one) => one.provider === provider),
    withKey: (provider, apiKey) => upstream(provider, apiKey),
    demo: demoUpstream,
    isDemo: () => current[0]?.demo === true,
    ready,
    async health() {
      await probed();
      const up = (id: ProviderId) => reachable?.has(id) === true;
      return {
        provider_1: up("provider_1"),
        provider_2: up("provider_2"),
        provider_3: up("provider_3"),
        provider_4: up("provider_4"),
        provider_5: up("provider_5"),
      };
    },
    onChange: (listener) => void listeners.push(listener),
    start() {
      void probed();
      timer = setInterval(() => {
        probing = probe();
      }, probeEvery);
      timer.unref();
    },
    stop: () => clearInterval(timer),
  };
}

/** Whether something useful answers there within the time. Never rejects; what it answers is thrown away. */
async function answers(send: Fetch, url: string, headers: Record<string, string>, timeout: number): Promise<boolean> {
  try {
    const response = await send(url, { headers, signal: AbortSignal.timeout(timeout) });
    await response.body?.cancel();
    return response.status < 400 || response.status === 404 || response.status === 405;
  } catch {
    return false;
  }
}
