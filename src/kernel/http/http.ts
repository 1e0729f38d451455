// HTTP as both surfaces speak it: request ids, the order "who you are, then the body", body rules, and the one error shape.
import type { Server, ServerWebSocket } from "bun";
import { Elysia, type ValidationError } from "elysia";
import { AppError, errorBody, type Issue, invalidInput } from "../errors.ts";
import type { Log } from "../telemetry/log.ts";
import { documentGuard } from "./openapi/route-documentation.ts";

/** Bytes of a request body, at most. Contract §1. */
export const MAX_BODY_BYTES = 1024 * 1024;
/** Nesting of a JSON body, at most. Contract §1. */
export const MAX_JSON_DEPTH = 64;

/** Milliseconds that a body may take to arrive. */
const BODY_TIMEOUT_MS = 30_000;
/** Milliseconds after which what was settled before the body is settled again. */
const SLOW_BODY_MS = 250;

/** What is known of a request beside the request itself. */
export interface RequestContext {
  readonly id: string;
  /** The client's address (behind trusted proxies, the one they name). */
  address: string;
  /** The socket's address; empty inside this process. */
  readonly socketAddress: string;
  /** `set-cookie` values to be put on the answer, whatever the route answers. */
  readonly cookies: string[];
  /** Set where the request came to an agent's own host: the only origin whose pages may act there. */
  readonly agentOrigin?: string | undefined;
  /** The body as it came, once it was read. */
  bodyText?: string;
  /** Bytes of the body, at most, on a route that takes more than usual. Set by its guard. */
  maxBodyBytes?: number;
  /** What the body of each refusal says too, on routes that have such a shape. */
  errorExtras?: Readonly<Record<string, unknown>>;
  /** What has settled who may come in, so that it does so once. */
  authorizedBy?: unknown;
  /** Grows when the body took so long that what was found out before it may not hold any more. */
  guardRound?: number;
}

const contexts = new WeakMap<Request, RequestContext>();

export const attachContext = (request: Request, context: RequestContext) => contexts.set(request, context);

/** The context of a request that came through a surface. */
export function contextOf(request: Request): RequestContext {
  const context = contexts.get(request);
  if (!context) throw new Error("This request did not come through a surface.");
  return context;
}

/** What was found out about a request, so that it is found out once; forgotten when its body took long. */
export function createRequestMemo<Value>() {
  const known = new WeakMap<Request, { value: Value; guardRound: number | undefined }>();
  return {
    get(request: Request): Value | undefined {
      const found = known.get(request);
      return found && found.guardRound === contextOf(request).guardRound ? found.value : undefined;
    },
    set(request: Request, value: Value): Value {
      known.set(request, { value, guardRound: contextOf(request).guardRound });
      return value;
    },
  };
}

/** Headers of those that stand between a client and us. */
const PROXY_HEADERS = /^(?:forwarded|via|x-forwarded.*|.*-(?:client|real|connecting)-ip)$/;

/** Whether a request came straight from this machine: a loopback socket, and no header that a proxy writes. Contract §2. */
export function isLocalRequest(request: Request): boolean {
  const { socketAddress } = contextOf(request);
  if (socketAddress !== "::1" && !/^(?:::ffff:)?127\./.test(socketAddress)) return false;
  return [...request.headers.keys()].every((name) => !PROXY_HEADERS.test(name));
}

/** A WebSocket endpoint: `open` decides; what it throws closes the socket. */
export interface SocketRoute {
  /** Path up to the variable part, such as `/agent/`. */
  prefix: string;
  /** Accepts or refuses before the upgrade; the answer's headers go with the upgrade. Must not throw. */
  accept(request: Request, suffix: string): Promise<SocketSession>;
}

export interface SocketSession {
  /** The subprotocol to confirm. */
  protocol?: string;
  open(socket: ServerWebSocket<SocketSession>): void;
  message(socket: ServerWebSocket<SocketSession>, data: string | Buffer): void;
  close(socket: ServerWebSocket<SocketSession>, code: number): void;
}

export type WebServer = Server<SocketSession>;

/** One check before the body is read; throws an AppError to refuse. */
export type RouteGuard = (context: { request: Request; params: Record<string, string> }) => Promise<void> | void;

