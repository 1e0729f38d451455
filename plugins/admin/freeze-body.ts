// The body of the requests that freeze an account or an agent.
import { t } from "elysia";

export const freezeBody = t.Object({
  reason: t.String({
    minLength: 1,
    maxLength: 500,
    pattern: "\\S",
    description: "Why, for the owner, who reads it, and for the audit log",
    error: "Give a reason of at most 500 characters: the owner reads it.",
  }),
});
