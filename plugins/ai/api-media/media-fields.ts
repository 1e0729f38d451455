// Checks the fields of requests for sound and pictures: those that are not known here are refused, since they may cost extra.
import { AppError, type Issue, invalidInput } from "../../../src/kernel/errors.ts";

type Check = (value: unknown) => boolean;
/** For each field its check, and what it must be. */
export type FieldChecks = Readonly<Record<string, readonly [Check, string]>>;

const isMissing = (value: unknown) => value === undefined || value === null;

export const isText =
  (longest: number): Check =>
  (value) =>
    typeof value === "string" && value !== "" && value.length <= longest;
export const isAmong =
  (...values: readonly unknown[]): Check =>
  (value) =>
    values.includes(value);
export const isNumber =
  (least: number, most: number): Check =>
  (value) =>
    typeof value === "number" && value >= least && value <= most;

export const MODEL: FieldChecks[string] = [isText(200), "Name the model: text of 1 to 200 characters."];

/** The fields that are present. Throws 400 with issues: for unknown ones, wrong ones, and `required` ones that are missing. */
export function checkFields(body: unknown, checks: FieldChecks, required: readonly string[]): Record<string, unknown> {
  const issues: Issue[] = [];
  const given = Object.entries(Object(body) as Record<string, unknown>).filter(([, value]) => !isMissing(value));
  for (const [name, value] of given) {
    const [check, message] = (Object.hasOwn(checks, name) ? checks[name] : undefined) ?? [];
    if (!check || !message)
      issues.push({ path: name.slice(0, 100), message: `"${name.slice(0, 100)}" is not supported here.` });
    else if (!check(value)) issues.push({ path: name, message });
  }
  const names = given.map(([name]) => name);
  for (const name of required) {
    if (!names.includes(name)) issues.push({ path: name, message: checks[name]?.[1] ?? "This is missing." });
  }
  if (issues.length > 0) throw invalidInput(issues.slice(0, 20));
  return Object.fromEntries(given);
}

export const textOf = (value: unknown) => (typeof value === "string" ? value : undefined);

export const noMediaModel = (model: string | undefined) =>
  new AppError(
    404,
    "NO_MODELS",
    model === undefined
      ? "No configured provider has a model for this."
      : `No configured provider serves ${JSON.stringify(model.slice(0, 200))} for this.`,
  );
