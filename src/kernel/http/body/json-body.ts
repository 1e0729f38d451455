// Reads JSON request bodies within limits on bytes, time and nesting, and refuses text that could not be stored.
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { AppError, invalidInput } from "../../errors.ts";
import { readRequestBody } from "../../util/limited-body.ts";
import { contextOf } from "../request-context.ts";
import { bodyWithin } from "./body-within.ts";

/** The most bytes that a request body may have, unless its route sets another limit. */
export const MAX_BODY_BYTES = 1024 * 1024;
/** The deepest nesting that a JSON body may have. */
export const MAX_JSON_DEPTH = 64;

/** Characters of a text that is parsed in steps. */
const LONG_TEXT = 128 * 1024;

const STATE_CHANGING = new Set(["POST", "PUT", "PATCH", "DELETE"]);

/** Refuses the body of a state-changing request that declares a type other than JSON: 415. */
export function requireJsonType(request: Request): void {
  if (!STATE_CHANGING.has(request.method)) return;
  const type = request.headers.get("content-type");
  if (type === null) return;
  if (/^application\/(?:[\w.+-]+\+)?json(?:\s*;|$)/i.test(type.trim())) return;
  throw jsonTypeMissing();
}

/** Reads a JSON body within the limits; an empty body is `{}`. Its text is kept in the request's context. */
export async function readJsonBody({ request }: { request: Request }): Promise<unknown> {
  const text = decodeBody(await readBodyBytes(request));
  contextOf(request).bodyText = text;
  if (text.trim() === "") return {};
  if (request.headers.get("content-type") === null) throw jsonTypeMissing();
  const value = text.length > LONG_TEXT ? await parseLongJson(text) : parseJson(text);
  // A copy of the body, which validation may make, would inherit from it values that no schema has checked.
  if (typeof value === "object" && value !== null && Object.hasOwn(value, "__proto__"))
    Reflect.deleteProperty(value, "__proto__");
  if (/length|\\u/.test(text) && claimedLength(value) > MAX_CLAIMED_LENGTH) {
    throw invalidInput({ path: "", message: "An object has a `length` as if it were a very long list." });
  }
  return value;
}

/**
 * Validation copies an object in the place of a list by its `length`, before it refuses it: a length of a thousand million
 * would end the process. This many entries take a few milliseconds.
 */
const MAX_CLAIMED_LENGTH = 100_000;

/** The sum of the numeric `length` of all objects that are no lists. */
function claimedLength(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  let sum = 0;
  if (!Array.isArray(value)) {
    const length: unknown = Object.hasOwn(value, "length") ? Reflect.get(value, "length") : 0;
    if (typeof length === "number" && length > 0) sum += length;
  }
  for (const field of Object.values(value)) sum += claimedLength(field);
  return sum;
}

/**
 * Reads a JSON body within the limits on bytes and time, and keeps its bytes in the request's context. For large bodies that
 * the route itself decodes and parses, off the event loop.
 */
export async function readRawBody({ request }: { request: Request }): Promise<unknown> {
  await readFileBody({ request });
  const isEmpty = contextOf(request).bodyBytes?.length === 0;
  if (!isEmpty && request.headers.get("content-type") === null) throw jsonTypeMissing();
  return {};
}

/** Reads a body of any type within the limits on bytes and time, and keeps its bytes in the request's context. */
export async function readFileBody({ request }: { request: Request }): Promise<unknown> {
  const bytes = await readBodyBytes(request);
  // A view of a larger buffer is copied, since the route may hand the buffer to a thread.
  contextOf(request).bodyBytes =
    bytes.byteLength === bytes.buffer.byteLength ? (bytes as Uint8Array<ArrayBuffer>) : bytes.slice();
  return {};
}

/** Decodes UTF-8. Throws 400 `INVALID_JSON`. */
export function decodeBody(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch (cause) {
    throw new AppError(400, "INVALID_JSON", "The body is not valid UTF-8.", {}, { cause });
  }
}

