// Reads the operations of both surfaces from the API documents of a running service.

import type { Berth } from "../support/berth.ts";

/** A JSON schema as the documents use it. */
export interface Schema {
  $ref?: string;
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  items?: Schema;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  maxItems?: number;
}

export interface Parameter {
  name: string;
  in: "path" | "query" | "header";
  required?: boolean;
  schema?: Schema;
}

export interface Operation {
  surface: "web" | "backend";
  method: string;
  /** With `{name}` for each path parameter. */
  path: string;
  parameters: Parameter[];
  /** The schema of a JSON body, without references. */
  body: Schema | undefined;
  /** The statuses that the document names. */
  statuses: ReadonlySet<number>;
}

interface Document {
  paths: Record<string, Record<string, DocumentedOperation>>;
  components?: Record<string, Record<string, unknown>>;
}

interface DocumentedOperation {
  parameters?: Parameter[];
  requestBody?: { content?: Record<string, { schema?: Schema }> };
  responses?: Record<string, unknown>;
}

/** References are followed this deep; what is below counts as any value. */
const MAX_DEPTH = 6;

export const nameOf = ({ surface, method, path }: Pick<Operation, "surface" | "method" | "path">) =>
  `${method} ${path} (${surface})`;

/** All operations of the service, in the order of its documents. */
export async function loadOperations(berth: Pick<Berth, "web" | "backend">): Promise<Operation[]> {
  const surfaces = ["web", "backend"] as const;
  const documents = await Promise.all(
    surfaces.map(async (surface) => (await fetch(`${berth[surface]}/swagger/json`)).json() as Promise<Document>),
  );
  return documents.flatMap((document, at) =>
    Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) =>
        toOperation(document, surfaces[at] ?? "web", method.toUpperCase(), path, operation),
      ),
    ),
  );
}

function toOperation(
  document: Document,
  surface: Operation["surface"],
  method: string,
  path: string,
  { parameters = [], requestBody, responses = {} }: DocumentedOperation,
): Operation {
  const schema = requestBody?.content?.["application/json"]?.schema;
  return {
    surface,
    method,
    path,
    parameters: parameters.map((parameter) => withSchema(document, parameter)),
    body: schema && dereference(document, schema, MAX_DEPTH),
    statuses: new Set(Object.keys(responses).map(Number)),
  };
}

function withSchema(document: Document, parameter: Parameter): Parameter {
  return parameter.schema ? { ...parameter, schema: dereference(document, parameter.schema, MAX_DEPTH) } : parameter;
}

/** Replaces references by what they name. */
function dereference(document: Document, schema: Schema, depth: number): Schema {
  if (depth === 0) return {};
  if (schema.$ref) return dereference(document, (find(document, schema.$ref) ?? {}) as Schema, depth - 1);
  const all = (list: Schema[] | undefined) => list?.map((one) => dereference(document, one, depth - 1));
  const { properties, items, anyOf, oneOf, allOf } = schema;
  return {
    ...schema,
    ...(anyOf && { anyOf: all(anyOf) ?? [] }),
    ...(oneOf && { oneOf: all(oneOf) ?? [] }),
    ...(allOf && { allOf: all(allOf) ?? [] }),
    ...(items && { items: dereference(document, items, depth - 1) }),
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, value]) => [name, dereference(document, value, depth - 1)]),
      ),
    }),
  };
}

function find(document: Document, reference: string): unknown {
  const path = reference.replace(/^#\//, "").split("/");
  return path.reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], document);
}
