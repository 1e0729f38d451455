// Reads the OpenAPI document that the page shows: types of the parts it uses, and references.

export interface Schema {
  $ref?: string;
  type?: string | string[];
  title?: string;
  description?: string;
  format?: string;
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  examples?: unknown[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  additionalProperties?: Schema | boolean;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
}

export interface Media {
  schema?: Schema;
  examples?: Record<string, { summary?: string; value: unknown }>;
}

export interface ApiResponse {
  $ref?: string;
  description: string;
  content?: Record<string, Media>;
}

export interface Parameter {
  name: string;
  in: "path" | "query" | "header";
  description?: string;
  required?: boolean;
  example?: unknown;
  schema: Schema;
}

export interface Operation {
  operationId: string;
  tags?: string[];
  summary: string;
  description?: string;
  deprecated?: boolean;
  parameters?: Parameter[];
  requestBody?: { description?: string; required?: boolean; content: Record<string, Media> };
  responses: Record<string, ApiResponse>;
  security?: Record<string, string[]>[];
}

export interface ApiDocument {
  info: { title: string; version: string; description?: string };
  tags: { name: string; description?: string; externalDocs?: { url: string; description: string } }[];
  paths: Record<string, Record<string, Operation>>;
  components: {
    schemas: Record<string, Schema>;
    responses?: Record<string, ApiResponse>;
    securitySchemes: Record<
      string,
      { type: string; scheme?: string; in?: string; name?: string; description?: string }
    >;
  };
}

/** An operation with its place. */
export interface Entry {
  method: string;
  path: string;
  operation: Operation;
  tag: string;
}

export const entriesOf = ({ paths }: ApiDocument): Entry[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      operation,
      tag: operation.tags?.[0] ?? "Other",
    })),
  );

/** What the search looks in: the place, the texts of the operation and of its tag. */
export function searchTextOf({ tags }: ApiDocument, { method, path, operation, tag }: Entry): string {
  const { summary, operationId, description = "" } = operation;
  const about = tags.find(({ name }) => name === tag)?.description ?? "";
  return `${method} ${path} ${summary} ${operationId} ${description} ${tag} ${about}`.toLowerCase();
}

/** The word without an English ending, so that "streaming" finds "streamed". */
export const stemOf = (word: string) => (word.length > 5 ? word.replace(/(?:ing|ed|es|s)$/, "") : word);

/** The name of the component that a reference points at. */
export const nameOf = (reference: string) => reference.split("/").at(-1) ?? "";

export function resolveSchema(api: ApiDocument, schema: Schema): Schema {
  if (schema.$ref === undefined) return schema;
  return api.components.schemas[nameOf(schema.$ref)] ?? {};
}

export function resolveResponse(api: ApiDocument, response: ApiResponse): ApiResponse {
  if (response.$ref === undefined) return response;
  return api.components.responses?.[nameOf(response.$ref)] ?? { description: "" };
}

/** The schema in a few words: "array of Agent", "string, null", "a | b". */
export function describeType(api: ApiDocument, schema: Schema): string {
  if (schema.$ref) return nameOf(schema.$ref);
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return [...new Set(choices.map((one) => describeType(api, one)))].join(" | ");
  if (schema.allOf) return schema.allOf.map((one) => describeType(api, one)).join(" and ");
  if (schema.items) return `array of ${describeType(api, schema.items)}`;
  const types = [schema.type ?? "any"].flat().join(" or ");
  return schema.format ? `${types} (${schema.format})` : types;
}

/** The limits of a value, as a list for readers. */
export function describeLimits(schema: Schema): string[] {
  const limits: [string, unknown][] = [
    ["at least", schema.minimum],
    ["at most", schema.maximum],
    ["characters, at least", schema.minLength],
    ["characters, at most", schema.maxLength],
    ["items, at least", schema.minItems],
    ["items, at most", schema.maxItems],
    ["default", schema.default],
  ];
  return limits.flatMap(([words, value]) => (value === undefined ? [] : [`${words} ${JSON.stringify(value)}`]));
}

/** The first example of a body, with its media type. */
export function exampleOf(content: Record<string, Media> | undefined): { type: string; value: unknown } | undefined {
  for (const [type, { examples = {} }] of Object.entries(content ?? {})) {
    const [first] = Object.values(examples);
    if (first) return { type, value: first.value };
  }
  return undefined;
}

export const asText = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value, null, 2));