/** Parses JSON. Throws 400 if it is nested too deep or has text that can't be stored: NUL, or half of a surrogate pair. */
export function parseJson(text: string): unknown {
  requireShallow(text);
  const value = parse(text);
  requireStorable(text, value);
  return value;
}

/**
 * As `parseJson`, in steps: of a text of the maximal length, each takes up to 10 ms. Throws 413 for more than 1 MiB beside
 * files: many small values take long to parse and to check, and a file is one long text.
 */
async function parseLongJson(text: string): Promise<unknown> {
  const { shortCharacters } = requireShallow(text);
  if (shortCharacters > MAX_BODY_BYTES) throw bodyTooLarge(MAX_BODY_BYTES, "without the files in it ");
  await yieldToEventLoop();
  const value = parse(text);
  await yieldToEventLoop();
  requireStorable(text, value);
  return value;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new AppError(400, "INVALID_JSON", "The body is not valid JSON.", {}, { cause });
  }
}

/** Throws 400 for JSON that is nested too deep. */
function requireShallow(text: string): ReturnType<typeof shapeOf> {
  const shape = shapeOf(text);
  if (shape.depth > MAX_JSON_DEPTH) {
    throw invalidInput(
      { path: "", message: `The JSON is nested deeper than ${MAX_JSON_DEPTH} levels.` },
      "JSON_TOO_DEEP",
    );
  }
  return shape;
}

function requireStorable(text: string, value: unknown): void {
  const path = /\\u(?:0000|[dD][89a-fA-F])/.test(text) ? findInvalidText(value) : undefined;
  if (path === undefined) return;
  throw invalidInput({ path, message: "This text holds a NUL or half of a surrogate pair." }, "INVALID_TEXT");
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

async function readBodyBytes(request: Request): Promise<Uint8Array> {
  const limit = contextOf(request).maxBodyBytes ?? MAX_BODY_BYTES;
  const given = bodyWithin(request);
  const bytes = given === undefined ? await readRequestBody(request, limit) : given.length > limit ? undefined : given;
  if (!bytes) throw bodyTooLarge(limit);
  return bytes;
}

const jsonTypeMissing = () =>
  new AppError(415, "UNSUPPORTED_MEDIA_TYPE", "Send the body as JSON, with content-type: application/json.");
const bodyTooLarge = (limit: number, what = "") =>
  new AppError(413, "BODY_TOO_LARGE", `The body ${what}is larger than ${limit / MAX_BODY_BYTES} MiB.`);

/** Characters from which on a string counts as a file's. */
const LONG_STRING = 16 * 1024;

/** The deepest nesting of brackets outside strings, and the number of characters that are not in a long string. */
function shapeOf(text: string): { depth: number; shortCharacters: number } {
  let depth = 0;
  let deepest = 0;
  let longCharacters = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 34) {
      const end = stringEnd(text, i);
      if (end - i > LONG_STRING) longCharacters += end - i;
      i = end;
    } else if (code === 123 || code === 91) deepest = Math.max(deepest, ++depth);
    else if (code === 125 || code === 93) depth--;
  }
  return { depth: deepest, shortCharacters: text.length - longCharacters };
}

/** The place of the quote that ends the string which begins here; the end of the text if none does. */
function stringEnd(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(end - 1 - backslashes) === 92) backslashes++;
    if (backslashes % 2 === 0) return end;
  }
  return text.length;
}

/** The path of the first text that can't be stored; undefined if there is none. */
function findInvalidText(value: unknown): string | undefined {
  if (typeof value === "string") return isStorable(value) ? undefined : "";
  if (value === null || typeof value !== "object") return undefined;
  const members = value as Record<string, unknown>;
  for (const key in members) {
    if (!isStorable(key)) return "";
    const inner = findInvalidText(members[key]);
    if (inner !== undefined) return inner ? `${key}.${inner}` : key;
  }
  return undefined;
}

const isStorable = (text: string) => !text.includes("\0") && text.isWellFormed();
