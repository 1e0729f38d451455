// The log: one line per record, as JSON for machines or in colour for people, and never a secret in it.

import { writeSync } from "node:fs";
import { REDACTED, redact, SECRET_FIELD_NAME } from "./redact.ts";

export { redact };

export type LogLevel = "debug" | "info" | "warn" | "error" | "silent";
export type LogFields = Readonly<Record<string, unknown>>;

export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** The same log, with these fields in every record. */
  child(fields: LogFields): Log;
  /**
   * From now on this value is blacked out wherever it appears, in this log and all its relatives. `always`: the
   * operator's own, which no number of others pushes out; of the rest the newest are known.
   */
  redactSecret(value: string, keep?: "always"): void;
}

export interface LogOptions {
  level: LogLevel;
  format: "pretty" | "json";
  /** Takes one finished line with its newline. Default: standard error, in batches. */
  write?: (line: string) => void;
  /** Default: when standard error is a terminal. */
  colour?: boolean;
}

const RANK: Record<LogLevel, number> = { debug: 0, info: 1, warn: 2, error: 3, silent: 4 };
const COLOUR: Record<LogLevel, string> = { debug: "90", info: "32", warn: "33", error: "31", silent: "0" };
const MAX_TEXT = 16_384;
const MAX_ITEMS = 100;
const MAX_DEPTH = 6;
/** Forms of secrets that are not kept always. */
const MAX_SECRETS = 512;

/** A value that is shown although it looks secret: the link of a mail that has nowhere else to go. */
export const unredacted = (text: string): Unredacted => new Unredacted(text);
class Unredacted {
  constructor(readonly text: string) {}
}

/**
 * Makes a log. A disabled level costs an empty call. Never throws, whatever the fields hold.
 * Secrets are found by field name, by value (`redactSecret`) and by shape (`redact`).
 */
export function createLog(options: LogOptions): Log {
  const sink = options.write ?? createStderrWriter();
  const colour = options.colour ?? (options.write === undefined && process.stderr.isTTY === true);
  const permanentSecrets = new Set<string>();
  const recentSecrets = new Set<string>();
  let failures = 0;
  const redactText = (text: string) => {
    let result = text.length > MAX_TEXT ? truncate(text) : text;
    for (const secret of permanentSecrets) if (result.includes(secret)) result = result.replaceAll(secret, REDACTED);
    for (const secret of recentSecrets) if (result.includes(secret)) result = result.replaceAll(secret, REDACTED);
    return redact(result);
  };
  const format = options.format === "json" ? jsonLine : (record: LogRecord) => prettyLine(record, colour);

  const write = (record: LogRecord) => {
    try {
      sink(format(record));
    } catch {
      failures++; // A log that can't be written has nowhere to say so; the next record that can, does.
    }
  };

  const createChild = (base: LogFields): Log => {
    const logAt = (level: LogLevel) => {
      if (RANK[level] < RANK[options.level]) return noop;
      return (message: string, fields?: LogFields) => {
        const time = new Date().toISOString();
        try {
          const plainFields = toPlainObject(fields ? { ...base, ...fields } : base, redactText);
          if (failures > 0) plainFields.lostRecords = failures;
          failures = 0;
          write({ time, level, message: redactText(String(message)), fields: plainFields });
        } catch (error) {
          const reason = error instanceof Error ? error.name : typeof error;
          write({ time, level, message: `A log record could not be read (${reason}).`, fields: {} });
        }
      };
    };
    return {
      debug: logAt("debug"),
      info: logAt("info"),
      warn: logAt("warn"),
      error: logAt("error"),
      child: (fields) => createChild({ ...base, ...fields }),
      redactSecret: (value, keep) =>
        keep === "always" ? rememberSecret(permanentSecrets, value) : rememberSecret(recentSecrets, value, MAX_SECRETS),
    };
  };
  return createChild({});
}

/** What a disabled level does. */
const noop = () => undefined;

/** Cuts between words, so that no half of a secret is left that its shape would no longer give away. */
function truncate(text: string): string {
  const end = Math.max(text.lastIndexOf(" ", MAX_TEXT), text.lastIndexOf("\n", MAX_TEXT), 0);
  return `${text.slice(0, end)}… (${text.length} characters)`;
}

interface LogRecord {
  time: string;
  level: LogLevel;
  message: string;
  fields: Record<string, unknown>;
}

function rememberSecret(secrets: Set<string>, value: string, limit = Number.POSITIVE_INFINITY): void {
  if (value.length < 6) return; // Shorter ones would black out half the log.
  for (const form of [value, encodeURIComponent(value.toWellFormed()), JSON.stringify(value).slice(1, -1)]) {
    secrets.delete(form);
    secrets.add(form);
  }
  for (const oldest of secrets) {
    if (secrets.size <= limit) break;
    secrets.delete(oldest);
  }
}

