// Parsers that turn the text of one variable into a value, each with a description of the allowed values.

import { resolve } from "node:path";
import ipaddr from "ipaddr.js";

/** The environment of the process, as far as parsers depend on it. */
export interface ParseContext {
  /** The working directory as an absolute path; relative paths are resolved from it. */
  cwd: string;
  /** Standard output is a terminal. */
  terminal: boolean;
}

/** Parses one variable's text, which is trimmed, and empty only if the default is. Undefined: the value is not allowed. */
export interface Parser<T> {
  /** The allowed values as the end of a sentence: "a whole number from 0 to 65535". */
  allowed: string;
  parse(text: string, context: ParseContext): T | undefined;
}

/** A parser from the words that describe the allowed values and the function that reads them. */
export const parser = <T>(allowed: string, parse: Parser<T>["parse"]): Parser<T> => ({ allowed, parse });

/** Text that matches a pattern. */
const textMatching = (allowed: string, pattern: RegExp) =>
  parser(allowed, (text) => (pattern.test(text) ? text : undefined));

export const anyText = parser("any text", (text) => text);

/** A root key: at least 16 characters, so that it can't be guessed. */
export const rootKey = parser("at least 16 characters, better 32 random ones", (text) =>
  text.length >= 16 ? text : undefined,
);

export const oneOf = <const T extends string>(...words: T[]): Parser<T> =>
  parser(words.join(", "), (text) => words.find((word) => word === text.toLowerCase()));

/** 0 lets the system choose a free port. */
export const port = parser("a whole number from 0 to 65535", (text) =>
  /^\d{1,5}$/.test(text) && Number(text) <= 65_535 ? Number(text) : undefined,
);

export const connectionCount = parser("a whole number from 1 to 1000000", (text) =>
  /^[1-9]\d{0,6}$/.test(text) && Number(text) <= 1_000_000 ? Number(text) : undefined,
);

export const bindHost = parser("an IP address or a host name", (text) =>
  ipaddr.isValid(text) || /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i.test(text) ? text : undefined,
);

export const hostName = parser("a host name, with a port if it needs one", (text) =>
  /^([a-z0-9.-]+|\[[0-9a-f:]+\])(:\d{1,5})?$/i.test(text) ? text.toLowerCase() : undefined,
);

/** An address of the given schemes, without a slash at its end; a query may carry a key. */
export const urlWithScheme = (...schemes: string[]): Parser<string> =>
  parser(`an address that starts with ${schemes.join(":// or ")}://`, (text) => {
    const url = URL.parse(text);
    if (!url?.hostname || !schemes.includes(url.protocol.slice(0, -1))) return undefined;
    return text.replace(/\/+$/, "");
  });

/** An http(s) address to which paths are appended, so it has no query and no slash at its end. */
export const httpUrl = parser("an address that starts with http:// or https://, without a query", (text) =>
  /[?#]/.test(text) ? undefined : urlWithScheme("http", "https").parse(text, { cwd: "/", terminal: false }),
);

/** Scheme, host and port: what a browser calls an origin. */
/** As the OpenTelemetry specification has it, "Specifying headers via environment variables". */
export const traceHeaders = parser("headers such as authorization=Bearer%20x, separated by commas", (text) => {
  const pairs = text.split(",").map((pair) => /^\s*([\w-]+)\s*=\s*(.*?)\s*$/.exec(pair));
  if (pairs.some((pair) => pair === null)) return undefined;
  try {
    return Object.fromEntries(pairs.map((pair) => [pair?.[1] ?? "", decodeURIComponent(pair?.[2] ?? "")]));
  } catch {
    return undefined;
  }
});
export const origin = parser("an http(s) address without a path, such as https://berth.example", (text) => {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password) return undefined;
  return url.pathname === "/" && !url.search && !url.hash ? url.origin : undefined;
});

export const absolutePath = parser("a path without ?", (text, { cwd }) =>
  text.includes("?") ? undefined : resolve(cwd, text),
);

/** The address of the database. `file`: the absolute path of a local one; undefined for a remote one. */
export interface DatabaseLocation {
  url: string;
  file: string | undefined;
  remote: boolean;
}

export const databaseUrl: Parser<DatabaseLocation> = parser(
  "a libSQL address: file:, http://, https://, libsql://, ws:// or wss://",
  (text, { cwd }) => {
    const local = /^file:(?:\/\/(?=\/))?([^?]+)$/.exec(text)?.[1];
    if (local) {
      const file = resolve(cwd, local);
      return { url: `file:${file}`, file, remote: false };
    }
    const url = URL.parse(text);
    if (!url?.hostname || !/^(https?|libsql|wss?):$/.test(url.protocol)) return undefined;
    return { url: text, file: undefined, remote: true };
  },
);

const UNIT_MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const isUnit = (unit: string | undefined): unit is keyof typeof UNIT_MS => unit !== undefined && unit in UNIT_MS;

