// Prepares a tool call's input for storage: a digest of the exact input, and a copy with secrets blacked out.
import { REDACTED, SECRET_FIELD_NAME } from "../../src/kernel/telemetry/redact.ts";

/** The digest by which an approved call is recognized. The order of an object's members makes no difference. */
export const digestInput = (input: unknown): string =>
  new Bun.CryptoHasher("sha256").update(canonicalJson(input)).digest("base64url");

function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`);
  return `{${members.join(",")}}`;
}

/** The input as JSON, without the values of fields that are named like secrets and without texts in the form of one. */
export function redactInput(input: unknown, redactForms: (text: string) => string): string {
  const redact = (_: string, value: unknown) => (typeof value === "string" ? redactForms(value) : value);
  const blackOut = (name: string, value: unknown) =>
    name !== "" && SECRET_FIELD_NAME.test(name) && typeof value !== "object" ? REDACTED : redact(name, value);
  return JSON.stringify(input, blackOut) ?? "null";
}
