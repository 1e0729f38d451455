// Measures pass-through chat: the latency that Berth adds to a provider call, and the throughput.

import { type Benchmark, cpuFigure, type Figure, ms, perSecond } from "./support/figures.ts";
import { type Ask, allGood, load, type Stage } from "./support/load.ts";
import { portkeyHeaders, startPortkey } from "./support/portkey.ts";
import { cpuDuring, type Program, startBare, startService, startUpstream } from "./support/service.ts";

/** A local provider without prices, and one with prices, whose calls are reserved, settled and recorded. */
export const MODELS = { free: "provider_3:fake-small", priced: "provider_5:gpt-4o-mini" };

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
  async run() {
    await using upstream = await startUpstream();
    await using proxy = await startBare("proxy", `${upstream.origin}/v1/chat/completions`);
    await using portkey = await startPortkey();
    await using berth = await startService(upstream, { env: pricedProvider(upstream) });
    const stages = (connections: number, seconds: number, atMost?: number): Stage[] => {
      const stage = (name: string, origin: string, ask: Ask): Stage => ({
        name,
        origin,
        connections,
        asks: [ask],
        seconds,
        ...(atMost === undefined ? {} : { atMost }),
      });
      return [
        stage("direct", upstream.origin, askOf("/v1/chat/completions", "fake-small")),
        stage("proxy", proxy.origin, askOf("/", "fake-small")),
        stage("free", berth.backend, askOf("/api/ai/chat", MODELS.free)),
        stage("priced", berth.backend, askOf("/api/ai/chat", MODELS.priced)),
        stage("portkey", portkey.origin, askOf("/v1/chat/completions", "fake-small", portkeyHeaders(upstream.origin))),
      ];
    };
    // The load test first, so that the JIT has compiled the code before latencies are measured.
    const cpu = await cpuDuring([berth.pid, proxy.pid], () => load({ stages: stages(50, 1), rounds: 6 }));
    const alone = await load({ stages: stages(1, 1, 1_500), rounds: 4 });
    const crowd = cpu.result;

    const added = (name: string) => allGood(alone, name).p50 - allGood(alone, "direct").p50;
    const latency = (what: string, name: string, most: number): Figure => ({
      what,
      ratio: added(name) / added("proxy"),
      figure: `+${ms(added(name))}`,
      baseline: `+${ms(added("proxy"))} bare proxy (direct ${ms(allGood(alone, "direct").p50)})`,
      goal: `≤ +${most} ms`,
      met: added(name) <= most,
    });
    const throughput = (what: string, name: string, baseline: "proxy" | "portkey", least: number): Figure => {
      const ratio = allGood(crowd, name).rate / allGood(crowd, baseline).rate;
      return {
        what,
        ratio,
        figure: perSecond(allGood(crowd, name).rate),
        baseline: `${perSecond(allGood(crowd, baseline).rate)} ${NAMES[baseline]}`,
        goal: `≥ ${least}×`,
        met: ratio >= least,
      };
    };
    return [
      latency("added at c1, local provider", "free", 0.15),
      latency("added at c1, priced provider, ledger and budget on", "priced", 0.2),
      throughput("c50, local provider", "free", "proxy", 0.7),
      throughput("c50, priced provider, ledger and budget on", "priced", "proxy", 0.5),
      throughput("c50, priced provider, beside another gateway", "priced", "portkey", 3),
      cpuFigure(
        "processor time of a call at c50",
        cpu.service / (allGood(crowd, "free").answers + allGood(crowd, "priced").answers),
        cpu.baseline / allGood(crowd, "proxy").answers,
      ),
    ];
  },
};
