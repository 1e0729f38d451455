// The error for a claim that fails a check.
import { AppError } from "../../src/kernel/errors.ts";

/** 400 `VERIFICATION_FAILED`. @param reason a sentence for people: the failed check, and the remedy if there is one */
export const verificationFailed = (reason: string) => new AppError(400, "VERIFICATION_FAILED", reason);
