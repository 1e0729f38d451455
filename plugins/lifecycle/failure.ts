// The one failure body of all life-cycle routes: `success: false`, `status: "error"` (interface, "Agent lifecycle").
import { AppError } from "../../src/errors.ts";

const BODY = { success: false, status: "error" } as const;

/** Does the work; what it throws carries the failure body. What nobody may see becomes a 500 with it. */
export async function orFailure<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (cause) {
    if (!(cause instanceof AppError)) {
      throw new AppError(500, "INTERNAL", "The operation failed. Try again; see the agent's log.", BODY, {
        cause,
      });
    }
    const { status, code, message, extras, headers } = cause;
    throw new AppError(status, code, message, { ...extras, ...BODY }, { cause: cause.cause, headers });
  }
}
