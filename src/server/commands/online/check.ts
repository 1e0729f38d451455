// The result of one check of `berth doctor --online`, and how it is shown.

import { withFullStop } from "../../../kernel/util/text/full-stop.ts";

export interface CheckResult {
  /** `note`: nothing to check, or not from here. */
  level: "good" | "note" | "warning" | "broken";
  /** What was checked, and what was found. */
  text: string;
  /** What to do. */
  action?: string;
}

export const SIGNS: Record<CheckResult["level"], string> = { good: "✓", note: "·", warning: "!", broken: "✗" };

/** The message of an error and its code, which says more where the message says nothing. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = "code" in error && typeof error.code === "string" ? error.code : undefined;
  const message = error.message.replace(/\s+/g, " ").trim();
  if (error.name === "TimeoutError") return "no answer in time";
  return code && !message.includes(code) ? `${message} (${code})` : message;
}

/** The same as the end of a sentence. */
export const becauseOf = (error: unknown) => withFullStop(reasonOf(error));
