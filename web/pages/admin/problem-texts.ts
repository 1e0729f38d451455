// The problems of the overview in the viewer's language; a problem that is new here is shown as the server words it.

import { formatBytes, formatDuration, formatNumber, formatTime, type Text, t, text } from "../../viewer/language.ts";
import type { Problem } from "./api-types.ts";

const TEXTS: Readonly<Record<string, { message: Text; action: Text }>> = {
  DATABASE_FAILING: {
    message: text("The database can't be written."),
    action: text(
      "Look at the free disk space and at the log of the service. Messages are refused until it works again.",
    ),
  },
  DISK_FULL: {
    message: text("Only {bytes} ({percent} %) of the disk are free."),
    action: text("Delete old backups, or give the data folder a larger disk."),
  },
  NO_BACKUP: {
    message: text("There is no backup here yet."),
    action: text("Make one now, or let the service make them: BACKUP_SCHEDULE."),
  },
  BACKUP_FAILED: {
    message: text("The last backup failed: {reason}"),
    action: text("Remove the reason, then make one now. Earlier backups are untouched, and none is deleted meanwhile."),
  },
  BACKUP_LATE: {
    message: text("The backup of {expectedAt} is missing."),
    action: text("Make one now, and look for the reason in the log of the service."),
  },
  BACKUP_COPY_LATE: {
    message: text("The continuous copy has stood still since {copiedAt}: {reason}"),
    action: text("Remove the reason; it goes on by itself. Until then, what came later is lost with the disk."),
  },
  BACKUP_COPY_WAITS: {
    message: text(
      "The continuous copy has stood still since {copiedAt}: it has begun anew, and the backup that it needs is not complete yet.",
    ),
    action: text(
      "The service makes it by itself, five minutes later if one fails; berth backup makes one now. Until then, what came later is lost with the disk.",
    ),
  },
  OLD_BACKUP: {
    message: text("The last backup here is {days} days old."),
    action: text("Make one now, or let the service make them: BACKUP_SCHEDULE."),
  },
  MESSAGES_WAIT: {
    message: text("Messages without a reply: {count}. The oldest has waited for {minutes} min."),
    action: text("Look at the providers: a slow or failing model is the usual reason."),
  },
  REPLIES_WAIT: {
    message: text("Replies that are not delivered yet: {count}. The oldest has waited for {minutes} min."),
    action: text("Look at the channels: a platform may be down, or refuse a bot."),
  },
  WEBHOOKS_WAIT: {
    message: text("Webhook deliveries that wait: {count}. The oldest has waited for {minutes} min."),
    action: text("Their receivers don't answer. Berth tries again by itself."),
  },
  JOBS_FAILED: {
    message: text("Background jobs that failed for good: {count}."),
    action: text("Read why, then try them again or discard them."),
  },
  JOBS_LATE: {
    message: text("Background jobs that are late: {count}."),
    action: text("The service has more to do than it can, or one kind of job is stuck."),
  },
  DEMO_MODEL: {
    message: text("No AI provider is set up: the built-in demo model answers."),
    action: text("Give the key of a provider."),
  },
  PROVIDER_DOWN: {
    message: text("{name} can't be reached."),
    action: text("Check its status page, its key and your balance there. Other providers are used where they can be."),
  },
  PROVIDER_PAUSED: {
    message: text("Calls of {name} are paused, since most of them failed."),
    action: text("Check its status page, its key and your balance there. Other providers are used where they can be."),
  },
  PROVIDER_FAILING: {
    message: text("{percent} % of the last calls of {name} failed."),
    action: text("Check its status page, its key and your balance there."),
  },
  AUDIT_EXPORT_FAILS: {
    message: text("AUDIT_TO has taken no entries of the audit log since {failsAt}: {reason}"),
    action: text("Remove the reason, or correct AUDIT_TO. The entries wait here, and are sent by themselves then."),
  },
  STRIPE_FAILS: {
    message: text("Stripe has not answered as it should since {failsAt}: {reason}"),
    action: text(
      "Check its status page, STRIPE_SECRET_KEY and this machine's connection. Payments made meanwhile are noticed by themselves then.",
    ),
  },
  STABLECOIN_FAILS: {
    message: text("Transfers of stablecoin have not been read since {failsAt}: {reason}"),
    action: text(
      "Check the address of the chain in the settings and this machine's connection. Transfers made meanwhile are credited by themselves then.",
    ),
  },
  TRACES_FAIL: {
    message: text("The collector of OTEL_EXPORTER_OTLP_ENDPOINT has taken no traces since {failsAt}: {reason}"),
    action: text("Look at the collector and its address. Traces made meanwhile are lost; nothing else waits for it."),
  },
  OUTAGE: {
    message: text("{of} has not worked since {failsAt}: {reason}"),
    action: text("Remove the reason; the log of the service says more."),
  },
  AGENTS_FAILED: {
    message: text("Agents that don't come up: {count}."),
    action: text("Read the reason of each. Berth keeps trying to start them."),
  },
  CHANNELS_FAILED: {
    message: text("Channels that failed and are not tried again: {count}."),
    action: text("Mostly their owners have to give a new token. They have been told."),
  },
  CHANNELS_BACK_OFF: {
    message: text("Channels that wait to connect again: {count}."),
    action: text("If there are many of one platform, it is down, or this machine can't reach it."),
  },
  EVENT_LOOP_SLOW: {
    message: text("Everything stood still for {ms} within the last minutes."),
    action: text("Give the service a faster processor, or move other programs off this machine."),
  },
  STOPPED_SUDDENLY: {
    message: text(
      "Berth was stopped without warning after {stoppedAt}, and was back at {backAt}. Interrupted replies that went on: {turns}.",
    ),
    action: text(
      "Look into the log of the service and of the machine: a crash, too little memory and a power cut are the usual reasons.",
    ),
  },
  STOPPED_SUDDENLY_OFTEN: {
    message: text(
      "Berth was stopped without warning {times} times in 24 hours, last after {stoppedAt}, and was back at {backAt}. Interrupted replies that went on then: {turns}.",
    ),
    action: text(
      "Look into the log of the service and of the machine: a crash, too little memory and a power cut are the usual reasons.",
    ),
  },
  SETTINGS: {
    message: text("Settings that need a look: {count}."),
    action: text("Read what is wrong with them."),
  },
};

export function describeProblem({ code, message, action, values }: Problem): { message: string; action: string } {
  const own = TEXTS[code];
  if (!own) return { message, action };
  const shown = Object.fromEntries(
    Object.entries(values).map(([name, value]) => {
      if (typeof value === "string") return [name, name.endsWith("At") ? formatTime(Date.parse(value)) : value];
      return [
        name,
        name === "bytes" ? formatBytes(value) : name === "ms" ? formatDuration(value) : formatNumber(value),
      ];
    }),
  );
  return { message: t(own.message, shown), action: t(own.action, shown) };
}
