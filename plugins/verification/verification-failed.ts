// The one answer to a claim that does not hold.
import { AppError } from "../../src/kernel/errors.ts";

/** 400 `VERIFICATION_FAILED`; the sentence says which check it was, and what to do where something can be done. */
export const verificationFailed = (reason: string) => new AppError(400, "VERIFICATION_FAILED", reason);
