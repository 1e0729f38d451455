// Checks the structure of the console: parts know no page, pages know no other page, and nothing makes markup from text.
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";

const files = [...new Bun.Glob("{viewer,api,parts,session,data,app,pages}/**/*.{ts,tsx}").scanSync(import.meta.dir)]
  .filter((path) => !path.includes(".test."))
  .map((path) => ({ path, source: readFileSync(join(import.meta.dir, path), "utf8") }));

const IMPORT =
  /\b(?<kind>import|export)\s+(?<type>type\s)?[^;"'`]*?\bfrom\s*"(?<from>\.[^"]+)"|\bimport\(\s*"(?<lazy>\.[^"]+)"/g;

/** The arrows from each file to others of the console. */
const arrows = files.flatMap(({ path, source }) =>
  [...source.matchAll(IMPORT)].map(({ groups = {} }) => ({
    from: path,
    to: normalize(join(dirname(path), groups.from ?? groups.lazy ?? "")),
    isLazy: groups.lazy !== undefined,
    isType: groups.type !== undefined,
  })),
);

/** The folder of a page; an agent's pages share `pages/agent`. */
const pageOf = (path: string) => /^pages\/[^/]+/.exec(path)?.[0];

/** Tables of a page's parts, which the command palette lists too. */
const isTable = (path: string) => /^pages\/[^/]+\/(?:pages|actions)\.ts$/.test(path);

describe("imports", () => {
  test("of parts and of the frame reach pages only when one is opened", () => {
    const wrong = arrows.filter(({ from, to, isLazy }) => !from.startsWith("pages/") && pageOf(to) && !isLazy);
    expect(wrong).toEqual([]);
  });

  test("of a page stay in its folder, or go to parts and the frame", () => {
    const wrong = arrows.filter(
      ({ from, to, isLazy }) => pageOf(from) && pageOf(to) && pageOf(from) !== pageOf(to) && !isLazy && !isTable(to),
    );
    expect(wrong).toEqual([]);
  });

  test("of the server's code are of types, or of tables that import nothing", async () => {
    const values = arrows.filter(({ to, isType }) => to.startsWith("..") && !isType).map(({ to }) => to);
    const sources = await Promise.all(values.map((to) => Bun.file(join(import.meta.dir, to)).text()));
    expect(values.filter((_, n) => new RegExp(IMPORT).test(sources[n] ?? ""))).toEqual([]);
  });
});

/** Where a file is: a folder of the console, and of `parts` each one inside. */
const folderOf = (path: string) => /^parts\/[^/]+(?=\/)|^[^/]+/.exec(path)?.[0] ?? "";

test("imports between folders run one way", () => {
  const next = new Map<string, Set<string>>();
  for (const { from, to, isLazy } of arrows) {
    const [one, other] = [folderOf(from), folderOf(to)];
    if (!isLazy && one !== other) next.set(one, (next.get(one) ?? new Set()).add(other));
  }
  const reach = (from: string, seen = new Set<string>()): Set<string> => {
    for (const to of next.get(from) ?? []) if (!seen.has(to)) reach(to, seen.add(to));
    return seen;
  };
  expect([...next.keys()].filter((folder) => reach(folder).has(folder))).toEqual([]);
});

test("no folder holds more files than a reader can survey", () => {
  const folders = Map.groupBy(files, ({ path }) => dirname(path));
  expect([...folders].filter(([, inside]) => inside.length > 15).map(([folder]) => folder)).toEqual([]);
});

test("nothing makes markup or scripts from text", () => {
  const forbidden =
    /dangerouslySetInnerHTML|\.innerHTML|\.outerHTML|insertAdjacentHTML|document\.write|new Function\(|\beval\(/;
  expect(files.filter(({ source }) => forbidden.test(source)).map(({ path }) => path)).toEqual([]);
});

test("forms judge their fields by one part, and not by the browser's words", () => {
  const own = files.filter(
    ({ path, source }) => /<form\b|\.reportValidity\(/.test(source) && path !== "parts/forms/form.tsx",
  );
  expect(own.map(({ path }) => path)).toEqual([]);
});

test("addresses from outside become links through one part only", () => {
  const links = /target="_blank"/;
  const allowed = ["parts/outside-link.tsx"];
  expect(
    files.filter(({ path, source }) => links.test(source) && !allowed.includes(path)).map(({ path }) => path),
  ).toEqual([]);
});

test("nothing needs https where a local network has none", () => {
  expect(files.filter(({ source }) => source.includes("crypto.randomUUID(")).map(({ path }) => path)).toEqual([]);
});
