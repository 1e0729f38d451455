// Validates a model's input for a tool against the tool's JSON schema; its messages tell the model how to correct the
// call.
import type { JsonSchema } from "./skill.ts";

const MAX_PROBLEMS = 5;

export type ValidationResult = { value: unknown } | { problems: string[] };

/**
 * The valid input, or at most five problems. Models write null for properties they leave out: null is dropped where a
 * property is optional. Unsupported keywords (`$ref`, `pattern`, `format`, …) accept everything: a schema may come from
 * a third party's server, whose regular expressions must not run here. The tool itself has to check the rest.
 */
export function validateInput(schema: JsonSchema, input: unknown): ValidationResult {
  const value = withoutNulls(schema, input ?? {});
  const problems: string[] = [];
  check(schema, value, "", problems);
  return problems.length === 0 ? { value } : { problems: problems.slice(0, MAX_PROBLEMS) };
}

function withoutNulls(schema: JsonSchema, input: unknown): unknown {
  if (!isObject(input)) return input;
  const required = Array.isArray(schema.required) ? schema.required : [];
  const properties = isObject(schema.properties) ? schema.properties : {};
  const fits = (key: string, value: unknown) => {
    const property = Object.hasOwn(properties, key) ? properties[key] : undefined;
    return value !== null || required.includes(key) || (isObject(property) && accepts(property, null));
  };
  return Object.fromEntries(Object.entries(input).filter(([key, value]) => fits(key, value)));
}

function check(schema: unknown, value: unknown, path: string, problems: string[]): void {
  if (problems.length >= MAX_PROBLEMS || (schema !== false && !isObject(schema))) return;
  const wrong = schema === false ? "is not allowed" : typeProblem(schema, value);
  if (wrong !== undefined) problems.push(`${path || "input"}: ${wrong}`);
  if (wrong !== undefined || schema === false) return;

  const problem = (what: string) => void problems.push(`${path || "input"}: ${what}`);
  if (typeof value === "string") checkRange(schema, "Length", [...value].length, "characters", problem);
  if (typeof value === "number") checkNumber(schema, value, problem);
  if (Array.isArray(value)) {
    checkRange(schema, "Items", value.length, "items", problem);
    for (const [index, item] of value.entries()) check(schema.items, item, `${path}[${index}]`, problems);
  }
  if (isObject(value)) checkProperties(schema, value, path, problems);

  if (Array.isArray(schema.allOf)) for (const part of schema.allOf) check(part, value, path, problems);
  for (const options of [schema.anyOf, schema.oneOf]) {
    if (Array.isArray(options) && !options.some((option) => accepts(option, value))) {
      problem(`must be one of: ${options.map(describe).join(", ")}`);
    }
  }
}

/** A violation of `type`, `enum` or `const`. */
function typeProblem(schema: JsonSchema, value: unknown): string | undefined {
  const { type } = schema;
  const types = typeof type === "string" ? [type] : Array.isArray(type) ? type : undefined;
  if (types && !types.some((one) => isOfType(value, one))) return `must be ${types.join(" or ")}`;
  if (Array.isArray(schema.enum) && !schema.enum.some((option) => Bun.deepEquals(option, value))) {
    return `must be one of ${JSON.stringify(schema.enum)}`;
  }
  if ("const" in schema && !Bun.deepEquals(schema.const, value)) return `must be ${JSON.stringify(schema.const)}`;
  return undefined;
}

function checkProperties(schema: JsonSchema, value: JsonSchema, path: string, problems: string[]): void {
  const properties = isObject(schema.properties) ? schema.properties : {};
  const at = (key: string) => (path ? `${path}.${key}` : key);
  for (const key of Array.isArray(schema.required) ? schema.required : []) {
    if (!Object.hasOwn(value, key)) problems.push(`${at(String(key))}: is missing`);
  }
  for (const [key, item] of Object.entries(value)) {
    if (Object.hasOwn(properties, key)) check(properties[key], item, at(key), problems);
    else if (schema.additionalProperties === false) problems.push(`${at(key)}: is not known`);
    else check(schema.additionalProperties, item, at(key), problems);
  }
}

function checkNumber(schema: JsonSchema, value: number, problem: (what: string) => void): void {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema;
  if (typeof minimum === "number" && value < minimum) problem(`must be at least ${minimum}`);
  if (typeof maximum === "number" && value > maximum) problem(`must be at most ${maximum}`);
  if (typeof exclusiveMinimum === "number" && value <= exclusiveMinimum)
    problem(`must be more than ${exclusiveMinimum}`);
  if (typeof exclusiveMaximum === "number" && value >= exclusiveMaximum)
    problem(`must be less than ${exclusiveMaximum}`);
}

function checkRange(schema: JsonSchema, of: string, size: number, unit: string, problem: (what: string) => void): void {
  const least = schema[`min${of}`];
  const most = schema[`max${of}`];
  if (typeof least === "number" && size < least) problem(`must have at least ${least} ${unit}`);
  if (typeof most === "number" && size > most) problem(`must have at most ${most} ${unit}`);
}

function accepts(schema: unknown, value: unknown): boolean {
  const problems: string[] = [];
  check(schema, value, "", problems);
  return problems.length === 0;
}

function isOfType(value: unknown, type: unknown): boolean {
  switch (type) {
    case "null":
      return value === null;
    case "array":
      return Array.isArray(value);
    case "object":
      return isObject(value);
    case "integer":
      return Number.isSafeInteger(value);
    case "number":
      return Number.isFinite(value);
    default:
      return typeof value === type;
  }
}

const describe = (schema: unknown) =>
  isObject(schema)
    ? String(schema.title ?? ("const" in schema ? JSON.stringify(schema.const) : schema.type))
    : "nothing";

const isObject = (value: unknown): value is JsonSchema =>
  typeof value === "object" && value !== null && !Array.isArray(value);
