// Tests cells of a table for spreadsheets.
import { expect, test } from "bun:test";
import { toCell } from "./csv.ts";

test("a name never becomes a formula, and quotes are kept", () => {
  expect(toCell('=HYPERLINK("http://example.com")')).toBe(`"'=HYPERLINK(""http://example.com"")"`);
  expect(toCell("-1+2")).toBe(`"'-1+2"`);
  expect(toCell('Ada "the first"')).toBe('"Ada ""the first"""');
  expect(toCell(-1.5)).toBe("-1.5");
});
