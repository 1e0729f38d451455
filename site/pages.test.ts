// Checks the pages as a whole: each is in the sidebar, every link leads somewhere, on the site and on a code host.

import { describe, expect, test } from "bun:test";
import { targetOf } from "./links.ts";
import { slugOf } from "./markdown.ts";
import { type Page, readPage } from "./page.ts";
import { AWAITED, exists, listedPages, root } from "./pages.ts";

const listed = listedPages();
const pages = new Map([...listed, "README.md"].filter(exists).map((path) => [path, readPage(path)]));

test("each page under docs/ is in the sidebar; if not: add it to SECTIONS in site/pages.ts", () => {
  const written = [...new Bun.Glob("docs/**/*.md").scanSync(root)];
  expect(written.filter((path) => !listed.includes(path))).toEqual([]);
});

test("each page in the sidebar exists, and is there once", () => {
  expect(listed.filter((path) => !exists(path))).toEqual([]);
  expect(new Set(listed).size).toBe(listed.length);
  expect(AWAITED.filter((path) => !path.startsWith("docs/"))).toEqual([]);
});

test("links lead to pages, anchors and files that exist", () => {
  expect([...pages.values()].flatMap(brokenLinks)).toEqual([]);
});

test("pages are plain Markdown: the site shows HTML as text", () => {
  const found = [...pages.values()].flatMap(({ path, html }) =>
    html.map(({ href, line }) => `${path}:${line}: ${href} is HTML. Write it as Markdown, or as code.`),
  );
  expect(found).toEqual([]);
});

test("each page begins with a heading, which names it", () => {
  for (const { path, anchors } of pages.values()) expect({ path, has: anchors.size > 0 }).toEqual({ path, has: true });
});

function brokenLinks({ path, links, anchors }: Page): string[] {
  return links.flatMap(({ href, line }) => {
    const problem = problemOf(path, anchors, href);
    return problem === undefined ? [] : [`${path}:${line}: ${href}: ${problem}`];
  });
}

function problemOf(from: string, anchors: ReadonlySet<string>, href: string): string | undefined {
  if (href.startsWith("/")) return "An address of the service is no link on a code host. Write it as code.";
  const target = targetOf(from, href);
  if (target.kind === "elsewhere") return undefined;
  if (!exists(target.path)) return AWAITED.includes(target.path) ? undefined : `There is no ${target.path}.`;
  if (target.kind !== "page" || target.anchor === "") return undefined;
  const page = pages.get(target.path);
  if (!page) return `${target.path} is no page of the site; see site/pages.ts.`;
  const known = target.path === from ? anchors : page.anchors;
  return known.has(target.anchor) ? undefined : `There is no heading #${target.anchor} on ${target.path}.`;
}

describe("links", () => {
  test("lead to pages by their names on the site", () => {
    expect(targetOf("docs/a.md", "b.md#c")).toEqual({ kind: "page", path: "docs/b.md", name: "b", anchor: "c" });
    expect(targetOf("docs/a.md", "../web/README.md")).toMatchObject({ kind: "page", name: "console" });
    expect(targetOf("CONTRIBUTING.md", "docs/README.md")).toMatchObject({ kind: "page", name: "index" });
    expect(targetOf("docs/architecture.md", "decisions")).toMatchObject({ kind: "page", name: "decisions/index" });
    expect(targetOf("docs/decisions/1.md", "../a.md")).toMatchObject({ kind: "page", name: "a" });
  });

  test("to files of the source are no links on the site", () => {
    expect(targetOf("docs/a.md", "../src/kernel/plugin.ts")).toEqual({ kind: "source", path: "src/kernel/plugin.ts" });
  });

  test("with a scheme are left alone", () => {
    expect(targetOf("docs/a.md", "https://example.com/a.md")).toEqual({ kind: "elsewhere" });
  });
});

test("anchors are those of code hosts", () => {
  expect(slugOf("What it does: `a`, and Ümlaut!")).toBe("what-it-does-a-and-ümlaut");
  expect(slugOf("Two surfaces / one")).toBe("two-surfaces--one");
});
