// Limits concurrent imports: their bodies may be larger than others, so at most two large ones are in memory.
import { AppError } from "../../../src/kernel/errors.ts";
import { MAX_BODY_BYTES } from "../../../src/kernel/http/body/json-body.ts";
import { contextOf } from "../../../src/kernel/http/request-context.ts";
import { MINUTE } from "../../../src/kernel/util/time.ts";

/** Maximal bytes of an exported agent. */
export const MAX_FILE_BYTES = 32 * MAX_BODY_BYTES;
/** Files above the usual body size that are read or imported at once. */
const MAX_CONCURRENT = 2;
/** Milliseconds after which a file counts as done although `release` was not called. */
const ABANDONED_AFTER_MS = 5 * MINUTE;

export interface LargeUploads {
  /**
   * Call it in a guard, before the body is read: raises the request's body limit. Throws 413 `BODY_TOO_LARGE` for a
   * larger content length, and 429 `TOO_MANY_IMPORTS` while two large files are in work. May be repeated for one
   * request.
   */
  acquire(request: Request): void;
  /** Call it when the request was answered. */
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
