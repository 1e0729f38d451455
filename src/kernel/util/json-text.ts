// Reads and changes top-level members of a JSON text without changing any other byte, and parses long arrays in steps.
import { createPacer } from "./pacing.ts";

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

/**
 * Returns the first key that one object of a JSON text has twice, at any depth; undefined if there is none. Readers differ on
 * which of the two counts. `value` is the parsed text, which has fewer keys then.
 *
 * @example duplicateKey(text, JSON.parse(text)) // "c" for '{"a":1,"b":[{"c":1,"\\u0063":2}]}'
 */
export function duplicateKey(text: string, value: unknown): string | undefined {
  return countKeysInText(text) === countKeys(value) ? undefined : findDuplicateKey(text);
}

/** Counts the strings before a colon. */
function countKeysInText(text: string): number {
  let count = 0;
  for (let at = text.indexOf('"'); at !== -1; at = text.indexOf('"', at)) {
    at = stringEnd(text, at);
    if (text.charCodeAt(skipSpace(text, at)) === 58) count++;
  }
  return count;
}

function countKeys(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  let count = 0;
  if (Array.isArray(value)) {
    for (const item of value) count += countKeys(item);
    return count;
  }
  for (const key in value) count += 1 + countKeys((value as Record<string, unknown>)[key]);
  return count;
}

function findDuplicateKey(text: string): string | undefined {
  /** The keys of the objects that are open at this position; undefined for an array. */
  const open: (Set<string> | undefined)[] = [];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 123) open.push(new Set());
    else if (code === 91) open.push(undefined);
    else if (code === 125 || code === 93) open.pop();
    if (code !== 34) continue;
    const end = stringEnd(text, at);
    const keys = text.charCodeAt(skipSpace(text, end)) === 58 ? open.at(-1) : undefined;
    const key = keys && decodeKey(text.slice(at + 1, end - 1));
    if (key !== undefined && keys?.has(key)) return key;
    if (key !== undefined) keys?.add(key);
    at = end - 1;
  }
  return undefined;
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

/**
 * Yields the parsed elements of a JSON array given as text, and gives way to other work. The caller knows their type, since
 * it is Berth's own text; throws a SyntaxError if it is no JSON array.
 */
export async function* parseElements<Element>(text: string): AsyncGenerator<Element, void> {
  const pace = createPacer();
  const start = text.indexOf("[") + 1;
  const end = text.lastIndexOf("]");
  if (start === 0 || text.slice(0, start).trim() !== "[" || text.slice(end).trim() !== "]") {
    throw new SyntaxError("This is no JSON array.");
  }
  if (text.slice(start, Math.min(end, start + 1_000)).trim() === "") return;
  for (let at = start; ; ) {
    const valueStart = skipSpace(text, at);
    const valueEnd = jsonValueEnd(text, valueStart);
    yield JSON.parse(text.slice(valueStart, valueEnd)) as Element;
    const next = skipSpace(text, valueEnd);
    if (next === end) return;
    if (text[next] !== ",") throw new SyntaxError("The elements of this JSON array are not separated.");
    at = next + 1;
    await pace();
  }
}
