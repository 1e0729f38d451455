// Validates plan and duration of a subscription, for the admin routes and the commands.
import { AppError, invalidInput } from "../../src/kernel/errors.ts";
import { DAY } from "../../src/kernel/util/time.ts";
import type { PlanTable } from "../auth/index.ts";

const DEFAULT_DAYS = 30;
const MAX_DAYS = 36_500;

/** A time with its zone (RFC 3339); the seconds may be omitted. */
const RFC3339_PATTERN = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)$/i;

/** The end of the period (epoch ms): the given time, or the given days from now (default 30). Throws 400 for both. */
export function resolvePeriodEnd(days: number | undefined, currentPeriodEnd: string | undefined): number {
  if (currentPeriodEnd === undefined) return Date.now() + (days ?? DEFAULT_DAYS) * DAY;
  const path = "currentPeriodEnd";
  if (days !== undefined) throw invalidInput({ path, message: "Give either the days or the end, not both." });
  const end = RFC3339_PATTERN.test(currentPeriodEnd) ? Date.parse(currentPeriodEnd) : Number.NaN;
  if (Number.isNaN(end)) throw invalidInput({ path, message: "Give an ISO 8601 time, such as 2030-01-31T00:00:00Z." });
  return end;
}

/** The plan with this name. Throws 400 `UNKNOWN_PLAN`. */
export function requirePlan(text: string, { find, plans }: PlanTable): string {
  if (find(text)) return text;
  throw new AppError(400, "UNKNOWN_PLAN", `Unknown plan "${text}". Plans: ${plans.map(({ id }) => id).join(", ")}.`);
}

/** Parses the number of `--days`. Throws 400 `INVALID_DAYS`. */
export function requireDays(text: string): number {
  const problem = daysProblem(text);
  if (problem === undefined) return Number(text);
  throw new AppError(400, "INVALID_DAYS", problem);
}

/** What is wrong with the number of `--days`; undefined if nothing is. */
export function daysProblem(text: string): string | undefined {
  if (/^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= MAX_DAYS) return undefined;
  return `--days takes a whole number from 1 to ${MAX_DAYS}, such as 30, not "${text}".`;
}
