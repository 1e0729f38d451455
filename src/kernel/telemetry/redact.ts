// Finds secrets by the names of fields and by their form in any text, and blacks them out.

export const REDACTED = "[redacted]";

/** Names of fields whose value is never shown. */
export const SECRET_FIELD_NAME =
  /(?:pass(?:word|phrase|wd)|secret|token|authorization|cookie|key|credential|mnemonic|seed|signature|jwt|totp)s?$/i;

type Pattern = readonly [RegExp, string];

/** Values that are secrets by their name in an address or in JSON. Bounds keep each pattern linear in time. */
const NAMED_PATTERNS: readonly Pattern[] = [
  [/([?&#][\w.-]{0,40}(?:token|key|secret|password|signature|sig|code)=)[^&\s#"'<>]+/gi, `$1${REDACTED}`],
  [
    /("[\w-]{0,40}(?:token|key|secret|password|authorization|cookie)"\s{0,4}:\s{0,4}")(?:[^"\\]|\\.)*/gi,
    `$1${REDACTED}`,
  ],
];

/** Forms of secrets that every program meets. Lookbehinds and bounds keep each pattern linear in time. */
const COMMON_PATTERNS: readonly Pattern[] = [
  [/\b([a-z][a-z0-9+.-]{0,20}:\/\/)[^\s/?#"']*@/gi, `$1${REDACTED}@`],
  [/\b(Bearer|Basic)\s+[\w.~+/=-]{8,}/gi, `$1 ${REDACTED}`],
  [/(?<![\w-])eyJ[\w-]{4,}\.[\w-]+(?:\.[\w-]*)?/g, REDACTED],
  [/(?<![0-9a-f])[0-9a-f]{64,}(?![0-9a-z])/gi, REDACTED],
];

export interface Redactor {
  /** Returns the text with everything blacked out that has the form or the name of a secret. */
  redact(text: string): string;
  /** The same by the form alone: whoever writes a text could hide any part of it behind a name. */
  redactByForm(text: string): string;
  /** Blacks out matches of this pattern from now on. It must have the `g` flag. */
  addPattern(pattern: RegExp): void;
}

export function createRedactor(): Redactor {
  const patterns = [...COMMON_PATTERNS];
  return {
    redact: (text) => replaceAll(replaceAll(text, NAMED_PATTERNS), patterns),
    redactByForm: (text) => replaceAll(text, patterns),
    addPattern(pattern) {
      patterns.push([pattern, REDACTED]);
    },
  };
}

function replaceAll(text: string, patterns: readonly Pattern[]): string {
  let result = text;
  for (const [pattern, replacement] of patterns) result = result.replace(pattern, replacement);
  return result;
}

/** Blacks out secrets of common form, where no log exists. */
export const redactForms = (text: string) => createRedactor().redact(text);
