// Serves embed.js, which other sites name by this address: so it is kept for minutes only, and checked by its hash.
import { AppError } from "../../src/kernel/errors.ts";

const HEADERS = {
  "content-type": "text/javascript;charset=utf-8",
  "cache-control": "public, max-age=300, stale-while-revalidate=3600",
  // Sites may check its integrity, and be isolated (COEP).
  "access-control-allow-origin": "*",
  "cross-origin-resource-policy": "cross-origin",
  vary: "accept-encoding",
};

export async function scriptResponse(request: Request): Promise<Response> {
  const { embed } = await loadScript();
  const accepted = request.headers.get("accept-encoding") ?? "";
  const encoding = /\bbr\b/.test(accepted) ? "br" : /\bgzip\b/.test(accepted) ? "gzip" : undefined;
  const headers = { ...HEADERS, etag: `"${embed.hash}${encoding ? `-${encoding}` : ""}"` };
  if (hasTag(request.headers.get("if-none-match"), embed.hash)) return new Response(null, { status: 304, headers });
  if (encoding === "br") return new Response(Bun.file(embed.br), { headers: { ...headers, "content-encoding": "br" } });
  if (encoding === "gzip")
    return new Response(Bun.file(embed.gz), { headers: { ...headers, "content-encoding": "gzip" } });
  return new Response(Bun.gunzipSync(await Bun.file(embed.gz).bytes()), { headers });
}

/** Whether one of the entity tags is that of a form of this script (RFC 9110 §13.1.2). */
const hasTag = (header: string | null, hash: string) =>
  (header ?? "").split(",").some((tag) => tag.trim().replace(/^W\//, "").startsWith(`"${hash}`));

async function loadScript() {
  try {
    return await import("../../dist/web/assets.js");
  } catch {
    throw new AppError(503, "CONSOLE_NOT_BUILT", "The script is not built. Run `npm run build`, then start again.");
  }
}
