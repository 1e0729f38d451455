// Completes the document that @elysiajs/swagger generates, to a correct OpenAPI 3.1 document.
import { STATUS_CODES } from "node:http";
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { MediaTypes, OpenApiDocument, Operation, Parameter, ResponseObject, Tag } from "./document.ts";
import { addErrorResponses, errorSchema, requestIdHeader } from "./error-responses.ts";
import { generatedOperationId, operationIdOf, singular } from "./operation-id.ts";
import { simplifySchema } from "./schema-simplifier.ts";

export { shareSchemas } from "./components.ts";
export type { OpenApiDocument } from "./document.ts";
export { addExamples, type RecordedExamples } from "./examples.ts";
export { documentErrors, documentGuard } from "./route-documentation.ts";

/** The schemes that the kernel itself checks; plugins register theirs. */
const KERNEL_SCHEMES: Record<string, object> = {
  serviceToken: {
    type: "http",
    scheme: "bearer",
    description: "Signed by the web surface for one action of one user; valid for 30 seconds.",
  },
  metricsToken: { type: "http", scheme: "bearer", description: "The operator's METRICS_TOKEN, when it is set." },
};

/**
 * Completes the generated document: bodies are JSON only, each operation lists all its errors (error-responses.ts) and has
 * a readable id, schemas lose keywords that only validation needs, and everything is present that the specification
 * requires. Hand-written bodies of other types are kept. The operations of the given document are changed. It works in steps,
 * since all at once would block the event loop.
 *
 * @param securitySchemes of plugins, by name; only those that a route uses are listed
 * @param tagTexts what is said of tags; a tag without a row has its name only
 */
export async function completeDocument(
  generated: OpenApiDocument,
  securitySchemes: Record<string, object> = {},
  tagTexts: Readonly<Record<string, Omit<Tag, "name">>> = {},
): Promise<OpenApiDocument> {
  const shared: Record<string, ResponseObject> = {};
  const tags = new Set<string>();
  const schemes = new Set<string>();
  const ids = new Set<string>();
  const paths: OpenApiDocument["paths"] = {};
  for (const [path, methods] of Object.entries(generated.paths)) {
    const operations = Object.entries(methods).map(([method, operation]) => {
      completeOperation(operation, method, path);
      // Names of plugins' routes may come out alike, such as /api/tides and /api/tides/{port}: the longer name tells them apart.
      if (ids.has(operation.operationId ?? "")) operation.operationId = generatedOperationId(method, path);
      ids.add(operation.operationId ?? "");
      addErrorResponses(method, operation, shared);
      for (const tag of operation.tags ?? []) tags.add(tag);
      for (const scheme of (operation.security ?? []).flatMap(Object.keys)) schemes.add(scheme);
      return [method, operation] as const;
    });
    paths[path] = Object.fromEntries(operations);
    await yieldToEventLoop();
  }
  const usedSchemes = Object.entries({ ...securitySchemes, ...KERNEL_SCHEMES }).filter(([name]) => schemes.has(name));
  const { name = "" } = generated.info.license ?? {};
  const document: OpenApiDocument = {
    openapi: "3.1.1",
    // The name is an SPDX identifier.
    info: { ...generated.info, license: { name, identifier: name } },
    servers: [{ url: "/", description: "This installation" }],
    // Health comes last: readers look for the other tags first.
    tags: [...[...tags].filter((name) => name !== "Health"), "Health"].map((name) => ({ name, ...tagTexts[name] })),
    paths,
    components: {
      schemas: { Error: errorSchema },
      responses: sorted(shared),
      headers: { RequestId: requestIdHeader },
      securitySchemes: Object.fromEntries(usedSchemes),
    },
  };
  for (const response of responsesOf(document)) response.headers = { ...REQUEST_ID, ...response.headers };
  return document;
}

const REQUEST_ID = { "x-request-id": { $ref: "#/components/headers/RequestId" } };

