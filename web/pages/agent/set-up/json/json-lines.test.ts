// Tests where a path is in a JSON text.
import { expect, test } from "bun:test";
import { lineOfPath } from "./json-lines.ts";

const text = JSON.stringify(
  { instructions: 'a: {[1]} "x"', budget: { usdPerDay: 1 }, list: [{ at: 1 }, { at: 2 }], empty: {} },
  null,
  2,
);
const lineAt = (path: string) => text.split("\n")[lineOfPath(text, path) - 1]?.trim();

test("finds keys, nested keys and items of lists", () => {
  expect(lineAt("instructions")).toStartWith('"instructions"');
  expect(lineAt("budget.usdPerDay")).toBe('"usdPerDay": 1');
  expect(lineAt("list[1].at")).toBe('"at": 2');
  expect(lineAt("empty")).toBe('"empty": {}');
});

test("finds the nearest parent of what is not there", () => {
  expect(lineAt("budget.unknown")).toBe('"budget": {');
  expect(lineAt("list[7]")).toBe('"list": [');
  expect(lineOfPath(text, "nothing")).toBe(1);
  expect(lineOfPath(text, "")).toBe(1);
});
