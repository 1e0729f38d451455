// Measures a signed-in read: GET /api/settings, which checks the session cookie each time.

import { type Benchmark, median, perSecond, ratioOf, timeFigure } from "./support/figures.ts";
import { type Ask, cpuOfFirst, eachRound, load, rateOf, type Stage } from "./support/load.ts";
import { ownerOf, type Program, startBare, startService, startUpstream } from "./support/service.ts";
import { warmUp } from "./support/warm-up.ts";

/** Answers a second, or this share of what a bare server gives. */
const GOAL = { rate: 25_000, ratio: 0.25 };

export const settings: Benchmark = {
  name: "settings",
  summary: "signed-in GET /api/settings at c50",
  async run({ rounds }) {
    await using upstream = await startUpstream();
    await using berth = await startService(upstream);
    const { client, headers } = await ownerOf(berth, 0);
    const { text } = await client.get("/api/settings");
    await using bare = await startBare("json", text);
    const ask: Ask = { method: "GET", path: "/api/settings", headers };
    const stage = (name: string, origin: string, { pid }: Pick<Program, "pid">): Stage => ({
      ...{ name, origin, connections: 50 },
      ...{ asks: [ask], seconds: 1, pids: [pid] },
    });
    const stages = [stage("berth", berth.web, berth), stage("bare", bare.origin, bare)];
    await warmUp(stages);
    const found = await load({ stages, rounds });
    const [own, plain] = [eachRound(found, "berth", rateOf), eachRound(found, "bare", rateOf)];
    const gain = ratioOf(own, plain);
    return [
      {
        what: "signed-in GET /api/settings at c50",
        ...gain,
        figure: perSecond(median(own)),
        baseline: `${perSecond(median(plain))} bare Bun.serve, same JSON`,
        goal: `≥ ${GOAL.rate.toLocaleString("en")}/s or ≥ ${GOAL.ratio}×`,
        met: median(own) >= GOAL.rate || gain.ratio >= GOAL.ratio,
      },
      timeFigure("processor time each", eachRound(found, "berth", cpuOfFirst), eachRound(found, "bare", cpuOfFirst)),
    ];
  },
};
