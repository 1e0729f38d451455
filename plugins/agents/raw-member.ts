// Finds the text of one member in a JSON object, so that what it holds can be kept exactly as it was written.

const SPACE = /[ \t\r\n]*/y;
const SCALAR = /[^,\]}\s]+/y;

/**
 * The text of the top-level member `name` of a JSON object, byte for byte; undefined when there is none. Of two members
 * with that name the last counts, as in `JSON.parse`. The text must be a valid JSON object.
 *
 * @example rawMember('{"a": {"2":1,"1":2} }', "a")  // '{"2":1,"1":2}'
 */
export function rawMember(text: string, name: string): string | undefined {
  let found: string | undefined;
  let at = past(SPACE, text, text.indexOf("{") + 1);
  while (text[at] === '"') {
    const keyEnd = stringEnd(text, at);
    const start = past(SPACE, text, past(SPACE, text, keyEnd) + 1);
    const end = valueEnd(text, start);
    if (JSON.parse(text.slice(at, keyEnd)) === name) found = text.slice(start, end);
    at = past(SPACE, text, past(SPACE, text, end) + 1);
  }
  return found;
}

/** The end of what `pattern` matches at this very place. */
function past(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}

/** Just past the closing quote of the string that opens at `at`: the next quote with an even number of backslashes before it. */
function stringEnd(text: string, at: number): number {
  for (let quote = text.indexOf('"', at + 1); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    let slashes = 0;
    while (text[quote - 1 - slashes] === "\\") slashes++;
    if (slashes % 2 === 0) return quote + 1;
  }
  return text.length;
}

function valueEnd(text: string, start: number): number {
  let depth = 0;
  let at = start;
  while (at < text.length) {
    const character = text[at];
    if (character === "{" || character === "[") {
      depth++;
      at++;
    } else if (character === "}" || character === "]") {
      depth--;
      at++;
    } else if (character === '"') at = stringEnd(text, at);
    else if (depth > 0) at++;
    else at = past(SCALAR, text, at);
    if (depth === 0) return at;
  }
  return at;
}
