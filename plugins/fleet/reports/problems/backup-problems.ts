// Finds problems of the backups of the whole service, and of their continuous copy.

import { DAY } from "../../../../src/kernel/util/time.ts";
import type { Problem, ProblemFacts } from "./problem.ts";

const BACKUP_AGE = 7 * DAY;

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
  if (copy.problem === undefined && copy.needsBackup)
    return [
      {
        code: "BACKUP_COPY_WAITS",
        severity: "error",
        message: `The continuous copy has stood still since ${copiedAt}: it has begun anew, and the backup that it needs is not complete yet.`,
        action:
          "The service makes it by itself, five minutes later if one fails; berth backup makes one now. Until then, what came later is lost with the disk.",
        link,
        values: { copiedAt },
      },
    ];
  const reason = copy.problem ?? "Its process does not run, or can't keep up with what the service writes.";
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
