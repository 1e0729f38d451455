// Writes the types of the API for the client, from the OpenAPI document: `bun packages/client/build/api-types.ts`. A test fails
// when they are out of date. References are resolved, so that the names in the document may change.
import { join } from "node:path";
import { EVENT_TYPES } from "../../../plugins/webhooks/event-types.ts";
import { isSchema, type OpenApiDocument, type Schema } from "../../../src/kernel/http/openapi/document.ts";

export const typesPath = join(import.meta.dir, "../src/api-types.ts");

const CONFIGURE = "PUT /api/agents/{id}/config";
/** Name, description, operation, its body or the status of its response, and the way to a part of it (`[]`, `{}`: the items). */
const TYPES: readonly (readonly [
  name: string,
  what: string,
  operation: string,
  of: "body" | number,
  ...way: string[],
])[] = [
  ["Account", "The account of a key or a session.", "GET /api/settings", 200],
  ["SignedIn", "A session that has begun.", "POST /api/auth/callback/credentials", 200],
  ["AgentConfig", "How an agent behaves.", CONFIGURE, "body"],
  ["McpServer", "An MCP server that an agent uses.", CONFIGURE, "body", "mcpServers", "{}"],
  ["RemoteAgent", "An agent of another host.", CONFIGURE, "body", "remoteAgents", "{}"],
  ["ChannelAccess", "Who may talk to an agent on a channel.", CONFIGURE, "body", "channels", "channel_a"],
  ["Schedule", "A prompt that an agent gets at set times.", CONFIGURE, "body", "schedules", "[]"],
  ["Warning", "A key of a configuration that has no effect.", "PATCH /api/agents/{id}", 200, "warnings", "[]"],
  ["Agent", "An agent in a list.", "GET /api/agents/provision", 200, "agents", "[]"],
  ["AgentDetail", "An agent.", "GET /api/agents/{id}", 200, "agent"],
  ["NewAgent", "What an agent begins with.", "POST /api/agents", "body"],
  ["CreatedAgent", "A new agent.", "POST /api/agents", 201],
  ["AgentChange", "What changes of an agent; the rest stays.", "PATCH /api/agents/{id}", "body"],
  ["ConfiguredAgent", "A changed agent.", "PATCH /api/agents/{id}", 200],
  ["ConfigAnswer", "A configuration, as it was given.", CONFIGURE, 200],
  ["Started", "An agent that runs.", "POST /api/agents/{id}/start", 200],
  ["Stopped", "An agent that was stopped.", "POST /api/agents/{id}/stop", 200],
  ["LogLine", "A line of an agent's log.", "GET /api/agents/{id}/logs", 200, "logs", "[]"],
  ["SentTurn", "A message that is stored, and will be answered.", "POST /api/agents/{id}/conversations", 202],
  ["ReplyFile", "A file of a reply.", "POST /api/chat", 200, "files", "[]"],
  ["Upload", "A file that can be sent with a message.", "POST /api/agents/{id}/uploads", 201],
  ["UploadList", "Uploads, newest first.", "GET /api/agents/{id}/uploads", 200],
  ["KnowledgeFile", "A file that an agent knows.", "POST /api/agents/{id}/files", 202, "file"],
  ["FileAnswer", "A file that is about to be read.", "POST /api/agents/{id}/files", 202],
  ["FileList", "The files that an agent knows, and what there is room for.", "GET /api/agents/{id}/files", 200],
  ["DeviceCode", "The codes of a program that asks to be signed in (RFC 8628 §3.2).", "POST /api/auth/device", 200],
  ["DeviceKey", "The key of a program that was approved.", "POST /api/auth/device/token", 200],
];

/** The text of src/api-types.ts. */
export function apiTypes(document: OpenApiDocument): string {
  /** Names of the types, by their schemas: a schema that appears within another one is named there. */
  const names = new Map<string, string>();
  const found = TYPES.map(([name, what, operation, of, ...way]) => {
    const schema = partOf(resolve(schemaOf(document, operation, of), document), way, `${name}: ${operation}`);
    names.set(keyOf(schema), name);
    return { name, what, schema };
  });
  const types = found.map(({ name, what, schema }) => {
    const inner = new Map([...names].filter(([, other]) => other !== name));
    return `/** ${what} */\nexport ${declare(name, printer(inner)(schema, ""))}\n`;
  });
  const events = EVENT_TYPES.map((type) => `  | ${JSON.stringify(type)}`).join("\n");
  return [
    "// The types of the API, made from its OpenAPI document by build/api-types.ts. Do not edit.\n",
    ...types,
    `/** What can happen in an account. */\nexport type EventType =\n${events};\n`,
  ].join("\n");
}

const declare = (name: string, type: string) =>
  /^\{[\s\S]*\}$/.test(type) && !/^\}/m.test(type.slice(0, -1))
    ? `interface ${name} ${type}`
    : `type ${name} = ${type};`;

