// Types for the parts of OpenAPI 3.1 that Berth's documents use. https://spec.openapis.org/oas/v3.1.1

export interface Schema {
  [keyword: string]: unknown;
}

/** A true request or answer of a type, with a line about it. https://spec.openapis.org/oas/v3.1.1#example-object */
export interface NamedExample {
  summary?: string;
  value: unknown;
}

export interface MediaTypes {
  [type: string]: { schema?: Schema; examples?: Record<string, NamedExample> };
}

export interface ResponseObject {
  description?: string;
  headers?: Record<string, object>;
  content?: MediaTypes;
  $ref?: string;
  /** The codes of an error, for programs; the description lists them, too. */
  "x-error-codes"?: string[];
}

export interface Parameter {
  name: string;
  in: string;
  description?: string;
  required?: boolean;
  examples?: unknown;
  example?: unknown;
  schema?: Schema;
}

export interface Operation {
  operationId?: string;
  tags?: string[];
  summary?: string;
  description?: string;
  deprecated?: boolean;
  parameters?: Parameter[];
  requestBody?: { description?: string; required?: boolean; content?: MediaTypes };
  responses?: Record<string, ResponseObject>;
  security?: Record<string, string[]>[];
  /** Set by `documentErrors`; removed from the finished document. */
  "x-errors"?: Record<string, string[]>;
  /** Further codes of the guard, by status, that only methods which change something can give. */
  "x-errors-of-changes"?: Record<string, string[]>;
  /** The form of its errors where it is not Berth's own; removed likewise. */
  "x-error-schema"?: Schema;
}

/** A group of operations; `externalDocs` is its guide. */
export interface Tag {
  name: string;
  description?: string;
  externalDocs?: { url: string; description: string };
}

export interface OpenApiDocument {
  openapi: string;
  info: { title: string; version: string; description?: string; license?: { name: string; identifier?: string } };
  servers?: { url: string; description?: string }[];
  tags?: Tag[];
  paths: Record<string, Record<string, Operation>>;
  components?: {
    schemas?: Record<string, Schema>;
    responses?: Record<string, ResponseObject>;
    headers?: Record<string, object>;
    securitySchemes?: Record<string, object>;
  };
}

export const isSchema = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Returns a copy of a schema with `change` applied to each schema directly inside it. */
export function mapSubschemas(schema: Schema, change: (inner: Schema, key: string) => Schema): Schema {
  const result = { ...schema };
  for (const [keyword, value] of Object.entries(schema)) {
    if (MAPS.has(keyword) && isSchema(value)) {
      const inner = Object.entries(value).map(([key, of]) => [key, isSchema(of) ? change(of, key) : of]);
      result[keyword] = Object.fromEntries(inner);
    } else if (LISTS.has(keyword) && Array.isArray(value)) {
      result[keyword] = value.map((of) => (isSchema(of) ? change(of, keyword) : of));
    } else if (SINGLE.has(keyword) && isSchema(value)) {
      result[keyword] = change(value, keyword);
    }
  }
  return result;
}

const MAPS = new Set(["properties", "patternProperties"]);
const LISTS = new Set(["anyOf", "oneOf", "allOf", "prefixItems"]);
const SINGLE = new Set(["items", "additionalProperties", "not"]);

/** "GET /api/agents/{id}": how messages and files name an operation. */
export const operationName = (method: string, path: string) => `${method.toUpperCase()} ${path}`;

export function parseOperationName(name: string): { method: string; path: string } {
  const [method = "", path = ""] = name.split(" ");
  return { method: method.toLowerCase(), path };
}
