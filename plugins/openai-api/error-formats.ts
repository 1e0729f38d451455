// Puts errors under /v1 in the forms of OpenAI and Anthropic, so that their clients show them and know what to repeat.
import type { ErrorFormat } from "../../src/kernel/http/error-response.ts";
import { contextOf } from "../../src/kernel/http/request-context.ts";

/** An error's status and Berth's own body for it. */
interface PublicError {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** https://platform.openai.com/docs/guides/error-codes */
const OPENAI_TYPES: Readonly<Record<number, string>> = {
  401: "authentication_error",
  402: "insufficient_quota",
  403: "permission_error",
  404: "not_found_error",
  409: "conflict_error",
  429: "rate_limit_error",
};

/** https://docs.anthropic.com/en/api/errors */
const ANTHROPIC_TYPES: Readonly<Record<number, string>> = {
  401: "authentication_error",
  402: "billing_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  503: "overloaded_error",
  504: "timeout_error",
};

const typeOf = (types: Readonly<Record<number, string>>, status: number, server: string) =>
  types[status] ?? (status >= 500 ? server : "invalid_request_error");

/** `{ error: { message, type, code, param } }`, and beside them the further fields that Berth's own error has. */
export function openAiError({ status, body }: PublicError): { error: Record<string, unknown> } {
  const { error: _, message, code, ...extras } = body;
  return {
    error: { message, type: typeOf(OPENAI_TYPES, status, "server_error"), code, param: paramOf(body), ...extras },
  };
}

/** `{ type: "error", error: { type, message }, request_id }`, with Berth's code beside them. */
export function anthropicError({ status, body }: PublicError, requestId: string) {
  const { error: _, message, ...extras } = body;
  const error = { type: typeOf(ANTHROPIC_TYPES, status, "api_error"), message, ...extras };
  return { type: "error" as const, error, request_id: requestId };
}

/** The path of the first field that is wrong, as OpenAI writes it; null if it is none of the body's. */
function paramOf({ issues, field }: Readonly<Record<string, unknown>>): string | null {
  const first: unknown = Array.isArray(issues) ? Object(issues[0]).path : field;
  return typeof first === "string" && first !== "" ? first.replace(/\.(\d+)(?=\.|$)/g, "[$1]") : null;
}

/** An address that misses, because the client's base URL has `/v1` twice or lacks it, says so. */
function withBaseUrlHint(error: PublicError, request: Request): PublicError {
  if (error.body.code !== "NOT_FOUND") return error;
  const { pathname } = new URL(request.url);
  const message = pathname.startsWith("/v1/v1/")
    ? `There is no such route: /v1 is in it twice. Take it away from the end of the client's base URL.`
    : `There is no such route. Is /v1 missing at the end of the client's base URL? There is /v1${pathname}.`;
  return { ...error, body: { ...error.body, message } };
}

/** Where Anthropic's clients look for the id of a request. */
const anthropicHeaders = (request: Request) => ({ "request-id": contextOf(request).id });

/** Routes of /v1 without it: Berth itself has none that begin like this. */
const WITHOUT_V1 = ["/chat/completions", "/embeddings", "/responses", "/audio/", "/images/generations"];

/** In this order: the first whose prefix fits is taken. */
export const errorFormats: ErrorFormat[] = [
  {
    prefix: "/v1/v1/messages",
    body: (error, request) => anthropicError(withBaseUrlHint(error, request), contextOf(request).id),
    headers: anthropicHeaders,
  },
  ...["/v1/v1/", ...WITHOUT_V1].map((prefix) => ({
    prefix,
    body: (error: PublicError, request: Request) => openAiError(withBaseUrlHint(error, request)),
  })),
  {
    prefix: "/v1/messages",
    body: (error, request) => anthropicError(error, contextOf(request).id),
    headers: anthropicHeaders,
  },
  { prefix: "/v1/", body: openAiError },
];

const text = { type: "string" as const };

/** The errors of OpenAI's routes in the OpenAPI document. */
export const openAiErrorSchema = {
  title: "OpenAiError",
  type: "object" as const,
  description: "An error in OpenAI's form",
  required: ["error"],
  properties: {
    error: {
      type: "object" as const,
      description: "Some carry further fields, such as `issues` or `limit`.",
      required: ["message", "type", "code", "param"],
      properties: {
        message: { ...text, description: "What went wrong, in a sentence" },
        type: { ...text, description: "OpenAI's kind of error, such as `invalid_request_error`" },
        code: { ...text, pattern: "^[A-Z][A-Z0-9_]*$", description: "Berth's code: stable, for programs" },
        param: { type: ["string", "null"], description: "The field that is wrong" },
      },
      additionalProperties: true,
    },
  },
};

/** The errors of Anthropic's routes. */
export const anthropicErrorSchema = {
  title: "AnthropicError",
  type: "object" as const,
  description: "An error in Anthropic's form",
  required: ["type", "error", "request_id"],
  properties: {
    type: { ...text, enum: ["error"] },
    error: {
      type: "object" as const,
      required: ["type", "message", "code"],
      properties: {
        type: { ...text, description: "Anthropic's kind of error, such as `invalid_request_error`" },
        message: text,
        code: { ...text, pattern: "^[A-Z][A-Z0-9_]*$", description: "Berth's code: stable, for programs" },
      },
      additionalProperties: true,
    },
    request_id: text,
  },
};
