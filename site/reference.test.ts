import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { readPage } from "./page.ts";
import { root } from "./pages.ts";
import { referencePages } from "./reference.ts";
import { testedBlocks } from "./tested-blocks.ts";

test.each(referencePages)(
  "$path says what the program does; if not: bun site/reference.ts",
  async ({ path, make }) => {
    expect(readFileSync(join(root, path), "utf8")).toBe(await make());
  },
  120_000,
);

test("docs/cli.md shows what `berth` says, and what each of its commands does", () => {
  const headings = readPage("docs/cli.md").anchors;
  const [overview, ...helps] = testedBlocks(import.meta.path, "docs/cli.md", headings.size);
  expect(overview?.code).toStartWith("Usage: berth COMMAND");
  expect(helps.map(({ code }) => /^Usage: berth (\S+)/.exec(code)?.[1] ?? "")).toEqual([...headings].slice(1));
});
