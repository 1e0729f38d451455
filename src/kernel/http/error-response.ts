// Turns every thrown error into one JSON shape with `error`, `message` and `code`, and logs the unexpected ones.
import { Elysia, type ValidationError } from "elysia";
import { Elsewhere } from "../cells/cells.ts";
import { elsewhereResponse } from "../cells/forwarding.ts";
import { errorBody, toPublicError } from "../error-body.ts";
import { AppError, type Issue, invalidInput } from "../errors.ts";
import { prefersHtml } from "../pages/accept.ts";
import { notFoundPage } from "../pages/not-found-page.ts";
import type { Log } from "../telemetry/log.ts";
import { contextOf } from "./request-context.ts";

/** The code of the error for an address without a route; errors for a missing resource have codes of their own. */
const UNKNOWN_ADDRESS = "NOT_FOUND";

/** How an error is put, where a path follows the protocol of others, whose clients read no other form. */
export interface ErrorFormat {
  /** The start of the paths, such as `/v1/`, which `/v1` itself belongs to. */
  readonly prefix: string;
  /** The body in place of Berth's own, which has `message`, `code` and further fields. */
  body(error: { status: number; body: Readonly<Record<string, unknown>> }, request: Request): object;
  /** More headers of the response. */
  headers?(request: Request): Record<string, string>;
}

/** What is special to some paths: ends of paths that are secrets, and errors in the form of others. */
export interface ErrorPaths {
  /** Patterns of paths whose end must not be logged; their first group is logged. */
  readonly secretPaths?: readonly RegExp[] | undefined;
  readonly errorFormats?: readonly ErrorFormat[] | undefined;
}

/** Turns every error of a surface's routes into a response. Must be the first plugin of the surface. */
export function errorHandler(log: Log, paths: ErrorPaths = {}) {
  return new Elysia({ name: "errors" }).onError({ as: "global" }, ({ error, code, request }) =>
    errorResponse(toAppError(error, code), request, log, paths),
  );
}

/**
 * Makes the response for anything thrown: JSON, or a page if a browser opened an unknown address. An error that is not an
 * AppError is logged with its cause and answered with a general 500.
 */
export function errorResponse(
  thrown: unknown,
  request: Request,
  log: Log,
  { secretPaths = [], errorFormats = [] }: ErrorPaths = {},
): Response {
  if (thrown instanceof Elsewhere) {
    const { bodyText, bodyBytes } = contextOf(request);
    return elsewhereResponse(thrown.cell, thrown.forwarding, bodyText ?? bodyBytes);
  }
  const error = toPublicError(thrown);
  const { status, body } = errorBody(error);
  if (status >= 500 || error !== thrown) {
    const { method, url, signal } = request;
    const fields = { requestId: contextOf(request).id, method, path: loggablePath(url, secretPaths), error };
    // A client that disconnected has caused the failure, and reads no response.
    if (signal.aborted) log.debug("request aborted by client", fields);
    else if (error instanceof AppError && isOfOthers(error))
      log.warn("another server failed", summaryOf(error, fields));
    else if (status >= 500) log.error("request failed", fields);
    // Logged with its cause, since a constraint that fails without another request would be a bug.
    else log.warn("request conflicted with another one", fields);
  }
  const path = errorFormats.length > 0 ? URL.parse(request.url)?.pathname : undefined;
  const format = path === undefined ? undefined : errorFormats.find(({ prefix }) => `${path}/`.startsWith(prefix));
  const isUnknownAddress =
    !format && body.code === UNKNOWN_ADDRESS && (request.method === "GET" || request.method === "HEAD");
  if (isUnknownAddress && prefersHtml(request)) {
    return notFoundPage(request, contextOf(request).pageOrigin === undefined);
  }
  const headers = {
    "content-type": "application/json;charset=utf-8",
    ...(isUnknownAddress && { vary: "accept, accept-language" }),
    ...(error instanceof AppError ? error.headers : undefined),
    ...format?.headers?.(request),
  };
  const whole = { ...body, ...contextOf(request).errorExtras };
  return new Response(JSON.stringify(format ? format.body({ status, body: whole }, request) : whole), {
    status,
    headers,
  });
}

/** A provider, a user's own server, a platform: nothing is wrong here, so a trace of this code would say nothing. */
/** A cell that is lost is no other server: its log says nothing of it. */
const isOfOthers = ({ status, code }: AppError) => code !== "RELAY_BROKEN" && (status === 502 || status === 504);

const summaryOf = ({ code, message, cause }: AppError, fields: object) => ({
  ...fields,
  error: undefined,
  code,
  reason: message,
  ...(cause instanceof Error && { cause: cause.message }),
});

function loggablePath(url: string, secretPaths: readonly RegExp[]): string | undefined {
  const path = URL.parse(url)?.pathname;
  return path && secretPaths.reduce((text, pattern) => text.replace(pattern, "$1/…"), path);
}

