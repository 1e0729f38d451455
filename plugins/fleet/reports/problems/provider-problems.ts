// Finds AI providers that don't work.

import { type Problem, type ProblemFacts, percent } from "./problem.ts";

export function providerProblems({ providers, isDemo }: ProblemFacts): Problem[] {
  if (isDemo) {
    return [
      {
        code: "DEMO_MODEL",
        severity: "warning",
        message: "No AI provider is set up: the built-in demo model answers.",
        action: "Give the key of a provider.",
        link: "/admin/models",
        values: {},
      },
    ];
  }
  return providers.flatMap(({ configured, label, reachable, breaker, calls, failed, id }): Problem[] => {
    if (!configured) return [];
    const values = { name: label, percent: percent(calls === 0 ? 0 : failed / calls) };
    const link = `/admin/providers#${id}`;
    if (reachable === false || breaker === "open") {
      const isPaused = breaker === "open";
      return [
        {
          code: isPaused ? "PROVIDER_PAUSED" : "PROVIDER_DOWN",
          severity: "error",
          message: isPaused ? `Calls of ${label} are paused, since most of them failed.` : `${label} can't be reached.`,
          action: "Check its status page, its key and your balance there. Other providers are used where they can be.",
          link,
          values,
        },
      ];
    }
    if (calls < 20 || failed / calls < 0.1) return [];
    return [
      {
        code: "PROVIDER_FAILING",
        severity: "warning",
        message: `${values.percent} % of the last calls of ${label} failed.`,
        action: "Check its status page, its key and your balance there.",
        link,
        values,
      },
    ];
  });
}
