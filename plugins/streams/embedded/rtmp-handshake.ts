// Collects the client's first handshake chunks, C0 and C1 (RTMP 1.0 §5.2), before any RTMP reader exists.

/** C0 is one byte, C1 1536. */
const HANDSHAKE_BYTES = 1 + 1536;
const RTMP_VERSION = 3;

/**
 * Returns a function that takes bytes as they arrive. It returns all bytes collected once C0 and C1 are complete, until
 * then undefined, and throws if the first byte is not version 3.
 */
export function createHandshakeCollector(): (bytes: Buffer) => Buffer | undefined {
  let collected = Buffer.alloc(0);
  return (bytes) => {
    if (collected.length === 0 && bytes[0] !== RTMP_VERSION) throw new Error("this is not RTMP");
    collected = Buffer.concat([collected, bytes]);
    return collected.length < HANDSHAKE_BYTES ? undefined : collected;
  };
}
