// Tests what embed.js weighs, and that it has nothing that a strict policy would block.
import { expect, test } from "bun:test";
import { brotliCompressSync } from "node:zlib";
import { buildEmbed } from "./embed.ts";

const MAX_BROTLI_BYTES = 12_000;

test("embed.js is one small script without imports, HTML texts, code from texts, cookies or foreign addresses", async () => {
  const bytes = await buildEmbed();
  expect(brotliCompressSync(bytes).length).toBeLessThan(MAX_BROTLI_BYTES);
  const script = new TextDecoder().decode(bytes);
  for (const word of [
    "innerHTML",
    "outerHTML",
    "insertAdjacentHTML",
    "document.write",
    "eval(",
    "new Function",
    "import(",
    "cookie",
  ])
    expect({ word, isThere: script.includes(word) }).toEqual({ word, isThere: false });
  const addresses = [...script.matchAll(/https?:\/\/[\w.-]+/g)].map(([address]) => address);
  expect(addresses).toEqual(["http://www.w3.org"]);
});
