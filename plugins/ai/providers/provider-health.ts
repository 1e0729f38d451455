// How the providers are: asked in the background, answered from memory; and which of them rest since their calls kept failing.
import type { Log } from "../../../src/kernel/telemetry/log.ts";
import type { Metrics } from "../../../src/kernel/telemetry/metrics.ts";
import { type CircuitBreaker, createCircuitBreaker } from "./circuit-breaker.ts";
import type { ProviderId } from "./provider.ts";
import { authHeaders, type Providers, type Upstream } from "./providers.ts";

export interface ProviderHealth {
  /** Which can be reached and are not resting; those not configured are false. Waits for the first probe alone. */
  report(): Promise<Record<ProviderId, boolean>>;
  /** Known to be out of order. Nothing is known before the first probe, and of somebody's own key. */
  isDown(upstream: Upstream): boolean;
  breakerOf(upstream: Upstream): CircuitBreaker;
  /** Asks now, for a call that waits without an answer; one question at a time for each. Never rejects. */
  isReachable(upstream: Upstream): Promise<boolean>;
  start(): void;
  stop(): void;
}

interface Options {
  providers: Providers;
  metrics: Pick<Metrics, "gauge">;
  log: Pick<Log, "info" | "warn">;
  /** Milliseconds between probes. */
  probeIntervalMs?: number;
}

/** Milliseconds. */
const PROBE_TIMEOUT_MS = 3_000;

/** Errors of those who can be called all the same: not everybody has a list, and a limit is not an outage. */
const REACHABLE_STATUSES = new Set([404, 405, 429]);

const BREAKER_GAUGE_VALUES = { closed: 0, "half-open": 0.5, open: 1 } as const;

export function createProviderHealth({ providers, metrics, log, probeIntervalMs = 30_000 }: Options): ProviderHealth {
  const breakers = new WeakMap<Upstream, CircuitBreaker>();
  const probesInFlight = new WeakMap<Upstream, Promise<boolean>>();
  /** Of the last probe; undefined: there was none yet. */
  let reachability: ReadonlyMap<Upstream, boolean> | undefined;
  let currentProbe: Promise<void> | undefined;
  let timer: Timer | undefined;
  let stopped = false;

  function breakerOf(upstream: Upstream): CircuitBreaker {
    let breaker = breakers.get(upstream);
    if (!breaker) {
      const { provider, label } = upstream;
      breaker = createCircuitBreaker({
        onStateChange(state) {
          if (state === "open") log.warn("an AI provider keeps failing and is left alone", { provider, label });
          else log.info("an AI provider answers again", { provider, label });
        },
      });
      breakers.set(upstream, breaker);
    }
    return breaker;
  }

  async function probe(): Promise<void> {
    await providers.detect();
    const upstreams = providers.configuredUpstreams();
    const results = await Promise.all(upstreams.map(isReachable));
    const next = new Map(upstreams.map((upstream, index) => [upstream, results[index] === true]));
    for (const [upstream, reachable] of next) {
      const { provider, label } = upstream;
      const wasReachable = reachability?.get(upstream) ?? true;
      if (wasReachable && !reachable) log.warn("an AI provider can't be reached", { provider, label });
      if (!wasReachable && reachable) log.info("an AI provider can be reached again", { provider, label });
    }
    reachability = next;
  }

  function isReachable(upstream: Upstream): Promise<boolean> {
    if (upstream.demo) return Promise.resolve(true);
    let inFlight = probesInFlight.get(upstream);
    if (!inFlight) {
      inFlight = sendProbe(upstream).finally(() => probesInFlight.delete(upstream));
      probesInFlight.set(upstream, inFlight);
    }
    return inFlight;
  }

  function ensureProbed(): Promise<void> {
    currentProbe ??= probe();
    return currentProbe;
  }

  async function scheduleProbes(): Promise<void> {
    await ensureProbed();
    if (stopped) return;
    timer = setTimeout(() => {
      currentProbe = probe();
      void scheduleProbes();
    }, probeIntervalMs);
    timer.unref();
  }

  const isWorking = (upstream: Upstream) =>
    reachability?.get(upstream) !== false && breakerOf(upstream).state() !== "open";

  metrics.gauge("berth_ai_provider_up", "1: the provider can be reached.", ["provider"], () =>
    [...(reachability ?? [])].map(([{ provider }, up]) => [{ provider }, Number(up)]),
  );
  metrics.gauge("berth_ai_breaker_open", "1: calls are stopped; 0.5: the next one decides.", ["provider"], () =>
    providers
      .configuredUpstreams()
      .map((upstream) => [{ provider: upstream.provider }, BREAKER_GAUGE_VALUES[breakerOf(upstream).state()]]),
  );

  return {
    async report() {
      await (reachability ? undefined : ensureProbed());
      const up = (id: ProviderId) => {
        const upstream = providers.operatorUpstream(id);
        return upstream !== undefined && isWorking(upstream);
      };
      return Object.fromEntries(providers.registry.ids.map((id) => [id, up(id)]));
    },
    isDown: (upstream) => !isWorking(upstream),
    breakerOf,
    isReachable,
    start: () => void scheduleProbes(),
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}

/** Whether something useful answers there in time. Never rejects; what it answers is thrown away. */
async function sendProbe(upstream: Upstream): Promise<boolean> {
  const headers = authHeaders(upstream);
  const init: RequestInit = { headers, redirect: "manual", signal: AbortSignal.timeout(PROBE_TIMEOUT_MS) };
  try {
    const response = await upstream.fetch(`${upstream.baseUrl}/models`, init);
    await response.body?.cancel();
    return response.status < 400 || REACHABLE_STATUSES.has(response.status);
  } catch {
    // Whatever the reason: it can't be reached.
    return false;
  }
}
