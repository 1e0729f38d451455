// Simplifies schemas that are written for validation to the forms of JSON Schema 2020-12 that tools support best.
import { isSchema, mapSubschemas, type Schema } from "./document.ts";

/** Keywords that only validation needs: names of models, and messages for invalid values. */
const INTERNAL_KEYWORDS = ["$id", "error"];

/** Keywords of a value that its route validates by itself: this schema is shown in place of the route's own. */
export const documentedAs = (schema: Schema) => ({ documentedAs: schema });

/** Removes internal keywords, turns unions of constants into `enum`, and nullable types into a pair of types. */
export function simplifySchema(schema: Schema): Schema {
  if (isSchema(schema.documentedAs)) return simplifySchema(schema.documentedAs);
  const kept = Object.fromEntries(Object.entries(schema).filter(([keyword]) => !INTERNAL_KEYWORDS.includes(keyword)));
  return simplifyRecord(simplifyUnion(mapSubschemas(kept, simplifySchema)));
}

function simplifyUnion(schema: Schema): Schema {
  const { anyOf, ...rest } = schema;
  if (!Array.isArray(anyOf) || !anyOf.every(isSchema)) return schema;
  // A number in a query may also be text for validation; only the number is documented.
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

/** Turns a record with any keys into `additionalProperties`. */
function simplifyRecord(schema: Schema): Schema {
  const { patternProperties, ...rest } = schema;
  if (!isSchema(patternProperties)) return schema;
  const [[pattern, values] = [], ...others] = Object.entries(patternProperties);
  if (others.length > 0 || (pattern !== "^(.*)$" && pattern !== "^.*$")) return schema;
  return { ...rest, additionalProperties: values };
}
