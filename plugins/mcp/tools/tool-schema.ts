// Reduces a tool's JSON schema to what every model provider takes: keywords without regular expressions, bounded in depth.
import type { JsonSchema } from "../../skills/index.ts";

const MAX_DEPTH = 8;
const MAX_DESCRIPTION = 300;
/** Keywords with plain values. Patterns are left out: they could be costly, and providers differ in what they accept. */
const PLAIN = new Set([
  ...["type", "enum", "const", "default", "title", "format", "required", "minimum", "maximum", "exclusiveMinimum"],
  ...["exclusiveMaximum", "multipleOf", "minLength", "maxLength", "minItems", "maxItems", "uniqueItems"],
]);
const SCHEMAS = new Set(["items", "additionalProperties", "not"]);
const LISTS = new Set(["anyOf", "oneOf", "allOf", "prefixItems"]);
const NAMED = new Set(["properties", "$defs", "definitions"]);

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The schema of an object; one that is deeper than eight levels accepts anything below. */
export const toToolSchema = (schema: unknown): JsonSchema => ({
  ...(isObject(schema) ? reduce(schema, 0) : {}),
  type: "object",
});

function reduce(schema: Record<string, unknown>, depth: number): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  for (const [keyword, value] of Object.entries(schema)) {
    if (PLAIN.has(keyword)) result[keyword] = value;
    else if (keyword === "description" && typeof value === "string") result[keyword] = cut(value);
    else if (keyword === "$ref" && typeof value === "string" && value.startsWith("#/")) result[keyword] = value;
    else if (SCHEMAS.has(keyword)) result[keyword] = inner(value, depth);
    else if (LISTS.has(keyword) && Array.isArray(value)) result[keyword] = value.map((one) => inner(one, depth));
    else if (NAMED.has(keyword) && isObject(value)) {
      result[keyword] = Object.fromEntries(Object.entries(value).map(([name, one]) => [name, inner(one, depth)]));
    }
  }
  return result;
}

const inner = (value: unknown, depth: number): unknown =>
  isObject(value) ? (depth >= MAX_DEPTH ? {} : reduce(value, depth + 1)) : typeof value === "boolean" ? value : {};

const cut = (text: string) =>
  text.length > MAX_DESCRIPTION ? `${text.slice(0, MAX_DESCRIPTION).toWellFormed()}…` : text;
