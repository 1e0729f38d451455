// Judges whether a page can be made a tree: Readability's time grows with the square of its depth.
import { Parser } from "htmlparser2";

/** 200 levels take Readability a third of a second, 1,000 seven seconds. */
const MAX_DEPTH = 100;
const MAX_ELEMENTS = 50_000;

class TooComplex extends Error {}

/** Counts as the parser behind linkedom does, which closes paragraphs and list items by itself. */
export function isSimpleEnough(html: string): boolean {
  let depth = 0;
  let elements = 0;
  const parser = new Parser({
    onopentagname() {
      depth += 1;
      elements += 1;
      // Stops the parser at once, so that a page of nothing but openings costs no more than its beginning.
      if (depth > MAX_DEPTH || elements > MAX_ELEMENTS) throw new TooComplex();
    },
    onclosetag() {
      depth -= 1;
    },
  });
  try {
    parser.end(html);
    return true;
  } catch (error) {
    if (error instanceof TooComplex) return false;
    throw error;
  }
}
