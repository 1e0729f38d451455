// What an agent needs its owner for, in words; the most urgent first.

import type { AgentOverview } from "./agents.ts";
import { said, t, tn } from "../viewer/language.ts";

export interface Need {
  words: string;
  /** What the other side said about it, if it did. */
  detail?: string;
  /** Where it is settled, below the agent's address. */
  path: string;
}

export function needsOf({ status, statusReason, channels, pendingApprovals }: AgentOverview): Need[] {
  const failed = status === "stopped" ? [] : channels.filter(({ state }) => state === "failed");
  return [
    ...(status === "error"
      ? [{ words: statusReason === null ? t("It has failed. Restart it.") : said(statusReason), path: "" }]
      : []),
    ...(pendingApprovals > 0
      ? [
          {
            words: tn("{n} call waits for your approval", "{n} calls wait for your approval", pendingApprovals),
            path: "/approvals",
          },
        ]
      : []),
    ...failed.map(({ channel, name, lastError }) => ({
      words: t("{platform} refuses its bot", { platform: name }),
      ...(lastError && { detail: said(lastError) }),
      path: `/channels/${channel}`,
    })),
  ];
}
