// Finds agents that don't come up, and channels that don't connect.

import { count } from "../../../../src/kernel/util/text/count.ts";
import type { Problem, ProblemFacts } from "./problem.ts";

export function agentProblems({ counts, channels }: ProblemFacts): Problem[] {
  const problems: Problem[] = [];
  if (counts.agents.error > 0) {
    problems.push({
      code: "AGENTS_FAILED",
      severity: "warning",
      message: `${count(counts.agents.error, "agent does", "agents do")} not come up.`,
      action: "Read the reason of each. Berth keeps trying to start them.",
      link: "/admin/agents?status=error",
      values: { count: counts.agents.error },
    });
  }
  if (channels.failed > 0) {
    problems.push({
      code: "CHANNELS_FAILED",
      severity: "warning",
      message: `${count(channels.failed, "channel has", "channels have")} failed and will not be tried again.`,
      action: "Their owners have to give a new token, mostly. They have been told.",
      link: "/admin/channels?state=failed",
      values: { count: channels.failed },
    });
  }
  const held = channels.backing_off + channels.connected;
  if (channels.backing_off > 0 && channels.backing_off > held / 10) {
    problems.push({
      code: "CHANNELS_BACK_OFF",
      severity: channels.backing_off > held / 2 ? "error" : "warning",
      message: `${count(channels.backing_off, "channel waits", "channels wait")} to connect again.`,
      action: "If there are many of one platform, it is down, or this machine can't reach it.",
      link: "/admin/channels?state=backing_off",
      values: { count: channels.backing_off },
    });
  }
  return problems;
}