type HookContext = { request: Request; params: unknown };

/**
 * Hooks for a route macro: the guards run in order, before the body is read and before anything is validated,
 * so that a caller who may not come in learns nothing about the body's rules.
 */
export function guarded(...guards: RouteGuard[]) {
  const runGuards = async ({ request, params }: HookContext) => {
    const context = contextOf(request);
    if (context.authorizedBy === runGuards) return;
    const pathParams = (params ?? {}) as Record<string, string>;
    for (const guard of guards) await guard({ request, params: pathParams });
    requireJsonType(request);
    context.authorizedBy = runGuards;
  };
  // Its fields one by one: Elysia reads the source, and where a context is handed on whole it parses cookies, query and headers.
  const readAndRecheck = async ({ request, params }: HookContext) => {
    const startedAt = performance.now();
    const body = await readJsonBody({ request });
    if (performance.now() - startedAt > SLOW_BODY_MS) {
      // Whoever sends slowly may have been signed out meanwhile: who may come in is settled anew.
      const context = contextOf(request);
      context.guardRound = (context.guardRound ?? 0) + 1;
      context.authorizedBy = undefined;
      await runGuards({ request, params });
    }
    return body;
  };
  return { parse: [runGuards, readAndRecheck], transform: runGuards };
}

/** For routes that anyone may call: `open: true`. */
export const openRoutes = new Elysia({ name: "open-routes" }).macro({
  open: (_: true) => ({ ...guarded(), detail: documentGuard([]) }),
});

const STATE_CHANGING = new Set(["POST", "PUT", "PATCH", "DELETE"]);

function requireJsonType(request: Request): void {
  if (!STATE_CHANGING.has(request.method)) return;
  const type = request.headers.get("content-type");
  if (type === null) return;
  if (/^application\/(?:[\w.+-]+\+)?json(?:\s*;|$)/i.test(type.trim())) return;
  throw new AppError(415, "UNSUPPORTED_MEDIA_TYPE", "Send the body as JSON, with content-type: application/json.");
}

/** Reads a JSON body within the limits; an empty one is `{}`. The text is kept in the request's context. */
export async function readJsonBody({ request }: { request: Request }): Promise<unknown> {
  const text = await readBodyText(request);
  contextOf(request).bodyText = text;
  if (text.trim() === "") return {};
  if (request.headers.get("content-type") === null) {
    throw new AppError(415, "UNSUPPORTED_MEDIA_TYPE", "Send the body as JSON, with content-type: application/json.");
  }
  return parseJson(text);
}

