// Describes an error that ends a stream which has begun: too late for a status, so it is told in the stream.
import { errorBody } from "../../../src/kernel/error-body.ts";
import { AppError } from "../../../src/kernel/errors.ts";
import type { Log } from "../../../src/kernel/telemetry/log.ts";

/** The status and the body that the error would have had as a response. */
export type DescribeError = (error: unknown) => { status: number; body: Record<string, unknown> };

/** Logs what is no AppError, and the causes of those that are the server's fault. */
export const createDescribeError =
  (log: Pick<Log, "error" | "warn">): DescribeError =>
  (error) => {
    if (!(error instanceof AppError)) log.error("an answer under /v1 failed", { error });
    else if (error.status >= 500) log.warn("an answer under /v1 broke off", { code: error.code, cause: error.cause });
    return errorBody(error);
  };
