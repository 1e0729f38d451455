// Asks the index that the build has made, as the search of the site does in a browser; site.test.ts types into it.

import { beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import MiniSearch from "minisearch";
import { root } from "../../site/pages.ts";
import { searchOptions } from "../../site/search-terms.ts";

/** As VitePress's VPLocalSearchBox.vue has them, with ours. */
const OPTIONS = {
  fields: ["title", "titles", "text"],
  storeFields: ["title", "titles"],
  searchOptions: { fuzzy: 0.2, prefix: true, boost: { title: 4, text: 2, titles: 1 }, ...searchOptions },
};

let index: MiniSearch;
beforeAll(async () => {
  const chunks = join(root, "dist/site/html/assets/chunks");
  const [file = ""] = new Bun.Glob("@localSearchIndexroot.*.js").scanSync(chunks);
  index = MiniSearch.loadJSON(((await import(join(chunks, file))) as { default: string }).default, OPTIONS);
});
const firstOf = (words: string): string => index.search(words)[0]?.id;

/** The names that the rows of a page's tables define, with the anchors of the rows. */
const namesOn = (page: string) =>
  [...readFileSync(join(root, `docs/${page}.md`), "utf8").matchAll(/^\| (`[^|]*?) \|/gm)].flatMap(([, cell = ""]) => {
    const names = [...cell.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name);
    return names.map((name) => ({ name, anchor: names[0] }));
  });

describe("the first result", () => {
  test.each([
    ["configuration", /^[A-Z][A-Z0-9_]+$/, 100],
    ["errors", /^[A-Z][A-Z0-9_]+$/, 200],
    ["events", /^\w+\.\w+/, 20],
  ] as const)("of each name on the page %s is its row there", (page, form, atLeast) => {
    const names = namesOn(page).filter(({ name }) => form.test(name));
    expect(names.length).toBeGreaterThan(atLeast);
    const found = names.map(({ name, anchor }) => ({ name, row: `/docs/${page}#${anchor}`, first: firstOf(name) }));
    expect(found.filter(({ row, first }) => first !== row)).toEqual([]);
  });

  test.each([
    ["telegram", "/docs/telegram"],
    ["how do I make a backup", "/docs/cli#backup"],
    ["write a plugin", "/docs/plugins"],
    ["berth deploy", "/docs/agent-as-code#deploy"],
    ["schedule", "/docs/schedules"],
    ["webhook signature", "/docs/webhooks#receive"],
    ["teleg", "/docs/telegram"],
    ["useChat", "/docs/agents-as-models"],
  ])("of %j is on the page about it", (words, address) => {
    expect(firstOf(words)).toStartWith(address);
  });
});
