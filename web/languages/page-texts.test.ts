// Every text of the server's own pages has a translation, with the same places and marks, and none is left over.
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { Glob } from "bun";
import { TRANSLATED } from "./languages.ts";
import { readTranslation } from "./read-translation.ts";

const root = join(import.meta.dir, "../..");
const IN_PAGE = /\[\[(.+?)\]\]/gs;
/** A text in a call, and the title of a page. */
const IN_CALL = /(?<![\w.$])(?:pageText|translateText)\(\s*("(?:[^"\\\n]|\\.)*")/g;
const TITLE = /\bcreateAccountPage\(\s*(?:\w+|\w+\([^()]*\)),\s*("(?:[^"\\\n]|\\.)*")/g;

async function textsOfPages(): Promise<Set<string>> {
  const found = new Set<string>();
  for await (const path of new Glob("{src,plugins}/**/*.{htm,ts}").scan(root)) {
    if (path.includes(".test.")) continue;
    const source = await Bun.file(join(root, path)).text();
    if (path.endsWith(".htm")) for (const [, text = ""] of source.matchAll(IN_PAGE)) found.add(text);
    else
      for (const pattern of [IN_CALL, TITLE])
        for (const [, literal = ""] of source.matchAll(pattern)) found.add(JSON.parse(literal) as string);
  }
  return found;
}

const inSource = await textsOfPages();

describe.each(TRANSLATED)("the pages in %s", async (language) => {
  const { pages } = await readTranslation(language);

  test("have every text", () => {
    expect(inSource.size).toBeGreaterThan(150);
    expect([...inSource].filter((english) => !Object.hasOwn(pages, english))).toEqual([]);
  });

  test("have no text that is not shown", () => {
    expect(Object.keys(pages).filter((english) => !inSource.has(english))).toEqual([]);
  });

  test("have the same places and marks in each", () => {
    const marks = (text: string) => (text.match(/\{\w+\}|<\/?\w+[^>]*>/g) ?? []).sort();
    const different = Object.entries(pages).filter(
      ([english, other]) => JSON.stringify(marks(english)) !== JSON.stringify(marks(other)),
    );
    expect(different).toEqual([]);
  });
});
