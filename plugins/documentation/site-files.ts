// Reads the site's files out of the one that the binary embeds. It holds each compressed with Brotli.

import { extname } from "node:path";
import { promisify } from "node:util";
import { brotliDecompress } from "node:zlib";
import { AppError, notFound } from "../../src/kernel/errors.ts";
import { prefersHtml } from "../../src/kernel/pages/accept.ts";

const decompress = promisify(brotliDecompress);

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html;charset=utf-8",
  ".js": "text/javascript;charset=utf-8",
  ".css": "text/css;charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".json": "application/json;charset=utf-8",
  ".yml": "application/yaml;charset=utf-8",
};

/**
 * Responds with the file at a path below /docs: `/docs/memory` is the page memory.html. With 304 if the client has it.
 * Throws 404 for programs; people get the site's own page that says so.
 */
export async function siteResponse(pathname: string, request: Request): Promise<Response> {
  // Relative addresses of pages begin at /docs/. Links of the sources, which end in .md, lead to their pages.
  const page = pathname === "/docs" ? "/docs/" : /^(.+)\.md$/.exec(pathname)?.[1];
  if (page !== undefined) return new Response(null, { status: 308, headers: { location: page } });
  const { files, pack, scripts } = await loadSite();
  const name = nameOf(pathname.slice("/docs/".length), files);
  if (name === undefined && !prefersHtml(request)) throw notFound("There is no such page.");
  const found = name ?? "404.html";
  const [start, end, hash] = files[found] ?? [0, 0, ""];
  const etag = `W/"${hash}"`;
  const headers = {
    "content-type": TYPES[extname(found)] ?? "application/octet-stream",
    "cache-control": found.startsWith("assets/") ? "public, max-age=31536000, immutable" : "no-cache",
    vary: "accept-encoding",
    etag,
    "x-content-type-options": "nosniff",
    ...(found.endsWith(".html") && pageHeaders(scripts)),
  };
  const known = request.headers.get("if-none-match")?.split(",") ?? [];
  if (name !== undefined && known.some((one) => one.trim() === etag))
    return new Response(null, { status: 304, headers });
  const status = name === undefined ? 404 : 200;
  const compressed = Bun.file(pack).slice(start, end);
  if (/\bbr\b/.test(request.headers.get("accept-encoding") ?? "")) {
    return new Response(compressed, { status, headers: { ...headers, "content-encoding": "br" } });
  }
  return new Response(await decompress(await compressed.bytes()), { status, headers });
}

/** The file at an address: its own name, the page without `.html`, or the first page of a folder. */
function nameOf(path: string, files: Readonly<Record<string, unknown>>): string | undefined {
  const names = path === "" || path.endsWith("/") ? [`${path}index.html`] : [path, `${path}.html`];
  return names.find((name) => Object.hasOwn(files, name));
}

/** Allows the site's own files, and the inline scripts of its pages by their hashes. */
function pageHeaders(scripts: readonly string[]): Record<string, string> {
  const policy = [
    "default-src 'none'",
    `script-src 'self' ${scripts.map((hash) => `'${hash}'`).join(" ")}`,
    "style-src 'self'",
    // The theme's icons are in its style sheet.
    "img-src 'self' data:",
    "connect-src 'self'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ];
  return {
    "content-security-policy": policy.join("; "),
    "referrer-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cross-origin-opener-policy": "same-origin",
  };
}

async function loadSite() {
  try {
    return await import("../../dist/site/site.js");
  } catch {
    throw new AppError(
      503,
      "DOCUMENTATION_NOT_BUILT",
      "The documentation is not built. Run `npm run build`, then start again.",
    );
  }
}
