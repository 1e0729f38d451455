// The one failure body of all life-cycle routes: `success: false`, `status: "error"` (interface, "Agent lifecycle").
import { AppError } from "../../src/kernel/errors.ts";

const FAILURE_BODY = { success: false, status: "error" } as const;

/** Does the work; what it throws carries the failure body. What nobody may see becomes a 500 with it. */
export async function withFailureBody<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (cause) {
    if (!(cause instanceof AppError)) {
      throw new AppError(500, "INTERNAL", "The operation failed. Try again; see the agent's log.", FAILURE_BODY, {
        cause,
      });
    }
    const { status, code, message, extras, headers } = cause;
    throw new AppError(status, code, message, { ...extras, ...FAILURE_BODY }, { cause: cause.cause, headers });
  }
}