function toPlainObject(
  source: object,
  redactText: RedactText,
  depth = 0,
  seen: readonly object[] = [],
): Record<string, unknown> {
  const result: Record<string, unknown> = Object.create(null);
  let count = 0;
  for (const name of Object.keys(source)) {
    if (++count > MAX_ITEMS) {
      result["…"] = "more fields left out";
      break;
    }
    let value: unknown;
    try {
      value = Reflect.get(source, name);
    } catch {
      value = "[unreadable]";
    }
    if (value === undefined) continue;
    result[name.length > 20 ? redactText(name) : name] = SECRET_FIELD_NAME.test(name)
      ? redactField(value, redactText)
      : toPlainValue(value, redactText, depth, seen);
  }
  return result;
}

type RedactText = (text: string) => string;

/** Under a secret name numbers and booleans (counts, flags) stay; everything else goes. */
function redactField(value: unknown, redactText: RedactText): unknown {
  if (value instanceof Unredacted || value === null || typeof value === "number" || typeof value === "boolean") {
    return toPlainValue(value, redactText, 0, []);
  }
  return REDACTED;
}

function toPlainValue(value: unknown, redactText: RedactText, depth: number, seen: readonly object[]): unknown {
  if (typeof value === "string") return redactText(value);
  if (typeof value === "bigint") return value.toString();
  if (typeof value === "function" || typeof value === "symbol") return `[${typeof value}]`;
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Unredacted) return value.text;
  if (seen.includes(value)) return "[circular]";
  if (depth >= MAX_DEPTH) return "[deep]";
  const path = [...seen, value];
  if (value instanceof Error) return toPlainError(value, redactText, depth, path);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "[invalid date]" : value.toISOString();
  if (value instanceof URL) return redactText(value.href);
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  if (value instanceof Map || value instanceof Headers) {
    return toPlainObject(Object.fromEntries(value.entries()), redactText, depth + 1, path);
  }
  if (value instanceof Set || Array.isArray(value)) {
    const items: unknown[] = [];
    for (const item of value) {
      if (items.push(toPlainValue(item, redactText, depth + 1, path)) >= MAX_ITEMS) break;
    }
    return items;
  }
  return toPlainObject(value, redactText, depth + 1, path);
}

function toPlainError(
  error: Error,
  redactText: RedactText,
  depth: number,
  path: readonly object[],
): Record<string, unknown> {
  // An error's own fields (code, status) help; `cause` and `stack` are added by name since they don't enumerate.
  const result = toPlainObject(error, redactText, depth + 1, path);
  result.name = redactText(String(error.name));
  result.message = redactText(String(error.message));
  if (typeof error.stack === "string") result.stack = redactText(error.stack);
  if (error.cause !== undefined) result.cause = toPlainValue(error.cause, redactText, depth + 1, path);
  return result;
}

function jsonLine({ time, level, message, fields }: LogRecord): string {
  const record: Record<string, unknown> = { time, level, message };
  for (const name of Object.keys(fields)) record[name in record ? `${name}_` : name] = fields[name];
  return `${JSON.stringify(record)}\n`;
}

function prettyLine({ time, level, message, fields }: LogRecord, colour: boolean): string {
  const paint = (code: string, text: string) => (colour ? `\u001b[${code}m${text}\u001b[0m` : text);
  let line = `${paint("90", time.slice(11, 23))} ${paint(COLOUR[level], level.padEnd(5))} ${escapeControlCharacters(message)}`;
  let trace = "";
  for (const name of Object.keys(fields)) {
    const value = fields[name];
    if (isPlainError(value)) {
      line += ` ${paint("36", `${escapeControlCharacters(name)}=`)}${escapeControlCharacters(`${value.name}: ${value.message}`)}`;
      trace += stackFrames(value);
      continue;
    }
    const text = typeof value === "string" && /^[\w./:@+-]+$/.test(value) ? value : JSON.stringify(value);
    line += ` ${paint("36", `${escapeControlCharacters(name)}=`)}${escapeControlCharacters(text)}`;
  }
  return `${line}\n${trace && paint("90", trace)}`;
}

type PlainError = { name: string; message: string; stack: string; cause?: unknown };
const isPlainError = (value: unknown): value is PlainError =>
  typeof value === "object" && value !== null && "stack" in value && typeof value.stack === "string";

/** The nearest frames of an error and its causes, indented under their record. */
function stackFrames({ stack, cause }: PlainError): string {
  const near = stack.split("\n").filter((line) => /^\s+at /.test(line));
  const lines = near.slice(0, 5).map((line) => `      ${escapeControlCharacters(line.trim())}\n`);
  if (!isPlainError(cause)) return lines.join("");
  return `${lines.join("")}    caused by ${escapeControlCharacters(`${cause.name}: ${cause.message}`)}\n${stackFrames(cause)}`;
}

/** Control characters could repaint the terminal or forge a second record. */
const escapeControlCharacters = (text: string) =>
  text.replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, (c) => `\\x${c.charCodeAt(0).toString(16).padStart(2, "0")}`);

/** Gathers the lines of one turn of the event loop into one write, and what is left at exit. */
function createStderrWriter(): (line: string) => void {
  let pending = "";
  const flush = () => {
    const text = pending;
    pending = "";
    if (text) process.stderr.write(text);
  };
  process.once("exit", () => {
    if (pending) writeSync(2, pending);
  });
  return (line) => {
    if (!pending) setImmediate(flush);
    pending += line;
  };
}
