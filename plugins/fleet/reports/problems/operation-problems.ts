// Finds problems of the process: its ends without warning, a slow event loop, and settings.

import { count } from "../../../../src/kernel/util/text/count.ts";
import { SECOND } from "../../../../src/kernel/util/time.ts";
import type { SuddenEnd } from "../../instance/runs.ts";
import type { Problem, ProblemFacts } from "./problem.ts";

const LAG_LIMIT_MS = 250;

function suddenEndProblems([latest, ...earlier]: readonly SuddenEnd[]): Problem[] {
  if (!latest) return [];
  const [stoppedAt, backAt] = [latest.stoppedAt, latest.backAt].map((at) => new Date(at).toISOString());
  const turns = latest.resumedTurns;
  const went =
    turns === 0 ? "No reply was interrupted." : `${count(turns, "interrupted reply", "interrupted replies")} went on.`;
  const times = earlier.length + 1;
  return [
    {
      code: times === 1 ? "STOPPED_SUDDENLY" : "STOPPED_SUDDENLY_OFTEN",
      severity: "warning",
      message:
        `The service was stopped without warning after ${stoppedAt} and came back at ${backAt}. ${went}` +
        (times === 1 ? "" : ` That has happened ${times} times in the last 24 hours.`),
      action:
        "Look into the log of the service and of the machine: a crash, too little memory and a power cut are the usual reasons.",
      link: "/admin",
      values: { stoppedAt: stoppedAt ?? "", backAt: backAt ?? "", turns, times },
    },
  ];
}

export function operationProblems({ lagMs, settings, suddenEnds }: ProblemFacts): Problem[] {
  const problems: Problem[] = suddenEndProblems(suddenEnds);
  if (lagMs > LAG_LIMIT_MS) {
    problems.push({
      code: "EVENT_LOOP_SLOW",
      severity: lagMs > 4 * SECOND ? "error" : "warning",
      message: `Everything stood still for ${(lagMs / 1000).toFixed(1)} s within the last minutes.`,
      action: "Give the service a faster processor, or move other programs off this machine.",
      link: "/admin",
      values: { ms: Math.round(lagMs) },
    });
  }
  if (settings.length > 0) {
    problems.push({
      code: "SETTINGS",
      severity: settings.some(({ severity }) => severity === "error") ? "error" : "info",
      message: `${count(settings.length, "setting needs", "settings need")} a look.`,
      action: settings[0]?.message ?? "",
      link: "/admin/settings",
      values: { count: settings.length, first: settings[0]?.message ?? "" },
    });
  }
  return problems;
}
