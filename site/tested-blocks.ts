// Hands code blocks of the documentation to the tests that they name with `tested-by:`, so that a test runs what readers copy.

import { relative } from "node:path";
import { type CodeBlock, readPage } from "./page.ts";
import { root } from "./pages.ts";

/**
 * The blocks of a page that name this test, in their order. `test` is `import.meta.path`, `page` a path in the project. Throws if
 * there are not `count` of them, so that a test takes each block that names it.
 */
export function testedBlocks<Count extends number>(test: string, page: string, count: Count): Blocks<Count> {
  const name = relative(root, test);
  const blocks = readPage(page).blocks.filter(({ testedBy }) => testedBy === name);
  if (!hasLength(blocks, count)) throw new Error(`${page} has ${blocks.length} blocks for ${name}, not ${count}.`);
  return blocks;
}

/** As many as were asked for, by their types too. */
type Blocks<Count extends number, Made extends CodeBlock[] = []> = number extends Count
  ? CodeBlock[]
  : Made["length"] extends Count
    ? Made
    : Blocks<Count, [...Made, CodeBlock]>;

const hasLength = <Count extends number>(blocks: CodeBlock[], count: Count): blocks is Blocks<Count> & CodeBlock[] =>
  blocks.length === count;
