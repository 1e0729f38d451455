// Reads the console's built files, which the binary holds compressed. They are loaded at the first visit.

import { AppError, notFound } from "../../src/kernel/errors.ts";

/** Allows the console's own files only, and no text that becomes markup or a script (CSP level 3, Trusted Types). */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  // Pictures and voice that a person is about to send are shown from memory.
  "img-src 'self' data: blob:",
  "media-src 'self' blob:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "worker-src 'self' blob:",
  "frame-src 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

const PAGE_HEADERS = {
  "content-type": "text/html;charset=utf-8",
  "content-security-policy": POLICY,
  "cache-control": "no-cache",
  "referrer-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=(self)",
  "cross-origin-opener-policy": "same-origin",
  vary: "accept, accept-encoding, cookie",
};

/** The page is the same at each address; its script shows what the address names. */
export const pageResponse = (request: Request): Promise<Response> => fileResponse("index.html", request, PAGE_HEADERS);

/** One of the files that the page names. Their names hold a hash of their content, so they are kept for ever. */
export async function assetResponse(name: string, request: Request): Promise<Response> {
  const { type } = await findFile(name);
  return fileResponse(name, request, {
    "content-type": type,
    "cache-control": "public, max-age=31536000, immutable",
    vary: "accept-encoding",
  });
}

/** The names of the script and the style sheet of the API's page. */
export async function referenceFiles(): Promise<string[]> {
  const { assets } = await loadAssets();
  return Object.keys(assets).filter((name) => name.startsWith("reference-"));
}

async function fileResponse(name: string, request: Request, headers: Record<string, string>): Promise<Response> {
  const { br, gz } = await findFile(name);
  const accepted = request.headers.get("accept-encoding") ?? "";
  if (/\bbr\b/.test(accepted)) {
    return new Response(Bun.file(br), { headers: { ...headers, "content-encoding": "br" } });
  }
  if (/\bgzip\b/.test(accepted)) {
    return new Response(Bun.file(gz), { headers: { ...headers, "content-encoding": "gzip" } });
  }
  return new Response(Bun.gunzipSync(await Bun.file(gz).bytes()), { headers });
}

async function findFile(name: string) {
  const { assets } = await loadAssets();
  const file = Object.hasOwn(assets, name) ? assets[name] : undefined;
  if (!file) throw notFound("There is no such file.");
  return file;
}

async function loadAssets() {
  try {
    return await import("../../dist/web/assets.js");
  } catch {
    throw new AppError(503, "CONSOLE_NOT_BUILT", "The console is not built. Run `npm run build`, then start again.");
  }
}
