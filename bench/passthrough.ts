// Measures pass-through chat: the latency that Berth adds to a provider call, and the throughput.

import { type Benchmark, type Figure, median, ms, perSecond, ratioOf, timeFigure } from "./support/figures.ts";
import { type Ask, cpuOfFirst, eachRound, load, type Outcome, p50Of, rateOf, type Stage } from "./support/load.ts";
import { portkeyHeaders, startPortkey } from "./support/portkey.ts";
import { type Program, startBare, startService, startUpstream } from "./support/service.ts";
import { warmUp } from "./support/warm-up.ts";

/** A local provider without prices, and one with prices, whose calls are reserved, settled and recorded. */
export const MODELS = { free: "provider_3:fake-small", priced: "provider_5:gpt-4o-mini" };

const KINDS = [
  { name: "free", what: "local provider" },
  { name: "priced", what: "priced provider, ledger and budget on" },
];

/** Added time and rate beside the bare proxy's, and the rate beside the other gateway's. */
const GOAL = { added: 1.1, rate: 0.75, beside: 3 };

const NAMES = { proxy: "bare proxy", portkey: "@portkey-ai/gateway on Bun" };

export const askOf = (path: string, model: string, headers: Record<string, string> = {}): Ask => ({
  method: "POST",
  path,
  headers,
  body: { model, messages: [{ role: "user", content: "Hello there" }] },
});

/** Settings of a provider with prices that answers at once. */
export const pricedProvider = (upstream: Program) => ({
  PROVIDER_5_BASE_URL: `${upstream.origin}/v1`,
  PROVIDER_5_API_KEY: "sk-bench",
  AI_PUBLIC_BUDGET_USD_PER_DAY: "1000000",
});

export const passthrough: Benchmark = {
  name: "passthrough",
  summary: "/api/ai/chat against a 0 ms upstream",
  async run({ rounds }) {
    await using upstream = await startUpstream();
    await using proxy = await startBare("proxy", `${upstream.origin}/v1/chat/completions`);
    await using portkey = await startPortkey();
    await using berth = await startService(upstream, { env: pricedProvider(upstream) });
    const stages = (connections: number, seconds: number): Stage[] => {
      const stage = (name: string, { pid }: { pid: number }, origin: string, ask: Ask): Stage => ({
        ...{ name, origin, connections, seconds },
        ...{ asks: [ask], pids: [pid] },
      });
      const portkeyAsk = askOf("/v1/chat/completions", "fake-small", portkeyHeaders(upstream.origin));
      return [
        stage("direct", upstream, upstream.origin, askOf("/v1/chat/completions", "fake-small")),
        stage("proxy", proxy, proxy.origin, askOf("/", "fake-small")),
        stage("free", berth, berth.backend, askOf("/api/ai/chat", MODELS.free)),
        stage("priced", berth, berth.backend, askOf("/api/ai/chat", MODELS.priced)),
        stage("portkey", portkey, portkey.origin, portkeyAsk),
      ];
    };
    await warmUp(stages(50, 1));
    const crowd = await load({ stages: stages(50, 0.7), rounds });
    const alone = await load({ stages: stages(1, 0.5), rounds });
    return KINDS.flatMap(({ name, what }) => [
      added(alone, name, what),
      throughput(crowd, name, what, "proxy", GOAL.rate),
      ...(name === "priced" ? [throughput(crowd, name, what, "portkey", GOAL.beside)] : []),
      timeFigure(
        `processor time of a call at c50, ${what}`,
        eachRound(crowd, name, cpuOfFirst),
        eachRound(crowd, "proxy", cpuOfFirst),
        NAMES.proxy,
      ),
    ]);
  },
};

type Outcomes = Record<string, Outcome>;

/** What the service adds to a call of the provider, beside what a bare proxy adds. */
function added(alone: Outcomes, name: string, what: string): Figure {
  const direct = eachRound(alone, "direct", p50Of);
  const over = (side: string) => eachRound(alone, side, p50Of).map((time, round) => time - (direct[round] ?? 0));
  const [own, proxy] = [over(name), over("proxy")];
  const gain = ratioOf(own, proxy);
  return {
    what: `added at c1, ${what}`,
    ...gain,
    figure: `+${ms(median(own))}`,
    baseline: `+${ms(median(proxy))} ${NAMES.proxy} (direct ${ms(median(direct))})`,
    goal: `≤ ${GOAL.added}×`,
    met: gain.ratio <= GOAL.added,
  };
}

function throughput(crowd: Outcomes, name: string, what: string, baseline: keyof typeof NAMES, least: number): Figure {
  const [own, other] = [eachRound(crowd, name, rateOf), eachRound(crowd, baseline, rateOf)];
  const gain = ratioOf(own, other);
  return {
    what: `c50, ${what}`,
    ...gain,
    figure: perSecond(median(own)),
    baseline: `${perSecond(median(other))} ${NAMES[baseline]}`,
    goal: `≥ ${least}×`,
    met: gain.ratio >= least,
  };
}
