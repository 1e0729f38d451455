// Puts the site's files into one file that the binary embeds: each compressed with Brotli, one after the other.

import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants } from "node:zlib";

const compress = promisify(brotliCompress);

/** What VitePress writes and no reader asks for. */
const UNUSED = /^hashmap\.json$|\.woff2$/;
/** The best quality, 11, takes twenty times as long, and saves a tenth. */
const QUALITY = 9;
const INLINE_SCRIPT = /<script\b(?![^>]*\bsrc=)[^>]*>(.*?)<\/script>/gs;
/** Styles of VitePress's own parts: the height of a menu that its script sets when it opens, and what theme.css has as a rule. */
const STYLES_OF_PARTS = / style="(?:--vp-vh:0px;|position:relative;)"/g;

/** Writes `site.pack` and `site.js` to `output`. Throws if a page has inline styles. */
export async function packSite(html: string, output: string) {
  const names = [...new Bun.Glob("**/*").scanSync(html)].filter((name) => !UNUSED.test(name)).sort();
  const scripts = new Set<string>();
  const files = await Promise.all(
    names.map(async (name) => {
      const bytes = name.endsWith(".html")
        ? readPage(name, await readFile(join(html, name), "utf8"), scripts)
        : await readFile(join(html, name));
      const params = { [constants.BROTLI_PARAM_QUALITY]: QUALITY, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
      return { name, etag: hashOf(bytes, "hex").slice(0, 16), compressed: await compress(bytes, { params }) };
    }),
  );
  let end = 0;
  const rows = files.map(({ name, etag, compressed }) => {
    const start = end;
    end += compressed.length;
    return [name, [start, end, etag]] as const;
  });
  await Bun.write(join(output, "site.pack"), Buffer.concat(files.map(({ compressed }) => compressed)));
  await Bun.write(join(output, "site.js"), siteModule(Object.fromEntries(rows), [...scripts].sort()));
  return { files: files.length, bytes: end };
}

function readPage(name: string, page: string, scripts: Set<string>): Buffer {
  const text = page.replaceAll(STYLES_OF_PARTS, "");
  const style = /<[^>]* style="[^"]*"|<style\b/.exec(text);
  if (style) throw new Error(`${name} has an inline style, which the policy refuses: ${style[0].slice(0, 200)}`);
  for (const [, script = ""] of text.matchAll(INLINE_SCRIPT)) scripts.add(`sha256-${hashOf(script, "base64")}`);
  return Buffer.from(text);
}

const hashOf = (content: string | Uint8Array, encoding: "hex" | "base64") =>
  createHash("sha256").update(content).digest(encoding);

function siteModule(files: Record<string, readonly [number, number, string]>, scripts: string[]): string {
  return `import pack from "./site.pack" with { type: "file" };
export { pack };
export const scripts = ${JSON.stringify(scripts)};
export const files = ${JSON.stringify(files)};
`;
}
