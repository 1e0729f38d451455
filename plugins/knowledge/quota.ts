// How many files an agent may have by its owner's plan, how many bytes together, and how many passages to search.
import { AppError } from "../../src/kernel/errors.ts";
import type { PlanTable, User } from "../auth/index.ts";

export interface Quota {
  files: number;
  /** Of the files as they came. */
  bytes: number;
  chunks: number;
}

const MIB = 1024 * 1024;
/** Admins have that of the largest plan. */
export function quotaOf(owner: User | undefined, table: PlanTable): Quota {
  const plan = owner?.isAdmin ? largestOf(table) : table.ofAccount(owner);
  return { files: plan.knowledgeFiles, bytes: plan.knowledgeBytes, chunks: plan.knowledgePassages };
}

const largestOf = ({ plans, of }: PlanTable) =>
  plans.reduce((largest, plan) => (plan.knowledgePassages > largest.knowledgePassages ? plan : largest), of("free"));

export const tooManyFiles = ({ files }: Quota) =>
  new AppError(
    429,
    "FILE_LIMIT_REACHED",
    `Your plan has room for ${files} files of an agent. Delete one, or choose a larger plan.`,
    { limit: files },
  );

export const tooManyBytes = ({ bytes }: Quota) =>
  new AppError(
    413,
    "FILE_QUOTA_EXCEEDED",
    `Your plan has room for ${bytes / MIB} MiB of files of an agent, and this one doesn't fit. Delete files, or choose a larger plan.`,
    { limit: bytes },
  );

export const tooManyChunks = (count: number, room: number) =>
  new AppError(
    413,
    "TOO_MANY_PASSAGES",
    `This file has ${count} passages, and your plan has room for ${Math.max(0, room)} more. Delete files, send a part of it, or choose a larger plan.`,
    { count, limit: room },
  );
