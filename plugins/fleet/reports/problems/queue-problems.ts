// Finds messages, replies, webhook deliveries and jobs that wait too long.

import { count } from "../../../../src/kernel/util/text/count.ts";
import { MINUTE } from "../../../../src/kernel/util/time.ts";
import type { Problem, ProblemFacts } from "./problem.ts";

const WAITING_LONG_MS = MINUTE;
const DELIVERY_LONG_MS = 5 * MINUTE;
const WEBHOOKS_LONG_MS = 15 * MINUTE;

interface Queue {
  waiting: number;
  /** Epoch ms; null if nothing waits. */
  oldestAt: number | null;
}

export function queueProblems({ counts, now }: ProblemFacts): Problem[] {
  const { inbox, outbox, webhooks, jobs } = counts;
  /** None if the oldest entry has not waited for so long. */
  const waitingLong = (
    { waiting, oldestAt }: Queue,
    longMs: number,
    describe: (minutes: number, ms: number) => Omit<Problem, "values">,
  ): Problem[] => {
    const ms = oldestAt === null ? 0 : now - oldestAt;
    if (ms <= longMs) return [];
    const minutes = Math.max(1, Math.round(ms / MINUTE));
    return [{ ...describe(minutes, ms), values: { count: waiting, minutes } }];
  };
  const problems = [
    ...waitingLong(inbox, WAITING_LONG_MS, (minutes, ms) => ({
      code: "MESSAGES_WAIT",
      severity: ms > 10 * WAITING_LONG_MS ? "error" : "warning",
      message: `${count(inbox.waiting, "message waits", "messages wait")} for a reply, the oldest for ${minutes} min.`,
      action: "Look at the providers: a slow or failing model is the usual reason.",
      link: "/admin/jobs",
    })),
    ...waitingLong(outbox, DELIVERY_LONG_MS, (minutes) => ({
      code: "REPLIES_WAIT",
      severity: "warning",
      message: `${count(outbox.waiting, "reply is", "replies are")} not delivered yet, the oldest for ${minutes} min.`,
      action: "Look at the channels: a platform may be down, or refuse a bot.",
      link: "/admin/channels?state=backing_off",
    })),
    ...waitingLong(webhooks, WEBHOOKS_LONG_MS, (minutes) => ({
      code: "WEBHOOKS_WAIT",
      severity: "info",
      message: `${count(webhooks.waiting, "webhook delivery waits", "webhook deliveries wait")}, the oldest for ${minutes} min.`,
      action: "Their receivers don't answer. Berth tries again by itself.",
      link: "/admin/jobs",
    })),
  ];
  if (jobs.failed > 0) {
    problems.push({
      code: "JOBS_FAILED",
      severity: "warning",
      message: `${count(jobs.failed, "background job has", "background jobs have")} failed for good.`,
      action: "Read why, then try them again or discard them.",
      link: "/admin/jobs",
      values: { count: jobs.failed },
    });
  }
  if (jobs.late > 0) {
    problems.push({
      code: "JOBS_LATE",
      severity: "warning",
      message: `${count(jobs.late, "background job is", "background jobs are")} late.`,
      action: "The service has more to do than it can, or one kind of job is stuck.",
      link: "/admin/jobs",
      values: { count: jobs.late },
    });
  }
  return problems;
}