/** Replaces Elysia's own errors by AppErrors; anything else stays as it is. */
function toAppError(error: unknown, code: string | number): unknown {
  if (error instanceof AppError) return error;
  const cause = error instanceof Error ? error.cause : undefined;
  if (cause instanceof AppError) return cause;
  if (code === "NOT_FOUND") return new AppError(404, UNKNOWN_ADDRESS, "There is no such route. /swagger lists them.");
  if (code === "PARSE") return new AppError(400, "INVALID_JSON", "The body is not valid JSON.", {}, { cause: error });
  try {
    return code === "VALIDATION" ? validationError(error as ValidationError) : requireDescribable(error);
  } catch (failure) {
    return requireDescribable(failure);
  }
}

/**
 * Elysia puts a wrong value into the text of its error. That fails for an object which has a field `toString` or `valueOf`,
 * so such a body is invalid input as well. Any other error is returned unchanged.
 */
function requireDescribable(error: unknown): unknown {
  const isNoText = error instanceof TypeError && error.message === "No default value";
  // An object with a `length` that no list can have, copied as a list.
  const isNoLength = error instanceof RangeError && /^Array (?:size|length) /.test(error.message);
  if (!isNoText && !isNoLength) return error;
  return invalidInput({ path: "", message: "A field is an object where the API has another type." });
}

/** Makes a 400 with one issue per path. A response that does not match its own schema is a server error: 500. */
function validationError(error: ValidationError): unknown {
  if (error.type === "response") {
    // The value is left out: it may be a secret.
    const { path = "", message = "" } = error.valueError ?? {};
    return new Error(`A response does not match its schema at "${path}": ${message}`);
  }
  const issuesByPath = new Map<string, Issue>();
  for (const problem of error.all) {
    if (!("path" in problem) || typeof problem.path !== "string") continue;
    const path = problem.path.slice(1).replaceAll("/", ".").replaceAll("~1", "/").replaceAll("~0", "~");
    const message = issueMessage(problem, error.type);
    if (!issuesByPath.has(path)) issuesByPath.set(path, { path, message });
  }
  return issuesByPath.size === 0
    ? invalidInput({ path: "", message: `The ${error.type} is not valid.` })
    : invalidInput([...issuesByPath.values()]);
}

interface Problem {
  message?: string;
  schema?: unknown;
  value?: unknown;
}

/** The fields of a JSON schema that say what is allowed. */
interface Rules {
  error?: unknown;
  type?: string;
  const?: unknown;
  anyOf?: Rules[];
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
}

/** A sentence about the first rule that the value breaks, with what to give instead. */
function issueMessage({ message = "", schema, value }: Problem, where: string): string {
  const { error, type, anyOf, ...rules } = (schema ?? {}) as Rules;
  if (typeof error === "string") return error;
  if (value === undefined) return "This field is required.";
  if (anyOf) return choiceProblem(anyOf, value) ?? "This value is not one of those allowed.";
  return (
    typeProblem(type, value) ?? limitProblem(rules, value) ?? (message ? `${message}.` : `The ${where} is not valid.`)
  );
}

/** The choices, or what is wrong for the type that the value has, or should have. */
function choiceProblem(anyOf: readonly Rules[], value: unknown): string | undefined {
  const choices = anyOf.map((choice) => (choice.type === "null" ? "null" : choice.const));
  if (!choices.includes(undefined)) return `One of: ${choices.join(", ")}.`;
  const types = anyOf.filter(({ type }) => type !== undefined && type !== "null");
  // Elysia takes a number as text, too, and lists both. The number has the limits.
  const wanted = types.find(({ type }) => type === "integer" || type === "number") ?? types[0];
  if (wanted === undefined || types.some(({ type }) => type === "object")) return undefined;
  return typeProblem(wanted.type, value) ?? limitProblem(wanted, value);
}

function typeProblem(type: string | undefined, value: unknown): string | undefined {
  if (type === "string" && typeof value !== "string") return "Give a text.";
  if (type === "number" && typeof value !== "number") return "Give a number.";
  if (type === "integer" && !Number.isInteger(value)) return "Give a whole number.";
  if (type === "boolean" && typeof value !== "boolean") return "Give true or false.";
  if (type === "array" && !Array.isArray(value)) return "Give a list.";
  if (type === "object" && (typeof value !== "object" || value === null)) return "Give an object.";
  return undefined;
}

function limitProblem(rules: Rules, value: unknown): string | undefined {
  const { minLength = 0, maxLength = Infinity, minItems = 0, maxItems = Infinity } = rules;
  const { minimum = -Infinity, maximum = Infinity } = rules;
  if (typeof value === "string") {
    if (value === "" && minLength > 0) return "Give a text.";
    if (value.length < minLength) return `Give a text of at least ${minLength} characters.`;
    if (value.length > maxLength) return `Give a text of at most ${maxLength} characters.`;
  }
  if (typeof value === "number") {
    const isRange = Number.isFinite(minimum) && Number.isFinite(maximum);
    if (isRange && (value < minimum || value > maximum)) return `Give a number from ${minimum} to ${maximum}.`;
    if (value < minimum) return `Give a number of at least ${minimum}.`;
    if (value > maximum) return `Give a number of at most ${maximum}.`;
  }
  if (Array.isArray(value)) {
    if (value.length < minItems) return `Give a list of at least ${minItems} items.`;
    if (value.length > maxItems) return `Give a list of at most ${maxItems} items.`;
  }
  return undefined;
}
