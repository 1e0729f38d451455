// Schemas as the routes check them, put into the words of JSON Schema 2020-12 that readers and tools know best.
import { isSchema, mapSubschemas, type Schema } from "./document.ts";

/** Keywords that serve the checking alone: names of models, and the sentence that a refusal says. */
const INTERNAL_KEYWORDS = ["$id", "error"];

/** Without what only the checking needs; choices of constants as `enum`, nullable ones as a pair of types. */
export function simplifySchema(schema: Schema): Schema {
  const kept = Object.fromEntries(Object.entries(schema).filter(([keyword]) => !INTERNAL_KEYWORDS.includes(keyword)));
  return simplifyRecord(simplifyUnion(mapSubschemas(kept, simplifySchema)));
}

function simplifyUnion(schema: Schema): Schema {
  const { anyOf, ...rest } = schema;
  if (!Array.isArray(anyOf) || !anyOf.every(isSchema)) return schema;
  // Numbers in a query come as text; the reader cares for the number.
  if (anyOf.some(({ format }) => format === "numeric" || format === "integer")) {
    const number = anyOf.find(({ type }) => type === "number" || type === "integer");
    if (number) return { ...number, ...rest };
  }
  const values = anyOf.filter((choice) => choice.type !== "null");
  const nullable = values.length < anyOf.length;
  const enumerated = toEnum(values);
  if (enumerated) return { ...(nullable ? toNullable(enumerated) : enumerated), ...rest };
  const [only] = values;
  if (nullable && only && values.length === 1 && SCALARS.has(String(only.type)))
    return { ...toNullable(only), ...rest };
  return schema;
}

const SCALARS = new Set(["string", "number", "integer", "boolean"]);

function toEnum(choices: Schema[]): Schema | undefined {
  const [first] = choices;
  if (!first || choices.length < 2 || !choices.every((choice) => "const" in choice && choice.type === first.type)) {
    return undefined;
  }
  return { type: first.type, enum: choices.map((choice) => choice.const) };
}

function toNullable({ type, ...rest }: Schema): Schema {
  const values = "const" in rest ? [rest.const] : Array.isArray(rest.enum) ? rest.enum : undefined;
  delete rest.const;
  return { type: [type, "null"], ...rest, ...(values ? { enum: [...values, null] } : undefined) };
}

/** A map with any keys is `additionalProperties`. */
function simplifyRecord(schema: Schema): Schema {
  const { patternProperties, ...rest } = schema;
  if (!isSchema(patternProperties)) return schema;
  const [[pattern, values] = [], ...others] = Object.entries(patternProperties);
  if (others.length > 0 || (pattern !== "^(.*)$" && pattern !== "^.*$")) return schema;
  return { ...rest, additionalProperties: values };
}
