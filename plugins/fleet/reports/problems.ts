// Decides what is wrong with the instance, and says in words what to do about it.
import { DAY, MINUTE, SECOND } from "../../../src/kernel/util/time.ts";
import type { ProviderReport } from "../../ai/index.ts";
import type { FleetState } from "../../channels/index.ts";
import type { SuddenEnd } from "../instance/runs.ts";
import type { SettingFinding } from "../instance/settings-report.ts";
import type { FleetCounts } from "./counts.ts";

export interface Problem {
  /** For translations; `values` has the numbers and names of the texts. */
  code: string;
  severity: "error" | "warning" | "info";
  message: string;
  action: string;
  /** The console's page about it. */
  link: string;
  values: Record<string, string | number>;
}

export interface ProblemFacts {
  now: number;
  counts: FleetCounts;
  channels: Readonly<Record<FleetState, number>>;
  providers: readonly ProviderReport[];
  isDemo: boolean;
  databaseWorks: boolean;
  /** Undefined if the database is on a server, which makes its own backups. */
  backups:
    | {
        newestAt: number | undefined;
        databaseCreatedAt: number;
        /** Of the latest backup, if it failed. */
        failure: { at: number; error: string } | undefined;
        /** Since when the schedule's backup is missing. */
        lateSince: number | undefined;
        /** The continuous copy, if there is one. */
        copy?: { lateSince: number | undefined; problem: string | undefined } | undefined;
      }
    | undefined;
  disk: { freeBytes: number; totalBytes: number };
  settings: readonly SettingFinding[];
  /** The worst delay of a timer in the last minutes, in ms. */
  lagMs: number;
  /** Of the last day, newest first. */
  suddenEnds: readonly SuddenEnd[];
}

const GIB = 1024 ** 3;
const WAITING_LONG_MS = MINUTE;
const DELIVERY_LONG_MS = 5 * MINUTE;
const WEBHOOKS_LONG_MS = 15 * MINUTE;
const LAG_LIMIT_MS = 250;
const BACKUP_AGE = 7 * DAY;

const count = (number: number, one: string, many = `${one}s`) => `${number} ${number === 1 ? one : many}`;
const percent = (share: number) => Math.round(share * 100);
const minutes = (ms: number) => Math.max(1, Math.round(ms / MINUTE));

/** The worst first. */
export function findProblems(facts: ProblemFacts): Problem[] {
  const problems = [
    ...storageProblems(facts),
    ...queueProblems(facts),
    ...providerProblems(facts),
    ...agentProblems(facts),
    ...operationProblems(facts),
  ];
  const order = ["error", "warning", "info"];
  return problems.sort((a, b) => order.indexOf(a.severity) - order.indexOf(b.severity));
}

function storageProblems({ databaseWorks, disk, backups, now }: ProblemFacts): Problem[] {
  const problems: Problem[] = [];
  const share = disk.totalBytes === 0 ? 1 : disk.freeBytes / disk.totalBytes;
  if (!databaseWorks) {
    problems.push({
      code: "DATABASE_FAILING",
      severity: "error",
      message: "The database can't be written.",
      action: "Look at the free disk space and at the service's log. Messages are refused until it works again.",
      link: "/admin/storage",
      values: {},
    });
  }
  if (disk.freeBytes < GIB || share < 0.05) {
    problems.push({
      code: "DISK_FULL",
      severity: disk.freeBytes < GIB / 4 ? "error" : "warning",
      message: `Only ${percent(share)} % of the disk is free.`,
      action: "Delete old backups, or give the data folder a larger disk.",
      link: "/admin/storage",
      values: { percent: percent(share), bytes: disk.freeBytes },
    });
  }
  return [...problems, ...backupProblems(backups, now)];
}

/** The worst of them alone: a failed backup is soon a late one, too. */
export function backupProblems(backups: ProblemFacts["backups"], now: number): Problem[] {
  if (!backups) return [];
  const link = "/admin/storage";
  const problems = copyProblems(backups.copy, link);
  if (backups.failure) {
    const { at, error } = backups.failure;
    const failedAt = new Date(at).toISOString();
    problems.push({
      code: "BACKUP_FAILED",
      severity: "error",
      message: `The last backup failed: ${error}`,
      action: "Remove the reason, then make one now. Earlier backups are untouched, and none is deleted meanwhile.",
      link,
      values: { failedAt, reason: error },
    });
  } else if (backups.lateSince !== undefined) {
    const expectedAt = new Date(backups.lateSince).toISOString();
    problems.push({
      code: "BACKUP_LATE",
      severity: "error",
      message: `The backup of ${expectedAt} is missing.`,
      action: "Make one now, and look for the reason in the service's log.",
      link,
      values: { expectedAt },
    });
  } else if (now - (backups.newestAt ?? backups.databaseCreatedAt) > BACKUP_AGE) {
    const days = backups.newestAt === undefined ? 0 : Math.floor((now - backups.newestAt) / DAY);
    problems.push({
      code: backups.newestAt === undefined ? "NO_BACKUP" : "OLD_BACKUP",
      severity: "info",
      message:
        backups.newestAt === undefined ? "There is no backup here yet." : `The last backup here is ${days} days old.`,
      action: "Make one now, or let the service make them: BACKUP_SCHEDULE.",
      link,
      values: { days },
    });
  }
  return problems;
}

function copyProblems(copy: NonNullable<ProblemFacts["backups"]>["copy"], link: string): Problem[] {
  if (copy?.lateSince === undefined) return [];
  const copiedAt = new Date(copy.lateSince).toISOString();
  const reason = copy.problem ?? "There is no backup on top of which it could be put, or its process does not run.";
  return [
    {
      code: "BACKUP_COPY_LATE",
      severity: "error",
      message: `The continuous copy has stood still since ${copiedAt}: ${reason}`,
      action: "Remove the reason; it goes on by itself. Until then, what came later is lost with the disk.",
      link,
      values: { copiedAt, reason },
    },
  ];
}

function queueProblems({ counts, now }: ProblemFacts): Problem[] {
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

function providerProblems({ providers, isDemo }: ProblemFacts): Problem[] {
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

function agentProblems({ counts, channels }: ProblemFacts): Problem[] {
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

function operationProblems({ lagMs, settings, suddenEnds }: ProblemFacts): Problem[] {
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
