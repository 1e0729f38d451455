// Finds messages, replies, webhook deliveries and jobs that wait too long.

import { count } from "../../../../src/kernel/util/text/count.ts";
import { MINUTE } from "../../../../src/kernel/util/time.ts";
import type { Problem, ProblemFacts } from "./problem.ts";

const WAITING_LONG_MS = MINUTE;
const DELIVERY_LONG_MS = 5 * MINUTE;
const WEBHOOKS_LONG_MS = 15 * MINUTE;

const minutes = (ms: number) => Math.max(1, Math.round(ms / MINUTE));

export function queueProblems({ counts, now }: ProblemFacts): Problem[] {
  const problems: Problem[] = [];
  const { inbox, outbox, webhooks, jobs } = counts;
  const age = (at: number | null) => (at === null ? 0 : now - at);
  if (age(inbox.oldestAt) > WAITING_LONG_MS) {
    problems.push({
      code: "MESSAGES_WAIT",
      severity: age(inbox.oldestAt) > 10 * WAITING_LONG_MS ? "error" : "warning",
      message: `${count(inbox.waiting, "message waits", "messages wait")} for a reply, the oldest for ${minutes(age(inbox.oldestAt))} min.`,
      action: "Look at the providers: a slow or failing model is the usual reason.",
      link: "/admin/jobs",
      values: { count: inbox.waiting, minutes: minutes(age(inbox.oldestAt)) },
    });
  }
  if (age(outbox.oldestAt) > DELIVERY_LONG_MS) {
    problems.push({
      code: "REPLIES_WAIT",
      severity: "warning",
      message: `${count(outbox.waiting, "reply is", "replies are")} not delivered yet, the oldest for ${minutes(age(outbox.oldestAt))} min.`,
      action: "Look at the channels: a platform may be down, or refuse a bot.",
      link: "/admin/channels?state=backing_off",
      values: { count: outbox.waiting, minutes: minutes(age(outbox.oldestAt)) },
    });
  }
  if (age(webhooks.oldestAt) > WEBHOOKS_LONG_MS) {
    problems.push({
      code: "WEBHOOKS_WAIT",
      severity: "info",
      message: `${count(webhooks.waiting, "webhook delivery waits", "webhook deliveries wait")}, the oldest for ${minutes(age(webhooks.oldestAt))} min.`,
      action: "Their receivers don't answer. Berth tries again by itself.",
      link: "/admin/jobs",
      values: { count: webhooks.waiting, minutes: minutes(age(webhooks.oldestAt)) },
    });
  }
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
