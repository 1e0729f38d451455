// The errors of files without an agent, with the kinds of files that Berth takes.
import { AppError } from "../../../src/kernel/errors.ts";

export const UNKNOWN_FORMAT =
  "There is no agent in this file that Berth knows. It takes its own exports, OpenClaw workspaces as a zip, elizaOS characters, and character cards (JSON or PNG).";
const NOT_JSON =
  "This file is not JSON. Berth takes its own exports, OpenClaw workspaces as a zip, elizaOS characters, and character cards (JSON or PNG).";

/** Reads a file as JSON. Its error `INVALID_JSON` names the files that Berth takes, for people who chose another one. */
export function withJsonAdvice<Value>(read: () => Value): Value {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "INVALID_JSON") throw error;
    throw new AppError(400, "INVALID_JSON", NOT_JSON, {}, { cause: error });
  }
}
