// Reads and writes the credentials of a bot that needs more than one value: one text, which is sealed as its token.
import type { CredentialField, TokenProblem } from "../definition.ts";

/** Values by the names of their fields, trimmed; fields that were left empty are missing. */
export type CredentialValues = Readonly<Record<string, string>>;

/** Why the value of a field has the wrong form, or that it is missing. */
export interface CredentialProblem extends TokenProblem {
  field: string;
}

/**
 * The text that is stored: JSON of the values in the order of the fields, in printable ASCII without spaces, which is what
 * the store of credentials takes. Its salt makes the digest of the text, which is
 * stored in clear, useless for guessing a short password.
 */
export function writeCredentials(fields: readonly CredentialField[], values: CredentialValues): string {
  const given = fields.flatMap(({ name }) => (values[name] === undefined ? [] : [[name, values[name]] as const]));
  const salt = Buffer.from(crypto.getRandomValues(new Uint8Array(16))).toString("base64url");
  return JSON.stringify({ ...Object.fromEntries(given), salt }).replace(/[^\x21-\x7e]/g, escapeUnit);
}

/**
 * The values of a text that is a JSON object of texts, whole numbers and booleans; undefined for any other text. Names that
 * are no field are dropped.
 */
export function readCredentials(fields: readonly CredentialField[], text: string): CredentialValues | undefined {
  const parsed = parseObject(text);
  return parsed && pickCredentials(fields, parsed);
}

/** The values of the fields in an object of texts, whole numbers and booleans. */
export function pickCredentials(
  fields: readonly CredentialField[],
  object: Readonly<Record<string, unknown>>,
): CredentialValues {
  const given = fields.flatMap(({ name }) => {
    const value = Object.hasOwn(object, name) ? object[name] : undefined;
    const text = ["string", "number", "boolean"].includes(typeof value) ? String(value).trim() : "";
    return text === "" ? [] : [[name, text] as const];
  });
  return Object.fromEntries(given);
}

/** What is wrong with the values, in the order of the fields: those of the wrong form, and those that are missing. */
export function findCredentialProblems(
  fields: readonly CredentialField[],
  values: CredentialValues,
): CredentialProblem[] {
  return fields.flatMap(({ name, label, isOptional, findProblem }): CredentialProblem[] => {
    const value = values[name];
    if (value === undefined) {
      return isOptional ? [] : [{ field: name, code: "missing", message: `Give this: ${label}.` }];
    }
    const problem = findProblem(value);
    return problem ? [{ field: name, ...problem }] : [];
  });
}

/** `ChannelDefinition.findTokenProblem` of a channel with these fields. */
export function findCredentialTextProblem(fields: readonly CredentialField[], text: string): TokenProblem | undefined {
  const values = readCredentials(fields, text);
  if (values) return findCredentialProblems(fields, values)[0];
  const example = JSON.stringify(Object.fromEntries(fields.map(({ name }) => [name, "…"])));
  return { code: "start", message: `This channel needs several values. As one text they are JSON: ${example}` };
}

const escapeUnit = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}
