// Bodies, read no further than they may be long.

/** The bytes of a body, or undefined when they are more than `limit`. Without a length, that is found out while reading. */
export async function readUpTo(body: Request | Response, limit: number): Promise<Uint8Array | undefined> {
  const length = body.headers.get("content-length");
  if (length !== null && Number(length) > limit) return undefined;
  // HTTP itself ends a body of a known length there; read at once it costs a third.
  if (length !== null && body.headers.get("content-encoding") === null) return new Uint8Array(await body.arrayBuffer());
  const pieces: Uint8Array[] = [];
  let read = 0;
  for await (const piece of body.body ?? []) {
    read += piece.byteLength;
    if (read > limit) return undefined;
    pieces.push(piece);
  }
  return pieces.length === 1 && pieces[0] ? pieces[0] : Buffer.concat(pieces);
}
