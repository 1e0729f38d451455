// Serves a text that does not change while the process runs; compressed, once, for clients that accept gzip.
import { promisify } from "node:util";
import { gzip } from "node:zlib";

export interface CompressedAsset {
  response(request: Request): Promise<Response>;
  /** Reads and compresses the text before it is requested. */
  prepare(): void;
}

/** On another thread, since a megabyte takes longer than other requests should wait. */
const compressOnThread = promisify(gzip);

/** `read` is called once. `headers` must hold the content type. */
export function createCompressedAsset(
  read: () => Promise<Uint8Array<ArrayBuffer>>,
  headers: Readonly<Record<string, string>>,
): CompressedAsset {
  // Only the compressed bytes are kept: few clients don't accept them.
  let compressed: Promise<Uint8Array<ArrayBuffer>> | undefined;
  const compress = async () => new Uint8Array(await compressOnThread(await read()));
  const compressOnce = () => {
    compressed ??= compress();
    return compressed;
  };
  return {
    async response(request) {
      const bytes = await compressOnce();
      const accepted = request.headers.get("accept-encoding") ?? "";
      const all = { ...headers, vary: "accept-encoding" };
      if (!/\bgzip\b/.test(accepted)) return new Response(Bun.gunzipSync(bytes), { headers: all });
      return new Response(bytes, { headers: { ...all, "content-encoding": "gzip" } });
    },
    prepare: () => void compressOnce().catch(() => undefined),
  };
}
