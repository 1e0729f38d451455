// What a secret looks like: names of fields, and shapes in any text.

export const REDACTED = "[redacted]";

/** Names of fields whose value is never shown. */
export const SECRET_FIELD_NAME =
  /(?:pass(?:word|phrase|wd)|secret|token|authorization|cookie|key|credential|mnemonic|seed|signature|jwt|totp)s?$/i;

/** Shapes that are secrets wherever they stand. Lookbehinds and bounds keep each of them linear. */
const PATTERNS: readonly (readonly [RegExp, string])[] = [
  [/\b([a-z][a-z0-9+.-]{0,20}:\/\/)[^\s/?#"']*@/gi, `$1${REDACTED}@`],
  [/([?&#][\w.-]{0,40}(?:token|key|secret|password|signature|sig|code)=)[^&\s#"'<>]+/gi, `$1${REDACTED}`],
  [
    /("[\w-]{0,40}(?:token|key|secret|password|authorization|cookie)"\s{0,4}:\s{0,4}")(?:[^"\\]|\\.)*/gi,
    `$1${REDACTED}`,
  ],
  [/\b(Bearer|Basic)\s+[\w.~+/=-]{8,}/gi, `$1 ${REDACTED}`],
  [/(?<!\d)\d{6,}(?::|%3a)[\w-]{30,}/gi, REDACTED],
  [/(?<![A-Za-z0-9])(?:bk_|sk-|gsk_|whsec_)[\w+/=-]{6,}/g, REDACTED],
  [/(?<![\w-])(?:AIza|EAA)[\w-]{24,}/g, REDACTED],
  [/(?<![\w-])eyJ[\w-]{4,}\.[\w-]+(?:\.[\w-]*)?/g, REDACTED],
  [/(?<![\w-])[MNO][\w-]{22,28}\.[\w-]{6}\.[\w-]{25,}/g, REDACTED],
  [/(?<![0-9a-f])[0-9a-f]{64,}(?![0-9a-z])/gi, REDACTED],
];

/** The text with everything in it that has the shape of a secret blacked out. */
export function redact(text: string): string {
  let result = text;
  for (const [pattern, replacement] of PATTERNS) result = result.replace(pattern, replacement);
  return result;
}
