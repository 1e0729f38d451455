// Finds problems of the database and the disk.

import { backupProblems } from "./backup-problems.ts";
import { type Problem, type ProblemFacts, percent } from "./problem.ts";

const GIB = 1024 ** 3;

export function storageProblems({ databaseWorks, disk, backups, now }: ProblemFacts): Problem[] {
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
