// Bodies, read no further than they may be long.

/** The bytes of a body, or undefined when they are more than `limit`. Without a length, that is found out while reading. */
export async function readLimitedBody(body: Request | Response, limit: number): Promise<Uint8Array | undefined> {
  const length = body.headers.get("content-length");
  if (length !== null && Number(length) > limit) return undefined;
  // HTTP itself ends a body of a known length there; read at once it costs a third.
  if (length !== null && body.headers.get("content-encoding") === null) return new Uint8Array(await body.arrayBuffer());
  const chunks: Uint8Array[] = [];
  let bytesRead = 0;
  for await (const chunk of body.body ?? []) {
    bytesRead += chunk.byteLength;
    if (bytesRead > limit) return undefined;
    chunks.push(chunk);
  }
  return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks);
}
