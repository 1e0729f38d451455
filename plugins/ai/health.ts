// How the providers are: asked in the background, answered from memory; and which of them rest since their calls kept failing.
import type { Log } from "../../src/log.ts";
import type { Metrics } from "../../src/metrics.ts";
import { type Breaker, createBreaker } from "./breaker.ts";
import { authHeaders, type ProviderId, type Providers, type Upstream } from "./providers.ts";

export interface Health {
  /** Which can be reached and are not resting; those not configured are false. Waits for the first probe alone. */
  report(): Promise<Record<ProviderId, boolean>>;
  /** Known to be out of order. Nothing is known before the first probe, and of somebody's own key. */
  isDown(upstream: Upstream): boolean;
  breakerOf(upstream: Upstream): Breaker;
  /** Asks now, for a call that waits without an answer; one question at a time for each. Never rejects. */
  answers(upstream: Upstream): Promise<boolean>;
  start(): void;
  stop(): void;
}

interface Options {
  providers: Providers;
  metrics: Pick<Metrics, "gauge">;
  log: Pick<Log, "info" | "warn">;
  /** Milliseconds between probes. */
  probeEvery?: number;
}

/** Milliseconds. */
const PROBE_TIMEOUT = 3_000;

/** Errors of those who can be called all the same: not everybody has a list, and a limit is not an outage. */
const ANSWERS = new Set([404, 405, 429]);

const OPENNESS = { closed: 0, "half-open": 0.5, open: 1 } as const;

export function createHealth({ providers, metrics, log, probeEvery = 30_000 }: Options): Health {
  const breakers = new WeakMap<Upstream, Breaker>();
  const asking = new WeakMap<Upstream, Promise<boolean>>();
  /** Of the last probe; undefined: there was none yet. */
  let reached: ReadonlyMap<Upstream, boolean> | undefined;
  let first: Promise<void> | undefined;
  let timer: Timer | undefined;
  let stopped = false;

  function breakerOf(upstream: Upstream): Breaker {
    let breaker = breakers.get(upstream);
    if (!breaker) {
      const { provider, label } = upstream;
      breaker = createBreaker({
        changed(state) {
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
    const asked = providers.configured();
    const up = await Promise.all(asked.map(answers));
    const now = new Map(asked.map((upstream, index) => [upstream, up[index] === true]));
    for (const [upstream, reachable] of now) {
      const { provider, label } = upstream;
      const before = reached?.get(upstream) ?? true;
      if (before && !reachable) log.warn("an AI provider can't be reached", { provider, label });
      if (!before && reachable) log.info("an AI provider can be reached again", { provider, label });
    }
    reached = now;
  }

  function answers(upstream: Upstream): Promise<boolean> {
    if (upstream.demo) return Promise.resolve(true);
    let answer = asking.get(upstream);
    if (!answer) {
      answer = ask(upstream).finally(() => asking.delete(upstream));
      asking.set(upstream, answer);
    }
    return answer;
  }

  function probed(): Promise<void> {
    first ??= probe();
    return first;
  }

  async function keepProbing(): Promise<void> {
    await probed();
    if (stopped) return;
    timer = setTimeout(() => {
      first = probe();
      void keepProbing();
    }, probeEvery);
    timer.unref();
  }

  const works = (upstream: Upstream) => reached?.get(upstream) !== false && breakerOf(upstream).state() !== "open";

  metrics.gauge("berth_ai_provider_up", "1: the provider can be reached.", ["provider"], () =>
    [...(reached ?? [])].map(([{ provider }, up]) => [{ provider }, Number(up)]),
  );
  metrics.gauge("berth_ai_breaker_open", "1: calls are stopped; 0.5: the next one decides.", ["provider"], () =>
    providers.configured().map((upstream) => [{ provider: upstream.provider }, OPENNESS[breakerOf(upstream).state()]]),
  );

  return {
    async report() {
      await (reached ? undefined : probed());
      const up = (id: ProviderId) => {
        const upstream = providers.operator(id);
        return upstream !== undefined && works(upstream);
      };
      return {
        provider_1: up("provider_1"),
        provider_2: up("provider_2"),
        provider_3: up("provider_3"),
        provider_4: up("provider_4"),
        provider_5: up("provider_5"),
      };
    },
    isDown: (upstream) => !works(upstream),
    breakerOf,
    answers,
    start: () => void keepProbing(),
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}

/** Whether something useful answers there in time. Never rejects; what it answers is thrown away. */
async function ask(upstream: Upstream): Promise<boolean> {
  const headers = authHeaders(upstream);
  const init: RequestInit = { headers, redirect: "manual", signal: AbortSignal.timeout(PROBE_TIMEOUT) };
  try {
    const response = await upstream.fetch(`${upstream.baseUrl}/models`, init);
    await response.body?.cancel();
    return response.status < 400 || ANSWERS.has(response.status);
  } catch {
    // Whatever the reason: it can't be reached.
    return false;
  }
}
