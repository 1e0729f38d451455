// Adds the failure body of life-cycle routes to errors: every failure has `success: false` and `status: "error"`.
import { toPublicError } from "../../src/kernel/error-body.ts";
import { AppError } from "../../src/kernel/errors.ts";
import { FAILURE_BODY } from "../agents/index.ts";

/**
 * Runs `work` and adds the failure body to its AppErrors. Any other error becomes a 500 `INTERNAL` without its details.
 */
export async function withFailureBody<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (thrown) {
    const cause = toPublicError(thrown);
    if (!(cause instanceof AppError)) {
      throw new AppError(500, "INTERNAL", "The operation failed. Try again; see the agent's log.", FAILURE_BODY, {
        cause,
      });
    }
    const { status, code, message, extras, headers } = cause;
    throw new AppError(status, code, message, { ...extras, ...FAILURE_BODY }, { cause: cause.cause, headers });
  }
}
