// Why an account or an agent is frozen: the body of the requests, and the option of the commands.
import { t } from "elysia";
import { invalidInput } from "../../src/kernel/errors.ts";

/** The owner reads it in the console, in a mail and in refusals. */
const MAX_REASON = 500;

export const freezeBody = t.Object({
  reason: t.String({
    minLength: 1,
    maxLength: MAX_REASON,
    pattern: "\\S",
    description: "Why, for the owner, who reads it, and for the audit log",
    error: "Give a reason of at most 500 characters: the owner reads it.",
  }),
});

/** The reason that a command was given. Throws 400 without one, and for one that the API would refuse. */
export function requireReason(given = ""): string {
  const reason = given.trim();
  if (reason === "") throw invalidInput({ path: "reason", message: "Say why with --reason: the owner reads it." });
  if (reason.length <= MAX_REASON) return reason;
  const says = `Give a reason of at most ${MAX_REASON} characters with --reason, not ${reason.length}: the owner reads it.`;
  throw invalidInput({ path: "reason", message: says });
}
