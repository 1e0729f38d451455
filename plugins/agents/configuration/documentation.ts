// Writes the keys in docs/agents.md from their rows: `bun plugins/agents/configuration/documentation.ts`. A test fails
// when the page is out of date.
import { join } from "node:path";
import { isSchema, type Schema } from "../../../src/kernel/http/openapi/document.ts";
import { configSchema, exampleOf } from "./config-schema.ts";

export const pagePath = join(import.meta.dir, "../../../docs/agents.md");

/** The page with the list of keys replaced; only the text between the markers changes. */
export const renderAgentsPage = (page: string): string =>
  page.replace(
    /(<!-- keys: made by [^\n]*-->\n).*?(<!-- end of keys -->)/s,
    (_, start: string, end: string) => `${start}\n${keysText()}\n\n${end}`,
  );

/** A section for each key: what it does, its rules, an example, and the members of objects in it. */
export function keysText(): string {
  return membersOf(configSchema())
    .map(([key, schema]) => {
      const members = membersOf(objectIn(schema));
      return [
        `### \`${key}\``,
        linked(String(schema.description)),
        sentencesOf(schema),
        `\`\`\`json\n${printed({ [key]: exampleOf(schema) })}\n\`\`\``,
        ...(members.length > 0 ? [membersTable(members)] : []),
      ].join("\n\n");
    })
    .join("\n\n");
}

function membersTable(members: [string, Schema][]): string {
  const rows = members.map(([name, schema]) => {
    const text = [schema.description, sentencesOf(schema)].filter((part) => part !== undefined).join(" ");
    return `| \`${name}\` | ${text.replaceAll("|", "\\|")} |`;
  });
  return ["| Member | |", "|---|---|", ...rows].join("\n");
}

/** The rules of a schema, and its default, as sentences. */
function sentencesOf(schema: Schema): string {
  const unless = schema.default === undefined ? "" : ` Default: \`${JSON.stringify(schema.default)}\`.`;
  return `${capitalized(kindOf(schema))}.${unless}`;
}

function kindOf(schema: Schema): string {
  const { type, minimum, maximum, minLength = 0, maxLength, maxItems, maxProperties } = schema;
  const choices = schemasIn(schema.anyOf) ?? (type === undefined ? schemasIn(schema.oneOf) : undefined);
  if (choices) return choices.map(kindOf).join(", or ");
  if (Array.isArray(schema.enum)) return `one of ${joined(schema.enum.map((value) => `\`${String(value)}\``))}`;
  if (type === "null") return "null";
  if (type === "boolean") return "`true` or `false`";
  if (type === "integer") return `a whole number from ${String(minimum)}`;
  if (type === "number") return `a number from ${String(minimum)} to ${count(maximum)}`;
  if (type === "array")
    return `a list of at most ${count(maxItems)}, each ${isSchema(schema.items) ? kindOf(schema.items) : "any value"}`;
  if (type === "string") {
    if (maxLength === undefined) return "text";
    return minLength === 0
      ? `text of at most ${count(maxLength)} characters`
      : `text of ${String(minLength)} to ${count(maxLength)} characters`;
  }
  // A member that only must not be there is nothing to tell of.
  const members = membersOf(schema).flatMap(([name, member]) => (member.not ? [] : [`\`${name}\``]));
  if (members.length > 0) return `an object with ${joined(members, "and")}`;
  const values = isSchema(schema.additionalProperties) ? kindOf(schema.additionalProperties) : "any value";
  const limit = maxProperties === undefined ? "" : `at most ${count(maxProperties)} `;
  return `an object with ${limit}names of your choice, each with ${values}`;
}

/** The schema of the object that a value is, or that its items or members are if they are all alike. */
function objectIn(schema: Schema): Schema {
  const [first, ...others] = membersOf(schema).map(([, member]) => member);
  const areAlike = others.length > 0 && others.every((other) => JSON.stringify(other) === JSON.stringify(first));
  const inner = areAlike ? first : (schema.items ?? schema.additionalProperties);
  return isSchema(inner) && inner.type === "object" ? objectIn(inner) : schema;
}

/** JSON with objects and lists on one line where they fit. */
function printed(value: unknown, indent = ""): string {
  const line = JSON.stringify(value, null, 1).replace(/\n */g, " ");
  if (line.length + indent.length <= 100 || typeof value !== "object" || value === null) return line;
  const isList = Array.isArray(value);
  const inner = Object.entries(value).map(
    ([name, item]) => `${indent}  ${isList ? "" : `"${name}": `}${printed(item, `${indent}  `)}`,
  );
  return `${isList ? "[" : "{"}\n${inner.join(",\n")}\n${indent}${isList ? "]" : "}"}`;
}

/** Names of other pages as links. */
const linked = (text: string) => text.replace(/docs\/([\w-]+\.md)/g, "[$1]($1)");
const schemasIn = (list: unknown): Schema[] | undefined => (Array.isArray(list) ? list.filter(isSchema) : undefined);
const membersOf = ({ properties }: Schema): [string, Schema][] =>
  Object.entries(isSchema(properties) ? properties : {}).flatMap(([name, schema]) =>
    isSchema(schema) && schema.deprecated !== true ? [[name, schema]] : [],
  );
const joined = (parts: string[], word = "or") =>
  parts.length < 2 ? parts.join("") : `${parts.slice(0, -1).join(", ")} ${word} ${parts.at(-1)}`;
const count = (value: unknown) => Number(value).toLocaleString("en-GB");
const capitalized = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

if (import.meta.main) await Bun.write(pagePath, renderAgentsPage(await Bun.file(pagePath).text()));
