// Probes the providers in the background, keeps the result in memory, and holds the circuit breaker of each.
import type { Log } from "../../../src/kernel/telemetry/log.ts";
import type { Metrics } from "../../../src/kernel/telemetry/metrics.ts";
import { type CircuitBreaker, createCircuitBreaker } from "./circuit-breaker.ts";
import type { ProviderId } from "./provider.ts";
import { authHeaders, type Providers, type Upstream } from "./providers.ts";

/** `resting`: calls failed repeatedly, and none is made for some seconds. */
export type HealthState = "up" | "down" | "resting" | "unknown";

export interface ProviderHealth {
  /** Whether each provider can be reached and its circuit is not open; false if it is not configured. Waits for the first probe only. */
  report(): Promise<Record<ProviderId, boolean>>;
  /** Whether the last probe failed or the circuit is open. Upstreams are not probed with keys other than the operator's. */
  isDown(upstream: Upstream): boolean;
  /** As of the last probe and of calls since then; `unknown` before the first probe. */
  stateOf(upstream: Upstream): HealthState;
  breakerOf(upstream: Upstream): CircuitBreaker;
  /** Whether the last probe reached it; undefined before the first. */
  reachabilityOf(upstream: Upstream): boolean | undefined;
  /** Probes now, for a call that got no response yet; concurrent callers share one probe. Never rejects. */
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

/** Error statuses of a reachable provider: some have no list of models, and a rate limit is not an outage. */
const REACHABLE_STATUSES = new Set([404, 405, 429]);

const BREAKER_GAUGE_VALUES = { closed: 0, "half-open": 0.5, open: 1 } as const;

export function createProviderHealth({ providers, metrics, log, probeIntervalMs = 30_000 }: Options): ProviderHealth {
  const breakers = new WeakMap<Upstream, CircuitBreaker>();
  const probesInFlight = new WeakMap<Upstream, Promise<boolean>>();
  /** Results of the last probe; undefined before the first. */
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
          if (state === "open") log.warn("circuit breaker of an AI provider opened", { provider, label });
          else log.info("circuit breaker of an AI provider closed", { provider, label });
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

  // Not before `start`: probes are background work.
  providers.onChange(() => {
    if (timer && !stopped) currentProbe = probe();
  });

  const isWorking = (upstream: Upstream) =>
    reachability?.get(upstream) !== false && breakerOf(upstream).state() !== "open";

  metrics.gauge("berth_ai_provider_up", "1: the provider can be reached.", ["provider"], () =>
    [...(reachability ?? [])].map(([{ provider }, up]) => [{ provider }, Number(up)]),
  );
  metrics.gauge("berth_ai_breaker_open", "1: open, calls are stopped; 0.5: half-open.", ["provider"], () =>
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
    stateOf(upstream) {
      if (upstream.demo) return "up";
      if (breakerOf(upstream).state() === "open") return "resting";
      const reachable = reachability?.get(upstream);
      return reachable === undefined ? "unknown" : reachable ? "up" : "down";
    },
    breakerOf,
    reachabilityOf: (upstream) => reachability?.get(upstream),
    isReachable,
    start: () => void scheduleProbes(),
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}

/** Whether the provider responds in time without a failure. Never rejects; drops the body. */
async function sendProbe(upstream: Upstream): Promise<boolean> {
  const headers = authHeaders(upstream);
  const init: RequestInit = { headers, redirect: "manual", signal: AbortSignal.timeout(PROBE_TIMEOUT_MS) };
  try {
    const response = await upstream.fetch(`${upstream.baseUrl}/models`, init);
    await response.body?.cancel();
    return response.status < 400 || REACHABLE_STATUSES.has(response.status);
  } catch {
    return false;
  }
}
