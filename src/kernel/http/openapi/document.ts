// Types for the parts of OpenAPI 3.1 that Berth's documents use. https://spec.openapis.org/oas/v3.1.1

export interface Schema {
  [keyword: string]: unknown;
}

export interface MediaTypes {
  [type: string]: { schema?: Schema };
}

export interface ResponseObject {
  description?: string;
  headers?: Record<string, object>;
  content?: MediaTypes;
  $ref?: string;
}

export interface Parameter {
  name: string;
  in: string;
  description?: string;
  required?: boolean;
  examples?: unknown;
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
  /** The form of its errors where it is not Berth's own; removed likewise. */
  "x-error-schema"?: Schema;
}

export interface OpenApiDocument {
  openapi: string;
  info: { title: string; version: string; description?: string };
  servers?: { url: string; description?: string }[];
  tags?: { name: string; description?: string }[];
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
