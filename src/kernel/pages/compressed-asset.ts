// Serves a text that does not change while the process runs; compressed, once, for clients that accept gzip.

export interface CompressedAsset {
  response(request: Request): Promise<Response>;
  /** Reads and compresses the text before it is requested. */
  prepare(): void;
}

/** On another thread, since a megabyte takes longer than other requests should wait. Loaded with the first text: it takes about 10 ms. */
async function compressOnThread(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const [{ promisify }, { gzip }] = await Promise.all([import("node:util"), import("node:zlib")]);
  return promisify(gzip)(bytes);
}

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
