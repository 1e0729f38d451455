// Reads and changes top-level members of a JSON text without changing any other byte.

/**
 * Sets (JSON text) or removes (undefined) top-level members of a JSON object given as text. Numbers beyond double
 * precision, escapes and spacing elsewhere are kept, which `JSON.parse` and `JSON.stringify` would not do.
 * The text must be a valid JSON object. A member that occurs twice is changed at both places.
 *
 * @example setJsonMembers('{"model":"a","n":1}', { model: '"b"' })  // '{"model":"b","n":1}'
 */
export function setJsonMembers(text: string, changes: Readonly<Record<string, string | undefined>>): string {
  const missing = Object.keys(changes);
  if (missing.length === 0) return text;
  const members: string[] = [];
  let changed = false;
  forEachMember(text, (key, start, valueStart, end) => {
    const name = decodeKey(key);
    if (!Object.hasOwn(changes, name)) {
      members.push(text.slice(start, end));
      return;
    }
    changed = true;
    const value = changes[name];
    if (value === undefined) return;
    const place = missing.indexOf(name);
    if (place !== -1) missing.splice(place, 1);
    members.push(text.slice(start, valueStart) + value);
  });
  for (const key of missing) {
    if (changes[key] === undefined) continue;
    changed = true;
    members.push(`${JSON.stringify(key)}:${changes[key]}`);
  }
  return changed ? `{${members.join(",")}}` : text;
}

/**
 * Returns the text of the top-level member `name` of a JSON object, unchanged; undefined if there is none. Of two members
 * with that name the last counts, as in `JSON.parse`. The text must be a valid JSON object.
 *
 * @example rawJsonMember('{"a": {"2":1,"1":2} }', "a")  // '{"2":1,"1":2}'
 */
export function rawJsonMember(text: string, name: string): string | undefined {
  let found: string | undefined;
  forEachMember(text, (key, _, valueStart, end) => {
    if (decodeKey(key) === name) found = text.slice(valueStart, end);
  });
  return found;
}

const decodeKey = (key: string) => (key.includes("\\") ? String(JSON.parse(`"${key}"`)) : key);

/** `key` is the text between the quotes, with its escapes. */
type MemberVisitor = (key: string, start: number, valueStart: number, end: number) => void;

function forEachMember(text: string, visit: MemberVisitor): void {
  let at = text.indexOf("{") + 1;
  while (true) {
    at = skipSpace(text, at);
    if (text[at] !== '"') return;
    const start = at;
    const keyEnd = stringEnd(text, at);
    const valueStart = skipSpace(text, skipSpace(text, keyEnd) + 1);
    const end = jsonValueEnd(text, valueStart);
    visit(text.slice(start + 1, keyEnd - 1), start, valueStart, end);
    at = skipSpace(text, end) + 1;
  }
}

function skipSpace(text: string, at: number): number {
  let code = text.charCodeAt(at);
  while (code === 32 || code === 10 || code === 13 || code === 9) code = text.charCodeAt(++at);
  return at;
}

/** Returns the position after the closing quote of the string that opens at `at`. */
function stringEnd(text: string, at: number): number {
  let quote = text.indexOf('"', at + 1);
  while (quote !== -1) {
    let slashes = 0;
    while (text.charCodeAt(quote - 1 - slashes) === 92) slashes++;
    if (slashes % 2 === 0) return quote + 1;
    quote = text.indexOf('"', quote + 1);
  }
  return text.length;
}

/** Returns the position after the value that begins at `at`. */
export function jsonValueEnd(text: string, at: number): number {
  let depth = 0;
  for (let i = at; i < text.length; ) {
    const code = text.charCodeAt(i);
    if (code === 34) {
      i = stringEnd(text, i);
      if (depth === 0) return i;
      continue;
    }
    if (code === 123 || code === 91) depth++;
    else if (code === 125 || code === 93) {
      if (depth === 0) return i;
      if (--depth === 0) return i + 1;
    } else if (depth === 0 && (code === 44 || code <= 32)) return i;
    i++;
  }
  return text.length;
}