function responsesOf({ paths, components }: OpenApiDocument): ResponseObject[] {
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
  const responseList = operations.flatMap(({ responses }) => Object.values(responses ?? {}));
  return [...responseList, ...Object.values(components?.responses ?? {})].filter(
    (response) => response.$ref === undefined,
  );
}

/** Corrects what the generator leaves out or gets wrong in an operation. */
function completeOperation(operation: Operation, method: string, path: string): void {
  const { operationId } = operation;
  if (operationId === undefined || operationId === generatedOperationId(method, path)) {
    operation.operationId = operationIdOf(method, path);
  }
  operation.parameters = completeParameters(operation, path);
  if (operation.parameters.length === 0) delete operation.parameters;
  if (operation.security) operation.security = unique(operation.security);
  if (operation.tags) operation.tags = unique(operation.tags);
  const { requestBody } = operation;
  if (requestBody?.content) {
    requestBody.content = normaliseMedia(requestBody.content);
    // An empty body is read as {}, which is valid if no field is required.
    requestBody.required = Object.values(requestBody.content).some(({ schema }) => schema?.required !== undefined);
  }
  const responseList = Object.entries(operation.responses ?? {}).map(([status, response]) => [
    status,
    toResponseObject(status, response),
  ]);
  operation.responses = Object.fromEntries(responseList);
}

/** Keeps only the fields of a Response Object: the generator copies the schema's fields into it. */
function toResponseObject(status: string, { description, headers, content, ...rest }: ResponseObject): ResponseObject {
  const { "x-error-codes": codes } = rest;
  return {
    description: description ?? `${STATUS_CODES[status] ?? "Answer"}.`,
    ...(codes ? { "x-error-codes": codes } : undefined),
    ...(headers ? { headers } : undefined),
    ...(content ? { content: normaliseMedia(content) } : undefined),
  };
}

/** Keeps JSON where the generator lists JSON, form and text: Berth accepts only JSON. */
function normaliseMedia(content: MediaTypes): MediaTypes {
  const { "application/json": json, "multipart/form-data": form, "text/plain": text, ...others } = content;
  const kept = json && form && text ? { "application/json": json, ...others } : content;
  return Object.fromEntries(
    Object.entries(kept).map(([type, { schema, ...rest }]) => [
      type,
      schema ? { ...rest, schema: simplifySchema(schema) } : rest,
    ]),
  );
}

function completeParameters({ parameters = [] }: Operation, path: string): Parameter[] {
  const inPath = [...path.matchAll(/\{([^}]+)\}/g)].map(([, name = ""]) => name);
  const undeclared = inPath.filter((name) => !parameters.some((known) => known.in === "path" && known.name === name));
  const strings = undeclared.map(
    (name): Parameter => ({
      name,
      in: "path",
      required: true,
      description: describeParameter(name, path),
      schema: { type: "string" },
    }),
  );
  return [...strings, ...parameters].map(({ examples, schema = {}, ...parameter }) => ({
    ...parameter,
    ...(parameter.in === "path"
      ? { required: true, description: parameter.description ?? describeParameter(parameter.name, path) }
      : undefined),
    schema: { ...simplifySchema(schema), ...(Array.isArray(examples) ? { examples } : undefined) },
  }));
}

/** "The id of the agent" for `id` below /agents/; "The channel" for `channel`. */
function describeParameter(name: string, path: string): string {
  const words = (text: string) => text.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).replaceAll("-", " ");
  if (name !== "id") return name.endsWith("Id") ? `The id of the ${words(name.slice(0, -2))}` : `The ${words(name)}`;
  const [, collection = ""] = new RegExp(`([^/]+)/\\{${name}\\}`).exec(path) ?? [];
  return `The id of the ${words(singular(collection))}`;
}

const unique = <T>(items: T[]): T[] => [...new Map(items.map((item) => [JSON.stringify(item), item])).values()];

const sorted = <T>(record: Record<string, T>): Record<string, T> =>
  Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