/** JSON text within the depth limit, with text that can be stored: no NUL, no half of a surrogate pair. */
export function parseJson(text: string): unknown {
  if (jsonDepth(text) > MAX_JSON_DEPTH) {
    throw invalidInput(
      { path: "", message: `The JSON is nested deeper than ${MAX_JSON_DEPTH} levels.` },
      "JSON_TOO_DEEP",
    );
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new AppError(400, "INVALID_JSON", "The body is not valid JSON.", {}, { cause });
  }
  if (/\\u(?:0000|[dD][89a-fA-F])/.test(text)) rejectInvalidText(value, "");
  return value;
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

async function readBodyText(request: Request): Promise<string> {
  const limit = contextOf(request).maxBodyBytes ?? MAX_BODY_BYTES;
  const declared = Number(request.headers.get("content-length") ?? Number.NaN);
  if (declared > limit) throw bodyTooLarge(limit);
  const timeout = Promise.withResolvers<never>();
  const timer = setTimeout(() => timeout.reject(bodyTimeout()), BODY_TIMEOUT_MS);
  const complete = Number.isNaN(declared) ? readWithLimit(request, limit) : request.arrayBuffer();
  const bytes = await Promise.race([complete, timeout.promise]).finally(() => clearTimeout(timer));
  try {
    return utf8.decode(bytes);
  } catch (cause) {
    throw new AppError(400, "INVALID_JSON", "The body is not valid UTF-8.", {}, { cause });
  }
}

/** A body without a declared length is counted while it comes. */
async function readWithLimit(request: Request, limit: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.byteLength;
    if (size > limit) throw bodyTooLarge(limit);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

const bodyTimeout = () => {
  const text = `The body did not arrive within ${BODY_TIMEOUT_MS / 1000} seconds.`;
  return new AppError(408, "BODY_TIMEOUT", text, {}, { headers: { connection: "close" } });
};
const bodyTooLarge = (limit: number) =>
  new AppError(413, "BODY_TOO_LARGE", `The body is larger than ${limit / MAX_BODY_BYTES} MiB.`);

/** The deepest nesting of brackets outside strings. */
function jsonDepth(text: string): number {
  let depth = 0;
  let deepest = 0;
  let inString = false;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (inString) {
      if (code === 92) i++;
      else if (code === 34) inString = false;
    } else if (code === 34) inString = true;
    else if (code === 123 || code === 91) deepest = Math.max(deepest, ++depth);
    else if (code === 125 || code === 93) depth--;
  }
  return deepest;
}

function rejectInvalidText(value: unknown, path: string): void {
  if (typeof value === "string") {
    if (value.includes("\0") || !value.isWellFormed()) {
      throw invalidInput({ path, message: "This text holds a NUL or half of a surrogate pair." }, "INVALID_TEXT");
    }
  } else if (value !== null && typeof value === "object") {
    for (const [key, item] of Object.entries(value)) {
      const inner = path ? `${path}.${key}` : key;
      rejectInvalidText(key, path);
      rejectInvalidText(item, inner);
    }
  }
}

/** The one place where what was thrown becomes an answer. First plugin of each surface. */
export function errorHandler(log: Log) {
  return new Elysia({ name: "errors" }).onError({ as: "global" }, ({ error, code, request }) =>
    errorResponse(toAppError(error, code), request, log),
  );
}

/** The answer for anything thrown; what is not an AppError is logged in full and answered without detail. */
export function errorResponse(error: unknown, request: Request, log: Log): Response {
  const { status, body } = errorBody(error);
  if (status >= 500) {
    const { method, url, signal } = request;
    const fields = { requestId: contextOf(request).id, method, path: loggablePath(url), error };
    // Whoever hung up has caused what failed, and reads no answer.
    if (signal.aborted) log.debug("request broken off", fields);
    else log.error("request failed", fields);
  }
  const headers = {
    "content-type": "application/json;charset=utf-8",
    ...(error instanceof AppError ? error.headers : undefined),
  };
  return new Response(JSON.stringify({ ...body, ...contextOf(request).errorExtras }), { status, headers });
}

/** For logs: where platforms post, the address is what proves who they are. */
const loggablePath = (url: string) => URL.parse(url)?.pathname.replace(/^((?:\/api)?\/hooks\/[^/]*)\/.*/, "$1/…");

/** Elysia's own errors in our words. */
function toAppError(error: unknown, code: string | number): unknown {
  if (error instanceof AppError) return error;
  const cause = error instanceof Error ? error.cause : undefined;
  if (cause instanceof AppError) return cause;
  if (code === "NOT_FOUND") return new AppError(404, "NOT_FOUND", "There is no such route. See /swagger for the list.");
  if (code === "PARSE") return new AppError(400, "INVALID_JSON", "The body is not valid JSON.", {}, { cause: error });
  if (code === "VALIDATION") return validationError(error as ValidationError);
  return error;
}

/** What a schema found, as `issues`. A response that breaks its own schema is our fault: 500. */
function validationError(error: ValidationError): unknown {
  if (error.type === "response") {
    // Where, not what: the value may be somebody's secret.
    const { path = "", message = "" } = error.valueError ?? {};
    return new Error(`A response broke its schema at "${path}": ${message}`);
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

function issueMessage(problem: { message?: string; schema?: unknown; value?: unknown }, where: string): string {
  const { message = "", schema, value } = problem;
  const { error, anyOf } = (schema ?? {}) as { error?: unknown; anyOf?: { const?: unknown }[] };
  if (typeof error === "string") return error;
  if (value === undefined) return "This field is required.";
  if (anyOf) {
    const choices = anyOf.map((choice) => choice.const);
    return choices.includes(undefined) ? "This value is not one of those allowed." : `One of: ${choices.join(", ")}.`;
  }
  return `${message || `This part of the ${where} is not valid`}.`;
}
