// Exported agents that come in: larger than other bodies, so that few may be in memory at once.
import { AppError } from "../../src/errors.ts";
import { contextOf, MAX_BODY_BYTES } from "../../src/http.ts";

/** Bytes of an exported agent, at most. */
export const MAX_FILE_BYTES = 32 * MAX_BODY_BYTES;
/** Files of more than the usual size that are read, or made an agent of, at once. */
const AT_ONCE = 2;
/** Milliseconds after which a file whose end was never told counts no more. */
const FORGOTTEN_AFTER = 5 * 60_000;

export interface LargeFiles {
  /**
   * For a guard, before the body is read: lets it be as large as a file may be. Throws 413 for one that says it is larger, and
   * 429 `TOO_MANY_IMPORTS` where others take the room. May be asked again for the same request.
   */
  enter(request: Request): void;
  /** It was answered. */
  leave(request: Request): void;
}

export function createLargeFiles(): LargeFiles {
  const inside = new Map<Request, Timer>();

  function leave(request: Request): void {
    clearTimeout(inside.get(request));
    inside.delete(request);
  }

  return {
    leave,
    enter(request) {
      const length = request.headers.get("content-length");
      if (Number(length) > MAX_FILE_BYTES) throw tooLarge();
      contextOf(request).maxBody = MAX_FILE_BYTES;
      const isSmall = length !== null && Number(length) <= MAX_BODY_BYTES;
      if (isSmall || inside.has(request)) return;
      if (inside.size >= AT_ONCE) throw tooMany();
      inside.set(request, setTimeout(leave, FORGOTTEN_AFTER, request).unref());
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