function schemaOf({ paths }: OpenApiDocument, operation: string, of: "body" | number): Schema {
  const [method = "", path = ""] = operation.split(" ");
  const found = paths[path]?.[method.toLowerCase()];
  const content = of === "body" ? found?.requestBody?.content : found?.responses?.[of]?.content;
  const schema = content?.["application/json"]?.schema;
  if (!schema) throw new Error(`The document has no ${of} of ${operation}.`);
  return schema;
}

/** A copy without references. */
function resolve(schema: Schema, document: OpenApiDocument): Schema {
  const copy = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(copy);
    if (!isSchema(value)) return value;
    const name = typeof value.$ref === "string" ? value.$ref.replace("#/components/schemas/", "") : undefined;
    if (name === undefined) return Object.fromEntries(Object.entries(value).map(([key, of]) => [key, copy(of)]));
    const { $ref: _, ...own } = value;
    return { ...Object(copy(document.components?.schemas?.[name])), ...own };
  };
  return Object(copy(schema));
}

function partOf(schema: Schema, way: readonly string[], what: string): Schema {
  let part: unknown = schema;
  for (const step of way) {
    if (!isSchema(part)) break;
    part =
      step === "[]"
        ? part.items
        : step === "{}"
          ? part.additionalProperties
          : isSchema(part.properties)
            ? part.properties[step]
            : undefined;
  }
  if (!isSchema(part)) throw new Error(`The document has no ${way.join(".")} in ${what}.`);
  return part;
}

/** Equal for schemas with the same shape, whatever is said about the value as a whole. */
const keyOf = ({ description: _, title: __, examples: ___, ...shape }: Schema) => JSON.stringify(shape);

/** Prints a schema as a type. */
function printer(names: ReadonlyMap<string, string>) {
  const print = (schema: Schema, indent: string): string => names.get(keyOf(schema)) ?? shapeOf(schema, indent);
  const union = (types: readonly string[]) => [...new Set(types)].join(" | ");
  /** Alternatives and conjuncts that only say which members go together have no type. */
  const typed = (list: unknown) =>
    Array.isArray(list)
      ? list.filter(
          (one) => isSchema(one) && (one.type || one.const !== undefined || one.enum || one.anyOf || one.oneOf),
        )
      : [];

  function shapeOf(schema: Schema, indent: string): string {
    const { type, enum: values, anyOf, oneOf, allOf } = schema;
    if ("const" in schema) return JSON.stringify(schema.const);
    if (Array.isArray(values)) return union(values.map((value) => JSON.stringify(value)));
    const options = [...typed(anyOf), ...typed(oneOf)];
    if (options.length > 0 && !schema.properties) return union(options.map((one) => print(one, indent)));
    const parts = typed(allOf).filter((one) => one.type);
    if (parts.length > 0 && !schema.properties) return parts.map((one) => print(one, indent)).join(" & ");
    if (Array.isArray(type)) return union(type.map((one) => print({ ...schema, type: one }, indent)));
    if (type === "array") {
      const item = isSchema(schema.items) ? print(schema.items, indent) : "unknown";
      return / [|&] /.test(item) && !item.startsWith("{") ? `(${item})[]` : `${item}[]`;
    }
    if (type === "object" || schema.properties) return objectOf(schema, indent);
    return type === "integer" ? "number" : typeof type === "string" ? type : "unknown";
  }

  function objectOf({ properties, required, additionalProperties }: Schema, indent: string): string {
    const members = isSchema(properties) ? Object.entries(properties) : [];
    const others = isSchema(additionalProperties) ? print(additionalProperties, indent) : "unknown";
    if (members.length === 0) return `Record<string, ${others}>`;
    const inside = `${indent}  `;
    const lines = members.flatMap(([name, member]) => {
      if (!isSchema(member)) return [];
      const text =
        typeof member.description === "string" ? member.description.replace(/\s+/g, " ").replaceAll("*/", "* /") : "";
      const isRequired = Array.isArray(required) && required.includes(name);
      const key = /^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name);
      return [
        ...(text ? [`${inside}/** ${text} */`] : []),
        `${inside}${key}${isRequired ? "" : "?"}: ${print(member, inside)};`,
      ];
    });
    // Where the API keeps any other name as well, the type doesn't: a misspelt one is to be an error of the compiler.
    if (isSchema(additionalProperties)) lines.push(`${inside}[key: string]: ${others};`);
    return `{\n${lines.join("\n")}\n${indent}}`;
  }
  return print;
}

if (import.meta.main) {
  const main = join(import.meta.dir, "../../../src/server/main.ts");
  const child = Bun.spawn([process.execPath, main, "openapi", "web"], { stdout: "pipe" });
  await Bun.write(typesPath, apiTypes(JSON.parse(await new Response(child.stdout).text())));
}
