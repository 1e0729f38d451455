// Copies the fields of a log record into plain JSON values, with secrets blacked out and without ever throwing.
import { REDACTED, SECRET_FIELD_NAME } from "./redact.ts";

const MAX_ITEMS = 100;
const MAX_DEPTH = 6;

/** Marks a text that the log shows although it looks secret: a mail's link where no mail server is configured. */
export const unredacted = (text: string): Unredacted => new Unredacted(text);
class Unredacted {
  constructor(readonly text: string) {}
}

/** Copies an object; texts pass through `redactText`, long lists and deep values are cut. */
export function toPlainObject(
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

/** Under a secret name, only numbers and booleans (counts, flags) are shown. */
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
  // An error's own fields (code, status) are copied; the standard ones are added by name, since they are not enumerable.
  const result = toPlainObject(error, redactText, depth + 1, path);
  result.name = redactText(String(error.name));
  result.message = redactText(String(error.message));
  if (typeof error.stack === "string") result.stack = redactText(error.stack);
  if (error.cause !== undefined) result.cause = toPlainValue(error.cause, redactText, depth + 1, path);
  return result;
}