/** Parses "20s" to 20000. */
export function parseDuration(text: string): number | undefined {
  const [, count, unit] = /^(\d{1,9})(ms|s|m|h|d)$/.exec(text) ?? [];
  return isUnit(unit) ? Number(count) * UNIT_MS[unit] : undefined;
}

export const duration = parser("a time such as 20s, 5m or 1h (ms, s, m, h, d)", parseDuration);

/** US dollars as whole micro-USD. */
export const microUsd = parser("US dollars, 0 or more, with at most 6 decimals, such as 1 or 0.25", (text) => {
  const [, whole, fraction = ""] = /^(\d{1,9})(?:\.(\d{1,6}))?$/.exec(text) ?? [];
  return whole === undefined ? undefined : Number(whole) * 1_000_000 + Number(fraction.padEnd(6, "0"));
});

/** An amount in a token's smallest unit. */
export const tokenAmount = parser("a whole number in the token's smallest unit", (text) =>
  /^\d{1,78}$/.test(text) ? BigInt(text) : undefined,
);

export const email = parser("an email address", (text) => {
  const normalised = text.trim().normalize("NFC").toLowerCase();
  return /^[^\s@<>]+@[^\s@<>]+$/.test(normalised) ? normalised : undefined;
});

/** A sender: an address, or a name with the address in angle brackets. */
export const mailSender = textMatching(
  "an email address, or `Name <address>`",
  /^([^\s@<>]+@[^\s@<>]+|[^<>\r\n]*<[^\s@<>]+@[^\s@<>]+>)$/,
);

/** A network in CIDR form, in canonical text; a single address is a network of one. */
export const network = parser("an IP address or a CIDR network such as 10.0.0.0/8", (text) => {
  if (ipaddr.isValidCIDR(text)) {
    const [ip, bits] = ipaddr.parseCIDR(text);
    return `${ip.toString()}/${bits}`;
  }
  if (!ipaddr.isValid(text)) return undefined;
  const ip = ipaddr.parse(text);
  return `${ip.toString()}/${ip.kind() === "ipv6" ? 128 : 32}`;
});

export const contractAddress = textMatching("0x and 40 hex digits", /^0x[0-9a-fA-F]{40}$/);
export const bytes32 = textMatching("0x and 64 hex digits", /^0x[0-9a-fA-F]{64}$/);

/** A list with commas between; empty text is an empty list. Duplicates are dropped. */
export const commaSeparated = <T>(itemParser: Parser<T>): Parser<T[]> =>
  parser(`a comma-separated list; each: ${itemParser.allowed}`, (text, context) => {
    const parts = text.split(",").map((part) => part.trim());
    const values: T[] = [];
    for (const part of parts.filter(Boolean)) {
      const value = itemParser.parse(part, context);
      if (value === undefined) return undefined;
      if (!values.includes(value)) values.push(value);
    }
    return values;
  });

export const rateLimitRules = [
  "sign-up",
  "sign-in",
  "sign-in-ip",
  "forgot-password",
  "reset-password",
  "provision",
  "ai",
  "default",
] as const;
export type RateLimitRule = (typeof rateLimitRules)[number];

/** At most `limit` in any `periodMs`. */
export interface RateLimit {
  limit: number;
  periodMs: number;
}

/** `overrides` replace a rule's own limits as a whole; a rule that is not named keeps its own. */
export interface RateLimits {
  enabled: boolean;
  overrides: Partial<Record<RateLimitRule, RateLimit[]>>;
}

/** "10/m,60/h" or "10/15m". */
function parseRateLimits(text: unknown): RateLimit[] | undefined {
  if (typeof text !== "string") return undefined;
  const limits: RateLimit[] = [];
  for (const part of text.split(",")) {
    const [, limit, count = "1", unit] = /^\s*([1-9]\d{0,8})\/([1-9]\d{0,5})?([smhd])\s*$/.exec(part) ?? [];
    if (!isUnit(unit)) return undefined;
    limits.push({ limit: Number(limit), periodMs: Number(count) * UNIT_MS[unit] });
  }
  return limits;
}

export const rateLimits: Parser<RateLimits> = parser(
  `on, off, or JSON such as {"sign-up":"10/m,60/h"} with the rules ${rateLimitRules.join(", ")}`,
  (text) => {
    if (/^(on|off)$/i.test(text)) return { enabled: text.toLowerCase() === "on", overrides: {} };
    const overrides: RateLimits["overrides"] = {};
    for (const [name, value] of Object.entries(parseJsonObject(text) ?? { "": "" })) {
      const rule = rateLimitRules.find((known) => known === name);
      const limits = parseRateLimits(value);
      if (!rule || !limits) return undefined;
      overrides[rule] = limits;
    }
    return { enabled: true, overrides };
  },
);

/** The object a JSON text holds; undefined when it is no JSON or no object. */
function parseJsonObject(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
