import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { configurationPage, pagePath } from "./configuration-page.ts";

test("docs/configuration.md is what the table says; if not: bun src/kernel/config/configuration-page.ts", () => {
  expect(readFileSync(pagePath, "utf8")).toBe(configurationPage());
});
