// Adds the error responses of each operation to the OpenAPI document, by rules and in one schema.
import { STATUS_CODES } from "node:http";
import type { Operation, ResponseObject, Schema } from "./document.ts";

export const errorSchema: Schema = {
  type: "object",
  description: "Every error, on every route. Some carry further fields, such as `limit` or `current`.",
  required: ["error", "message", "code"],
  properties: {
    error: { type: "string", description: "What went wrong, in a sentence" },
    message: { type: "string", description: "The same text" },
    code: {
      type: "string",
      pattern: "^[A-Z][A-Z0-9_]*$",
      description: "Stable, for programs; each operation lists its codes as `x-error-codes` of the response",
      examples: ["INVALID_INPUT"],
    },
    issues: {
      type: "array",
      description: "On validation errors: what is wrong, and where",
      items: {
        type: "object",
        required: ["path", "message"],
        properties: { path: { type: "string" }, message: { type: "string" } },
      },
    },
  },
  additionalProperties: true,
};

/** The header object of `x-request-id`. */
export const requestIdHeader = { description: "The id of this request, in the logs too", schema: { type: "string" } };

interface StatusRule {
  description: string;
  /** The codes that Berth itself gives with this status on any route. */
  codes: string[];
}

/** The default description of each status. */
const STATUS_RULES: Record<string, StatusRule> = {
  400: {
    description: "The input is not valid; `issues` lists what is wrong and where.",
    codes: ["INVALID_INPUT", "INVALID_JSON", "INVALID_TEXT", "JSON_TOO_DEEP"],
  },
  401: { description: "No credential was sent, or it is not valid.", codes: [] },
  402: { description: "The plan or the budget does not allow this.", codes: [] },
  403: {
    description: "Not allowed. This includes requests with a cookie that another site's page makes.",
    codes: ["FOREIGN_ORIGIN"],
  },
  404: { description: "There is no such resource, or it is not yours.", codes: ["NOT_FOUND"] },
  409: { description: "This conflicts with the present state.", codes: ["CONFLICT"] },
  408: { description: "The body did not arrive in time.", codes: ["BODY_TIMEOUT"] },
  413: { description: "The body is larger than 1 MiB.", codes: ["BODY_TOO_LARGE"] },
  415: { description: "The body is not JSON.", codes: ["UNSUPPORTED_MEDIA_TYPE"] },
  429: { description: "A limit is reached.", codes: ["RATE_LIMITED"] },
  500: { description: "Something went wrong on our side.", codes: ["INTERNAL"] },
  502: { description: "A service that Berth called failed.", codes: [] },
  503: { description: "Not available at the moment; try again.", codes: [] },
};

const rateHeaders = {
  "retry-after": { description: "Seconds to wait", schema: { type: "integer" } },
  ratelimit: { description: "What is left of the limit", schema: { type: "string" } },
  "ratelimit-policy": { description: "The limit", schema: { type: "string" } },
};

const READ_METHODS = new Set(["get", "head", "options", "trace"]);

/** Returns the statuses that follow from a route's method and parameters. */
function impliedStatuses(method: string, operation: Operation): string[] {
  // A WebSocket reports errors in frames and close codes.
  if (operation.responses?.[101]) return [];
  const inQuery = operation.parameters?.some((parameter) => parameter.in === "query") ?? false;
  const reading = inQuery ? ["400"] : [];
  const writing = ["400", "403", "408", "413", "415"];
  // What belongs to a caller may be deleted or changed by another request between authentication and write.
  const racing = (operation.security ?? []).length > 0 ? ["404", "409"] : [];
  return [...(READ_METHODS.has(method) ? reading : [...writing, ...racing]), "429", "500"];
}

/** Adds every error that an operation can give and does not declare itself. `shared` collects responses with a name. */
export function addErrorResponses(method: string, operation: Operation, shared: Record<string, ResponseObject>): void {
  const { "x-errors": own = {}, "x-errors-of-changes": ofChanges = {}, "x-error-schema": ownSchema } = operation;
  const { responses = {} } = operation;
  const documented = READ_METHODS.has(method) ? own : mergeCodes(own, ofChanges);
  delete operation["x-errors"];
  delete operation["x-errors-of-changes"];
  delete operation["x-error-schema"];
  operation.responses = responses;
  for (const status of new Set([...impliedStatuses(method, operation), ...Object.keys(documented)])) {
    if (responses[status]) continue;
    const isImplied = impliedStatuses(method, operation).includes(status);
    const codes = [
      ...new Set([...(isImplied ? (STATUS_RULES[status]?.codes ?? []) : []), ...(documented[status] ?? [])]),
    ];
    const response = errorResponse(status, codes, ownSchema);
    const name = ownSchema ? undefined : sharedResponseName(codes);
    if (name !== undefined) shared[name] ??= response;
    const isShared = name !== undefined && shared[name]?.description === response.description;
    responses[status] = isShared ? { $ref: `#/components/responses/${name}` } : response;
  }
  if (!Object.keys(responses).some((status) => /^2/.test(status))) {
    shared[OTHERWISE] ??= { ...errorResponse("", []), description: "Any other error." };
    responses.default = { $ref: `#/components/responses/${OTHERWISE}` };
  }
}

function mergeCodes(codes: Record<string, string[]>, more: Record<string, string[]>): Record<string, string[]> {
  const statuses = new Set([...Object.keys(codes), ...Object.keys(more)]);
  return Object.fromEntries(
    [...statuses].map((status) => [status, [...(codes[status] ?? []), ...(more[status] ?? [])]]),
  );
}

/** The answer of an operation that has no success of its own in HTTP: it redirects, or becomes a WebSocket. */
const OTHERWISE = "Otherwise";

/** Returns the name of a shared response: its only code, or BadRequest for the codes of any invalid body. */
function sharedResponseName(codes: string[]): string | undefined {
  if (codes.join() === STATUS_RULES[400]?.codes.join()) return "BadRequest";
  const [code, ...others] = codes;
  if (code === undefined || others.length > 0) return undefined;
  return code.toLowerCase().replace(/(?:^|_)([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

const ERROR: Schema = { $ref: "#/components/schemas/Error" };

function errorResponse(status: string, codes: string[], schema = ERROR): ResponseObject {
  const meaning = STATUS_RULES[status]?.description ?? `${STATUS_CODES[status] ?? "Refused"}.`;
  const listed = codes.map((code) => `\`${code}\``).join(", ");
  return {
    description: codes.length > 0 ? `${meaning} Codes: ${listed}.` : meaning,
    ...(codes.length > 0 ? { "x-error-codes": codes } : undefined),
    ...(status === "429" ? { headers: rateHeaders } : undefined),
    content: { "application/json": { schema } },
  };
}
