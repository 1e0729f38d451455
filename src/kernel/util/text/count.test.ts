// Tests numbers with their nouns.
import { expect, test } from "bun:test";
import { count } from "./count.ts";

test.each([
  [[0, "file"], "0 files"],
  [[1, "file"], "1 file"],
  [[2, "file"], "2 files"],
  [[1, "entry", "entries"], "1 entry"],
  [[2, "entry", "entries"], "2 entries"],
  [[1, "row was", "rows were"], "1 row was"],
] as const)("%j is written as %s", ([number, one, many], text) => {
  expect(count(number, one, many as string | undefined)).toBe(text);
});
