// Reads the length and the loudness of a voice recording from its Ogg pages (RFC 3533), without decoding it.

/** Granules of Opus are 1/48,000 s, whatever its input was (RFC 7845 §4). */
const OPUS_RATE = 48_000;
const PAGE_HEADER = 27;
/** The packets before the sound: what it is, and who made it. */
const HEADER_PACKETS = 2;

/** Seconds: the position at the end of the last page, less the samples that a player skips; undefined if it states none. */
export function oggSeconds(buffer: Buffer): number | undefined {
  const start = buffer.subarray(0, 200);
  const opus = start.indexOf("OpusHead");
  const vorbis = start.indexOf("\x01vorbis", 0, "latin1");
  const skipped = opus >= 0 && opus + 12 <= start.length ? start.readUInt16LE(opus + 10) : 0;
  const rate = vorbis >= 0 && vorbis + 16 <= start.length ? start.readUInt32LE(vorbis + 12) : OPUS_RATE;
  for (let at = buffer.lastIndexOf("OggS"); at >= 0; at = at === 0 ? -1 : buffer.lastIndexOf("OggS", at - 1)) {
    if (at + 14 > buffer.length) continue;
    const granule = buffer.readBigInt64LE(at + 6);
    // No packet ends on this page.
    if (granule >= 0n) return Math.max(0, Number(granule) - skipped) / rate;
  }
  return undefined;
}

/**
 * The loudness over time in this many equal parts, 0 to 255 each: by the sizes of packets, of which Opus makes larger ones
 * for louder and richer sound.
 */
export function oggLoudness(buffer: Buffer, parts: number): Uint8Array {
  const sizes = packetSizes(buffer).slice(HEADER_PACKETS);
  const count = Math.min(parts, Math.max(1, sizes.length));
  const startOf = (part: number) => Math.floor((part * sizes.length) / count);
  const means = Array.from({ length: count }, (_, part) => {
    const own = sizes.slice(startOf(part), startOf(part + 1));
    return own.reduce((sum, size) => sum + size, 0) / Math.max(1, own.length);
  });
  const loudest = Math.max(1, ...means);
  return Uint8Array.from(means, (mean) => Math.round((mean / loudest) * 255));
}

/** The size of each packet: a segment of less than 255 bytes ends one (RFC 3533 §5). */
function packetSizes(buffer: Buffer): number[] {
  const sizes: number[] = [];
  let open = 0;
  for (let at = 0; at + PAGE_HEADER <= buffer.length && buffer.toString("latin1", at, at + 4) === "OggS"; ) {
    const segments = buffer.subarray(at + PAGE_HEADER, at + PAGE_HEADER + (buffer[at + 26] ?? 0));
    let content = 0;
    for (const segment of segments) {
      content += segment;
      open += segment;
      if (segment === 255) continue;
      sizes.push(open);
      open = 0;
    }
    at += PAGE_HEADER + segments.length + content;
  }
  return sizes;
}
