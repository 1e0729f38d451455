// Reads the parameters of a Bot API call from query, form or JSON, and rejects invalid ones with Telegram's messages.
// https://core.telegram.org/bots/api#making-requests

import { type Entity, MarkupError, parseMarkup, trimmed } from "./telegram-markup.ts";

export type Params = Record<string, unknown>;

/** `{ ok: false, error_code, description, parameters }`. */
export class TelegramRefusal extends Error {
  override readonly name = "TelegramRefusal";

  constructor(
    readonly status: number,
    description: string,
    readonly parameters?: { retry_after?: number; migrate_to_chat_id?: number },
  ) {
    super(description);
  }

  get body() {
    const more = this.parameters ? { parameters: this.parameters } : {};
    return { ok: false, error_code: this.status, description: this.message, ...more };
  }
}

export const bad = (description: string) => new TelegramRefusal(400, `Bad Request: ${description}`);

/** Reads query, form, multipart or JSON. Text that is not well-formed Unicode is rejected, as Telegram does. */
export async function readParams(request: Request): Promise<Params> {
  const params: Params = Object.fromEntries(new URL(request.url).searchParams);
  const type = request.headers.get("content-type")?.split(";")[0]?.trim() ?? "";
  if (request.method === "POST") {
    if (type === "application/json") Object.assign(params, parseObject(await request.text()));
    else if (type === "application/x-www-form-urlencoded") {
      Object.assign(params, Object.fromEntries(new URLSearchParams(await request.text())));
    } else if (type === "multipart/form-data") {
      for (const [name, value] of await request.formData()) params[name] = value;
    } else if ((await request.text()) !== "") throw bad("unsupported content type");
  }
  requireUnicode(params);
  return params;
}

function parseObject(text: string): object {
  if (text === "") return {};
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  } catch {
    throw bad("can't parse request: Expected JSON object");
  }
  throw bad("can't parse request: Expected JSON object");
}

function requireUnicode(value: unknown): void {
  if (typeof value === "string" && !value.isWellFormed()) throw bad("strings must be encoded in UTF-8");
  if (typeof value === "object" && value !== null) Object.values(value).forEach(requireUnicode);
}

/** Rejects unknown parameters: Telegram ignores them, but in a test they are a mistake. */
export function requireKnown(method: string, params: Params, known: readonly string[]): void {
  for (const name of Object.keys(params)) {
    if (!known.includes(name))
      throw bad(`${method} has no parameter "${name}" (the fake refuses what Telegram ignores)`);
  }
}

export function text(params: Params, name: string): string | undefined {
  const value = params[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "string") throw bad(`field "${name}" must be of type String`);
  return value;
}

export function integer(params: Params, name: string): number | undefined {
  const value = params[name];
  if (value === undefined || value === null || value === "") return undefined;
  const number = typeof value === "string" && /^-?\d+$/.test(value) ? Number(value) : value;
  if (!Number.isSafeInteger(number)) throw bad(`field "${name}" must be a valid Number`);
  return Number(number);
}

export function flag(params: Params, name: string): boolean {
  const value = params[name] ?? false;
  if (value === true || value === "true" || value === "True" || value === "1") return true;
  if (value === false || value === "false" || value === "False" || value === "0") return false;
  throw bad(`field "${name}" must be of type Boolean`);
}

/** Reads an object or list, which is serialised in every format but JSON. */
export function structure(params: Params, name: string): object | undefined {
  const value = params[name];
  if (value === undefined || value === null || value === "") return undefined;
  try {
    const read: unknown = typeof value === "string" ? JSON.parse(value) : value;
    if (typeof read === "object" && read !== null) return read;
  } catch {
    throw bad(`can't parse ${name} JSON object`);
  }
  throw bad(`field "${name}" must be an Object or an Array`);
}

export function strings(params: Params, name: string): string[] | undefined {
  const list = structure(params, name);
  if (list === undefined) return undefined;
  if (!Array.isArray(list) || !list.every((item) => typeof item === "string")) {
    throw bad(`field "${name}" must be an Array of String`);
  }
  return list;
}

/** Parses a text with its markup: at most 4096 UTF-16 units, empty only with `mayBeEmpty`. */
export function formatted(
  params: Params,
  mayBeEmpty = false,
): { text: string; entities: Entity[]; parseMode?: string } {
  const source = text(params, "text") ?? "";
  const mode = text(params, "parse_mode");
  if (mode !== undefined && mode !== "HTML" && mode !== "MarkdownV2") {
    throw bad(mode === "Markdown" ? "the fake does not know the legacy Markdown mode" : "unsupported parse_mode");
  }
  const result = mode ? parsed(source, mode) : trimmed({ text: source, entities: givenEntities(params, source) });
  if (result.text === "" && !mayBeEmpty) throw bad(source === "" ? "message text is empty" : "text must be non-empty");
  if (result.text.length > 4096) throw bad("message is too long");
  return mode ? { ...result, parseMode: mode } : result;
}

function parsed(source: string, mode: "HTML" | "MarkdownV2") {
  try {
    return parseMarkup(source, mode);
  } catch (error) {
    if (error instanceof MarkupError) throw bad(`can't parse entities: ${error.message}`);
    throw error;
  }
}

function givenEntities(params: Params, source: string): Entity[] {
  const list = structure(params, "entities");
  if (list === undefined) return [];
  if (!Array.isArray(list)) throw bad('field "entities" must be an Array');
  for (const entity of list) {
    const { type, offset, length } = Object(entity);
    const good = typeof type === "string" && offset >= 0 && length > 0 && offset + length <= source.length;
    if (!good) throw bad("can't parse MessageEntity");
  }
  return list;
}
