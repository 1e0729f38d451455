// Each module that is opened later is listed with the files it needs beside those of the page.
import { expect, test } from "bun:test";
import { type OutputFile, replaceImports } from "./imports.ts";

const file = (name: string, text: string): OutputFile => ({ name, bytes: new TextEncoder().encode(text) });
const textOf = (files: readonly OutputFile[], name: string) =>
  new TextDecoder().decode(files.find((one) => one.name === name)?.bytes);

const PAGE = '<head><script type="module" src="/assets/main-1.js"></script></head>';

test("asks for all files of a module, except those that the page has", () => {
  const files = [
    file("index.html", PAGE),
    file("main-1.js", 'import "/assets/base-1.js"; const open = () => import("/assets/page-1.js");'),
    file("base-1.js", "export const base = 1;"),
    file("page-1.js", 'import "/assets/base-1.js"; import { table } from "/assets/table-1.js"; table();'),
    file("table-1.js", 'import "/assets/row-1.js"; export const table = () => import("/assets/menu-1.js");'),
    file("row-1.js", "export const row = 1;"),
    file("menu-1.js", 'import "/assets/row-1.js";'),
  ];
  replaceImports(files);
  expect(textOf(files, "main-1.js")).toContain('berthImport("/assets/page-1.js")');
  expect(textOf(files, "table-1.js")).toContain('berthImport("/assets/menu-1.js")');
  const [, json = ""] = /id="imports">(.*?)<\/script>/.exec(textOf(files, "index.html")) ?? [];
  expect(JSON.parse(json)).toEqual({
    files: ["/assets/table-1.js", "/assets/row-1.js"],
    needs: { "/assets/page-1.js": [0, 1], "/assets/menu-1.js": [1] },
  });
});

test("refuses an import that it would leave as it is", () => {
  const files = [file("index.html", PAGE), file("main-1.js", 'import("./page-1.js")')];
  expect(() => replaceImports(files)).toThrow("main-1.js imports ./page-1.js in a way that is not known.");
});
