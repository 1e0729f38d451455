// Measures a signed-in read: GET /api/settings, which checks the session cookie each time.

import { type Benchmark, cpuFigure, perSecond } from "./support/figures.ts";
import { type Ask, allGood, load, type Stage } from "./support/load.ts";
import { cpuDuring, ownerOf, startBare, startService, startUpstream } from "./support/service.ts";

export const settings: Benchmark = {
  name: "settings",
  summary: "signed-in GET /api/settings at c50",
  async run() {
    await using upstream = await startUpstream();
    await using berth = await startService(upstream);
    const { client, headers } = await ownerOf(berth, 0);
    const { text } = await client.get("/api/settings");
    await using bare = await startBare("json", text);
    const ask: Ask = { method: "GET", path: "/api/settings", headers };
    const stage = (name: string, origin: string): Stage => ({
      name,
      origin,
      connections: 50,
      asks: [ask],
      seconds: 1.5,
    });
    const stages = [stage("berth", berth.web), stage("bare", bare.origin)];
    const cpu = await cpuDuring([berth.pid, bare.pid], () => load({ stages, rounds: 3 }));
    const [service, baseline] = [allGood(cpu.result, "berth"), allGood(cpu.result, "bare")];
    const ratio = service.rate / baseline.rate;
    return [
      {
        what: "signed-in GET /api/settings at c50",
        ratio,
        figure: perSecond(service.rate),
        baseline: `${perSecond(baseline.rate)} bare Bun.serve, same JSON`,
        goal: "≥ 25,000/s or ≥ 0.25×",
        met: service.rate >= 25_000 || ratio >= 0.25,
      },
      cpuFigure("processor time each", cpu.service / service.answers, cpu.baseline / baseline.answers),
    ];
  },
};
