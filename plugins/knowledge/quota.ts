// How many files an agent may have by its owner's plan, how many bytes together, and how many passages to search.
import { AppError } from "../../src/kernel/errors.ts";

export interface Quota {
  files: number;
  /** Of the files as they came. */
  bytes: number;
  chunks: number;
}

const MIB = 1024 * 1024;
/** Other plans get the first. The most passages are what one search answers within milliseconds. */
const FREE: Quota = { files: 20, bytes: 50 * MIB, chunks: 2_000 };
const QUOTAS: Readonly<Record<string, Quota>> = {
  starter: { files: 100, bytes: 250 * MIB, chunks: 5_000 },
  pro: { files: 500, bytes: 1024 * MIB, chunks: 10_000 },
  enterprise: { files: 2_000, bytes: 5 * 1024 * MIB, chunks: 20_000 },
};

/** Admins have the largest. */
export const quotaOf = (owner: { plan: string; isAdmin: boolean } | undefined): Quota =>
  QUOTAS[owner?.isAdmin ? "enterprise" : (owner?.plan ?? "")] ?? FREE;

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
