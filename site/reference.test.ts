import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./pages.ts";
import { referencePages } from "./reference.ts";

test.each(referencePages)(
  "$path says what the program does; if not: bun site/reference.ts",
  async ({ path, make }) => {
    expect(readFileSync(join(root, path), "utf8")).toBe(await make());
  },
  120_000,
);
