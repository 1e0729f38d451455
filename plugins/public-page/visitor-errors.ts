// Turns the errors of turns into what visitors may know.
import { AppError } from "../../src/kernel/errors.ts";

/** Error messages for visitors by code. They reveal nothing about models, keys and budgets. */
const VISITOR_MESSAGES: Readonly<Record<string, string>> = {
  AGENT_STOPPED: "This agent is asleep. Come back later.",
  AGENT_FROZEN: "This agent is paused. Come back later.",
  BUDGET_EXCEEDED: "This agent can't answer any more for now. Come back later.",
  MODEL_UNAVAILABLE: "This agent can't answer right now. Try again shortly.",
};

/** Codes whose messages are about the visitor's own request, or about the service as a whole. */
const KEPT_CODES: ReadonlySet<string> = new Set([
  ...["AGENT_NOT_FOUND", "SESSION_NOT_FOUND", "SESSION_ELSEWHERE", "CANCELLED", "ALREADY_SETTLED"],
  ...["STOPPING", "AGENT_CHANGING"],
]);

/** Any other error may be about the model, its provider or its price, which are the owner's business: even its code is not shown. */
export function toVisitorError(error: unknown): unknown {
  if (!(error instanceof AppError) || KEPT_CODES.has(error.code)) return error;
  const { status, code } = error;
  const options = { cause: error };
  const known = VISITOR_MESSAGES[code];
  if (known !== undefined) return new AppError(status, code, known, {}, options);
  const [shownStatus, shownCode] =
    status < 500 ? ([502, "MODEL_UNAVAILABLE"] as const) : ([status, "UNAVAILABLE"] as const);
  return new AppError(shownStatus, shownCode, "This agent can't answer right now.", {}, options);
}
