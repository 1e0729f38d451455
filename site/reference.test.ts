import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ERROR_MEANINGS } from "./error-meanings.ts";
import { readPage } from "./page.ts";
import { root } from "./pages.ts";
import { output, referencePages } from "./reference.ts";
import { testedBlocks } from "./tested-blocks.ts";

test.each(referencePages)("$path says what the program does; if not: bun site/reference.ts", async ({ path, make }) => {
  expect(readFileSync(join(root, path), "utf8")).toBe(await make());
});

test("docs/cli.md shows what `berth` says, and what each of its commands does", () => {
  const headings = readPage("docs/cli.md").anchors;
  const [overview, ...helps] = testedBlocks(import.meta.path, "docs/cli.md", headings.size);
  expect(overview?.code).toStartWith("Usage: berth COMMAND");
  expect(helps.map(({ code }) => /^Usage: berth (\S+)/.exec(code)?.[1] ?? "")).toEqual([...headings].slice(1));
});

test("docs/errors.md has each code that the documents have, wherever it stands in them, with what it means", async () => {
  const page = readFileSync(join(root, "docs/errors.md"), "utf8");
  const documents = await Promise.all(["web", "backend"].map((surface) => output("openapi", surface)));
  const codes = documents.flatMap((text) =>
    [...text.matchAll(/"x-error-codes":\s*(\[[^\]]*\])/g)].flatMap(([, list = "[]"]) => JSON.parse(list) as string[]),
  );
  expect(codes.length).toBeGreaterThan(1_000);
  expect([...new Set(codes)].filter((code) => !page.includes(`| \`${code}\` |`))).toEqual([]);
  expect(page).not.toMatch(/\| +\|$/m);
  expect(Object.keys(ERROR_MEANINGS).filter((code) => !codes.includes(code))).toEqual([]);
});
