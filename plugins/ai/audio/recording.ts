// Tells the kind and the length of a recording by its bytes, without decoding it.
import { oggSeconds } from "../../../src/kernel/util/sound/ogg.ts";

export interface Recording {
  /** One that providers take. */
  mediaType: "audio/ogg" | "audio/wav" | "audio/mpeg" | "audio/mp4" | "audio/webm" | "audio/flac";
  /** Seconds; a high estimate where the file does not say. */
  seconds: number;
}

/** Bits per second of a voice recording where nothing else is known: few, so that the length is rather overestimated. */
const LOW_BITRATE = 12_000;
/** No codec of these containers makes more of speech: a file that claims to be shorter is not believed. */
const HIGH_BITRATE = 512_000;

/** Undefined for bytes that are no recording of a known kind. */
export function recordingOf(bytes: Uint8Array): Recording | undefined {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const mediaType = typeOf(buffer);
  if (!mediaType) return undefined;
  const stated = LENGTHS[mediaType]?.(buffer);
  const isKnown = stated !== undefined && Number.isFinite(stated) && stated > 0;
  const least = (buffer.length * 8) / (mediaType === "audio/wav" ? 10 * HIGH_BITRATE : HIGH_BITRATE);
  return { mediaType, seconds: isKnown ? Math.max(stated, least) : (buffer.length * 8) / LOW_BITRATE };
}

function typeOf(buffer: Buffer): Recording["mediaType"] | undefined {
  const head = buffer.toString("latin1", 0, 16);
  if (head.startsWith("OggS")) return "audio/ogg";
  if (/^RIFF[\s\S]{4}WAVE/.test(head)) return "audio/wav";
  if (head.startsWith("ID3") || /^\xff[\xe2-\xe7\xf2-\xf7\xfa-\xff]/.test(head)) return "audio/mpeg";
  if (head.slice(4, 8) === "ftyp") return "audio/mp4";
  if (head.startsWith("\x1aE\xdf\xa3")) return "audio/webm";
  return head.startsWith("fLaC") ? "audio/flac" : undefined;
}

const LENGTHS: Readonly<Partial<Record<Recording["mediaType"], (buffer: Buffer) => number | undefined>>> = {
  "audio/ogg": oggSeconds,
  "audio/wav": wavSeconds,
  "audio/mpeg": mp3Seconds,
  "audio/mp4": mp4Seconds,
  "audio/flac": flacSeconds,
};

function wavSeconds(buffer: Buffer): number | undefined {
  let bytesPerSecond = 0;
  for (let at = 12; at + 8 <= buffer.length; ) {
    const name = buffer.toString("latin1", at, at + 4);
    const size = buffer.readUInt32LE(at + 4);
    if (name === "fmt " && at + 20 <= buffer.length) bytesPerSecond = buffer.readUInt32LE(at + 16);
    // A recorder that streams does not know the size yet.
    if (name === "data") return Math.min(size, buffer.length - at - 8) / bytesPerSecond;
    at += 8 + size + (size % 2);
  }
  return undefined;
}

/** In kbit/s, by the index in a frame's header: of layer III in MPEG 1, and in MPEG 2 and 2.5. */
const MP3_BITRATES = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320];
const MP3_LOW_BITRATES = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160];
const MP3_RATES = [44_100, 48_000, 32_000];

/** By the number of frames, which files of varying bit rate state in their first one, else by the bit rate of that frame. */
function mp3Seconds(buffer: Buffer): number | undefined {
  const tag = buffer.toString("latin1", 0, 3) === "ID3" ? 10 + syncsafe(buffer, 6) : 0;
  const at = buffer.indexOf(0xff, tag);
  if (at < 0 || at + 200 > buffer.length) return undefined;
  const version = (buffer[at + 1] ?? 0) & 0x18;
  const isFirst = version === 0x18;
  const index = (buffer[at + 2] ?? 0) >> 4;
  const rate = (MP3_RATES[((buffer[at + 2] ?? 0) >> 2) & 3] ?? 0) / (isFirst ? 1 : version === 0x10 ? 2 : 4);
  const kilobits = (isFirst ? MP3_BITRATES : MP3_LOW_BITRATES)[index] ?? 0;
  const frame = buffer.subarray(at, at + 200);
  const info = ["Xing", "Info"].map((name) => frame.indexOf(name)).find((found) => found >= 0);
  if (info !== undefined && info + 12 <= frame.length && ((frame[info + 7] ?? 0) & 1) === 1) {
    return (frame.readUInt32BE(info + 8) * (isFirst ? 1_152 : 576)) / rate;
  }
  return ((buffer.length - at) * 8) / (kilobits * 1_000);
}

/** Seven bits of each of four bytes. */
const syncsafe = (buffer: Buffer, at: number) =>
  [0, 1, 2, 3].reduce((sum, n) => sum * 128 + ((buffer[at + n] ?? 0) & 0x7f), 0);

/** The length in the header of the movie (ISO/IEC 14496-12 §8.2.2). */
function mp4Seconds(buffer: Buffer): number | undefined {
  const at = buffer.indexOf("mvhd");
  if (at < 0 || at + 36 > buffer.length) return undefined;
  if (buffer[at + 4] === 1) return Number(buffer.readBigUInt64BE(at + 28)) / buffer.readUInt32BE(at + 24);
  return buffer.readUInt32BE(at + 20) / buffer.readUInt32BE(at + 16);
}

/** The rate and the number of samples in the first block (RFC 9639 §8.2). */
function flacSeconds(buffer: Buffer): number | undefined {
  if (buffer.length < 26) return undefined;
  const samples = (buffer.readUInt8(21) & 0x0f) * 2 ** 32 + buffer.readUInt32BE(22);
  return samples / (buffer.readUIntBE(18, 3) >> 4);
}
