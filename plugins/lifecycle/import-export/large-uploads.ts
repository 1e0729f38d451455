// Exported agents that come in: larger than other bodies, so that few may be in memory at once.
import { AppError } from "../../../src/kernel/errors.ts";
import { MAX_BODY_BYTES } from "../../../src/kernel/http/json-body.ts";
import { contextOf } from "../../../src/kernel/http/request-context.ts";

/** Bytes of an exported agent, at most. */
export const MAX_FILE_BYTES = 32 * MAX_BODY_BYTES;
/** Files of more than the usual size that are read, or made an agent of, at once. */
const MAX_CONCURRENT = 2;
/** Milliseconds after which a file whose end was never told counts no more. */
const ABANDONED_AFTER_MS = 5 * 60_000;

export interface LargeUploads {
  /**
   * For a guard, before the body is read: lets it be as large as a file may be. Throws 413 for one that says it is larger, and
   * 429 `TOO_MANY_IMPORTS` where others take the room. May be asked again for the same request.
   */
  acquire(request: Request): void;
  /** It was answered. */
  release(request: Request): void;
}

export function createLargeUploads(): LargeUploads {
  const active = new Map<Request, Timer>();

  function release(request: Request): void {
    clearTimeout(active.get(request));
    active.delete(request);
  }

  return {
    release,
    acquire(request) {
      const length = request.headers.get("content-length");
      if (Number(length) > MAX_FILE_BYTES) throw tooLarge();
      contextOf(request).maxBodyBytes = MAX_FILE_BYTES;
      const isSmall = length !== null && Number(length) <= MAX_BODY_BYTES;
      if (isSmall || active.has(request)) return;
      if (active.size >= MAX_CONCURRENT) throw tooMany();
      active.set(request, setTimeout(release, ABANDONED_AFTER_MS, request).unref());
    },
  };
}

const tooLarge = () => {
  const text = "This file is larger than 32 MiB. Export the agent without its history: ?history=0.";
  return new AppError(413, "BODY_TOO_LARGE", text);
};
const tooMany = () => {
  const text = "Other large files are being imported. Try again in a few seconds.";
  return new AppError(429, "TOO_MANY_IMPORTS", text, {}, { headers: { "retry-after": "5" } });
};
