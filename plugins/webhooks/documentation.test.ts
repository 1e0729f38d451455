import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { eventsPage, pagePath } from "./documentation.ts";

test("docs/events.md describes the types; if not: bun plugins/webhooks/documentation.ts", () => {
  expect(readFileSync(pagePath, "utf8")).toBe(eventsPage());
});
