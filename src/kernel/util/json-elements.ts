// Parses long JSON arrays element by element, so that the event loop stays free in between.
import { jsonValueEnd } from "./json-text.ts";
import { createPacer } from "./pacing.ts";

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

function skipSpace(text: string, at: number): number {
  const space = /[ \t\r\n]*/y;
  space.lastIndex = at;
  space.test(text);
  return space.lastIndex;
}
