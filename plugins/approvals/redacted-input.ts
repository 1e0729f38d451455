// Makes a tool call's input fit to be stored and shown: a copy with secrets blacked out.
import { REDACTED, SECRET_FIELD_NAME } from "../../src/kernel/telemetry/redact.ts";

/** The input as JSON, without the values of fields that are named like secrets and without texts in the form of one. */
export function redactInput(input: unknown, redactForms: (text: string) => string): string {
  const redact = (_: string, value: unknown) => (typeof value === "string" ? redactForms(value) : value);
  const blackOut = (name: string, value: unknown) =>
    name !== "" && SECRET_FIELD_NAME.test(name) && typeof value !== "object" ? REDACTED : redact(name, value);
  return JSON.stringify(input, blackOut) ?? "null";
}
