import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { configurationPage } from "../kernel/config/configuration-page.ts";
import { pagePath } from "./configuration-page.ts";
import { allSettings } from "./settings.ts";

test("docs/configuration.md shows the declared variables; if not: bun src/server/configuration-page.ts", () => {
  expect(readFileSync(pagePath, "utf8")).toBe(configurationPage(allSettings));
});
