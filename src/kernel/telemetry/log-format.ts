// Formats a log record as one line: JSON for machines, or coloured text for people.

export type LogLevel = "debug" | "info" | "warn" | "error" | "silent";

export interface LogRecord {
  time: string;
  level: LogLevel;
  message: string;
  /** Plain JSON values. */
  fields: Record<string, unknown>;
}

const COLOUR: Record<LogLevel, string> = { debug: "90", info: "32", warn: "33", error: "31", silent: "0" };

/** A field that has the name of a standard one gets an underscore. */
export function jsonLine({ time, level, message, fields }: LogRecord): string {
  const record: Record<string, unknown> = { time, level, message };
  for (const name of Object.keys(fields)) record[name in record ? `${name}_` : name] = fields[name];
  return `${JSON.stringify(record)}\n`;
}

export function prettyLine({ time, level, message, fields }: LogRecord, colour: boolean): string {
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

/** The first frames of an error and of its causes, indented. */
function stackFrames({ stack, cause }: PlainError): string {
  const near = stack.split("\n").filter((line) => /^\s+at /.test(line));
  const lines = near.slice(0, 5).map((line) => `      ${escapeControlCharacters(line.trim())}\n`);
  if (!isPlainError(cause)) return lines.join("");
  return `${lines.join("")}    caused by ${escapeControlCharacters(`${cause.name}: ${cause.message}`)}\n${stackFrames(cause)}`;
}

/** Escapes control characters, which could repaint the terminal or forge a second record. */
const escapeControlCharacters = (text: string) =>
  text.replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, (c) => `\\x${c.charCodeAt(0).toString(16).padStart(2, "0")}`);
