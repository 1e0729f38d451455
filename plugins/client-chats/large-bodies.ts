// Admits requests whose JSON has files in it, and limits how many are read at once.
import { AppError } from "../../src/kernel/errors.ts";
import { createBodyGate } from "../../src/kernel/security/rate-limits/body-gate.ts";

const MIB = 1024 * 1024;
/** Text is parsed on the event loop: this much takes it some 20 ms. */
const MAX_BYTES = 8 * MIB;

/** Throws 413 `BODY_TOO_LARGE`, 429 `TOO_MANY_UPLOADS`. */
export const createLargeBodyGate = () =>
  createBodyGate({ maxBytes: MAX_BYTES, concurrent: 16, perAddress: 8, tooLarge, tooMany });

const tooLarge = () => {
  const text =
    "The body is larger than 8 MiB. Upload large files with POST /api/agents/:id/uploads, and send their addresses.";
  return new AppError(413, "BODY_TOO_LARGE", text);
};
const tooMany = () => {
  const text = "Many messages with files are being read right now. Try again in a few seconds.";
  return new AppError(429, "TOO_MANY_UPLOADS", text, {}, { headers: { "retry-after": "3" } });
};
