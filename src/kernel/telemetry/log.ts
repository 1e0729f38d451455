// Writes log records, one line each, with secrets blacked out by field name, by known value and by form.
import { writeSync } from "node:fs";
import { jsonLine, type LogLevel, type LogRecord, prettyLine } from "./log-format.ts";
import { toPlainObject } from "./log-values.ts";
import { createRedactor, REDACTED } from "./redact.ts";

export type { LogLevel } from "./log-format.ts";
export { unredacted } from "./log-values.ts";

export type LogFields = Readonly<Record<string, unknown>>;

export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** The same log, with these fields in every record. */
  child(fields: LogFields): Log;
  /**
   * Blacks out this value from now on, in this log and in all its children. At most 512 forms of values are known, the
   * newest ones; a value with `always`, for secrets of the operator, is known for good.
   */
  redactSecret(value: string, keep?: "always"): void;
  /** Blacks out matches of this pattern from now on, likewise. It must have the `g` flag. */
  redactPattern(pattern: RegExp): void;
  /** Returns the text with every form of a secret blacked out. Knows no values: for texts that are stored elsewhere. */
  redactForms(text: string): string;
  /** The same without what is only named like a secret: for the owner, who must see what a foreign author could hide so. */
  redactByForm(text: string): string;
}

export interface LogOptions {
  level: LogLevel;
  format: "pretty" | "json";
  /** Receives one line with its newline. Default: standard error, in batches. */
  write?: (line: string) => void;
  /** Default: when standard error is a terminal. */
  colour?: boolean;
}

const RANK: Record<LogLevel, number> = { debug: 0, info: 1, warn: 2, error: 3, silent: 4 };
const MAX_TEXT = 16_384;
/** The most forms of secrets that are known without `always`. */
const MAX_SECRETS = 512;

/** Makes a log. A disabled level costs an empty call. Its methods never throw, whatever the fields are. */
export function createLog(options: LogOptions): Log {
  const sink = options.write ?? createStderrWriter();
  const colour = options.colour ?? (options.write === undefined && process.stderr.isTTY === true);
  const permanentSecrets = new Set<string>();
  const recentSecrets = new Set<string>();
  const redactor = createRedactor();
  let failures = 0;
  const redactText = (text: string) => {
    let result = text.length > MAX_TEXT ? truncate(text) : text;
    for (const secret of permanentSecrets) if (result.includes(secret)) result = result.replaceAll(secret, REDACTED);
    for (const secret of recentSecrets) if (result.includes(secret)) result = result.replaceAll(secret, REDACTED);
    return redactor.redact(result);
  };
  const format = options.format === "json" ? jsonLine : (record: LogRecord) => prettyLine(record, colour);

  const write = (record: LogRecord) => {
    try {
      sink(format(record));
    } catch {
      failures++; // The next record that can be written reports the number of lost ones.
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
      redactPattern: redactor.addPattern,
      redactForms: redactor.redact,
      redactByForm: redactor.redactByForm,
    };
  };
  return createChild({});
}

const noop = () => undefined;

/** Cuts at a blank: half of a secret would not have the form by which it is found. */
function truncate(text: string): string {
  const end = Math.max(text.lastIndexOf(" ", MAX_TEXT), text.lastIndexOf("\n", MAX_TEXT), 0);
  return `${text.slice(0, end)}… (${text.length} characters)`;
}

function rememberSecret(secrets: Set<string>, value: string, limit = Number.POSITIVE_INFINITY): void {
  if (value.length < 6) return; // Shorter values would black out unrelated text.
  for (const form of [value, encodeURIComponent(value.toWellFormed()), JSON.stringify(value).slice(1, -1)]) {
    secrets.delete(form);
    secrets.add(form);
  }
  for (const oldest of secrets) {
    if (secrets.size <= limit) break;
    secrets.delete(oldest);
  }
}

/** Writes the lines of one turn of the event loop at once; at exit, the rest. */
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
