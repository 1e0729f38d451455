// Reads the media messages of RTMP: H.264 and AAC, as FLV carries them (Video File Format 10.1, annex E.4).

/** One H.264 picture or AAC frame. Times in milliseconds. */
export interface Frame {
  readonly kind: "video" | "audio";
  /** A copy: it stays valid after the reader overwrites its buffer. */
  readonly data: Uint8Array;
  readonly isKey: boolean;
  /** The decoding time. */
  readonly dts: number;
  /** The presentation time minus the decoding time. */
  readonly offset: number;
}

/** The decoder configuration of a track. `description`: the configuration record, as MP4 holds it too. */
export interface VideoConfig {
  readonly codec: string;
  readonly width: number;
  readonly height: number;
  readonly description: Uint8Array;
}
export interface AudioConfig {
  readonly codec: string;
  readonly sampleRate: number;
  readonly channels: number;
  readonly description: Uint8Array;
}

export type Media =
  | { kind: "frame"; frame: Frame }
  | { kind: "video-config"; config: VideoConfig }
  | { kind: "audio-config"; config: AudioConfig }
  /** A message without media that matters here, such as an end of sequence or a script tag. */
  | { kind: "ignored" };

/** Media that Berth can't use. The message is for the agent's owner; it continues "The live stream was ended: ". */
export class UnusableMediaError extends Error {
  override readonly name = "UnusableMediaError";
}

const AUDIO = 8;
const VIDEO = 9;
const IGNORED: Media = { kind: "ignored" };

/** Names of FLV's codec numbers, so that a refusal can say which codec the encoder is set to. */
const VIDEO_CODECS: Readonly<Record<number, string>> = { 2: "Sorenson H.263", 4: "VP6", 5: "VP6", 12: "HEVC" };
const AUDIO_CODECS: Readonly<Record<number, string>> = { 2: "MP3", 3: "PCM", 7: "G.711", 8: "G.711", 11: "Speex" };
const FOURCC_NAMES: Readonly<Record<string, string>> = {
  hvc1: "HEVC",
  av01: "AV1",
  vp09: "VP9",
  Opus: "Opus",
  fLaC: "FLAC",
  "ac-3": "AC-3",
  "ec-3": "E-AC-3",
  ".mp3": "MP3",
};

/**
 * Reads one message: FLV's tag type (8 audio, 9 video), the timestamp in milliseconds, and the body.
 * Throws UnusableMediaError for other codecs and for malformed configurations.
 */
export function readMedia(type: number, clock: number, body: Uint8Array): Media {
  if (body.length < 2) return IGNORED;
  if (type === VIDEO) return readVideo(clock, body);
  if (type === AUDIO) return readAudio(clock, body);
  return IGNORED;
}

function readVideo(clock: number, body: Uint8Array): Media {
  const [first = 0, packetType = 0] = body;
  if (first & 0x80) throw unsupportedVideo(fourccName(body));
  const codec = first & 0x0f;
  const frameType = (first >> 4) & 0x07;
  // Frame type 5 is a command to the player, such as the end of a seek.
  if (frameType === 5) return IGNORED;
  if (codec !== 7) throw unsupportedVideo(VIDEO_CODECS[codec]);
  if (packetType === 0) return { kind: "video-config", config: readVideoConfig(copyFromOffset(body, 5)) };
  if (packetType !== 1 || body.length < 6) return IGNORED;
  const [, , a = 0, b = 0, c = 0] = body;
  // A signed 24-bit integer.
  const offset = (((a << 24) | (b << 16) | (c << 8)) >> 8) as number;
  return {
    kind: "frame",
    frame: { kind: "video", data: copyFromOffset(body, 5), isKey: frameType === 1, dts: clock, offset },
  };
}

function readAudio(clock: number, body: Uint8Array): Media {
  const [first = 0, packetType = 0] = body;
  const format = first >> 4;
  if (format === 9) throw unsupportedAudio(fourccName(body));
  if (format !== 10) throw unsupportedAudio(AUDIO_CODECS[format]);
  if (packetType === 0) return { kind: "audio-config", config: readAudioConfig(copyFromOffset(body, 2)) };
  if (body.length < 3) return IGNORED;
  return { kind: "frame", frame: { kind: "audio", data: copyFromOffset(body, 2), isKey: true, dts: clock, offset: 0 } };
}

/** Copies the bytes. `slice` of a Buffer would share them, and the next message overwrites them. */
const copyFromOffset = (body: Uint8Array, at: number) => new Uint8Array(body.subarray(at));

const fourccName = (body: Uint8Array) => FOURCC_NAMES[String.fromCharCode(...body.subarray(1, 5))];
const unsupportedVideo = (found = "another codec") =>
  new UnusableMediaError(`the video is ${found}, and only H.264 is supported. Set the encoder to H.264.`);
const unsupportedAudio = (found = "in another codec") =>
  new UnusableMediaError(`the sound is ${found}, and only AAC is supported. Set the encoder to AAC.`);

/** Reads an AVCDecoderConfigurationRecord, ISO 14496-15 §5.3.3.1. */
function readVideoConfig(description: Uint8Array): VideoConfig {
  const [version, profile = 0, compatibility = 0, level = 0, , spsCount = 0, high = 0, low = 0] = description;
  const sps = description.subarray(8, 8 + ((high << 8) | low));
  if (version !== 1 || (spsCount & 0x1f) === 0 || sps.length < 4) throw malformed("video");
  const codec = `avc1.${[profile, compatibility, level].map((n) => n.toString(16).padStart(2, "0")).join("")}`;
  return { codec, ...pictureSizeOf(sps), description };
}

const SAMPLE_RATES = [
  96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350,
];

/** Reads an AudioSpecificConfig, ISO 14496-3 §1.6.2.1. */
function readAudioConfig(description: Uint8Array): AudioConfig {
  const reader = createBitReader(description);
  const type = reader.readBits(5);
  const rate = reader.readBits(4);
  const sampleRate = rate === 15 ? reader.readBits(24) : (SAMPLE_RATES[rate] ?? 0);
  const configuration = reader.readBits(4);
  const channels = configuration === 7 ? 8 : configuration;
  if (type === 0 || type === 31 || sampleRate < 7_350 || channels < 1 || channels > 8) throw malformed("sound");
  return { codec: `mp4a.40.${type}`, sampleRate, channels, description };
}

const malformed = (what: string) =>
  new UnusableMediaError(`the configuration of the ${what} can't be read. Restart the encoder.`);

/** Profiles whose parameter sets contain the chroma format and bit depths, H.264 §7.3.2.1.1. */
const HIGH_PROFILES = [100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135];
const MAX_DIMENSION = 8_192;

/** Reads the picture size from a sequence parameter set, H.264 §7.3.2.1.1 and §7.4.2.1.1. */
function pictureSizeOf(sps: Uint8Array): { width: number; height: number } {
  const reader = createBitReader(removeEmulationPrevention(sps.subarray(1)));
  const profile = reader.readBits(8);
  reader.readBits(16);
  reader.readExpGolomb();
  let chromaFormatIdc = 1;
  if (HIGH_PROFILES.includes(profile)) {
    chromaFormatIdc = reader.readExpGolomb();
    if (chromaFormatIdc === 3) reader.readBits(1);
    reader.readExpGolomb();
    reader.readExpGolomb();
    reader.readBits(1);
    if (reader.readBits(1))
      for (let list = 0; list < (chromaFormatIdc === 3 ? 12 : 8); list++) skipScalingList(reader, list < 6 ? 16 : 64);
  }
  reader.readExpGolomb();
  const picOrderCntType = reader.readExpGolomb();
  if (picOrderCntType === 0) reader.readExpGolomb();
  else if (picOrderCntType === 1) {
    reader.readBits(1);
    reader.readExpGolomb();
    reader.readExpGolomb();
    // The count is not trusted: the reader throws at the end of the bytes.
    for (let left = reader.readExpGolomb(); left > 0; left--) reader.readExpGolomb();
  }
  reader.readExpGolomb();
  reader.readBits(1);
  const widthInMacroblocks = reader.readExpGolomb() + 1;
  const heightInMapUnits = reader.readExpGolomb() + 1;
  const frameMbsOnly = reader.readBits(1);
  if (!frameMbsOnly) reader.readBits(1);
  reader.readBits(1);
  const [left, right, top, bottom] = reader.readBits(1)
    ? [reader.readExpGolomb(), reader.readExpGolomb(), reader.readExpGolomb(), reader.readExpGolomb()]
    : [0, 0, 0, 0];
  const unitX = chromaFormatIdc === 1 || chromaFormatIdc === 2 ? 2 : 1;
  const unitY = (chromaFormatIdc === 1 ? 2 : 1) * (2 - frameMbsOnly);
  const width = widthInMacroblocks * 16 - unitX * (left + right);
  const height = (2 - frameMbsOnly) * heightInMapUnits * 16 - unitY * (top + bottom);
  if (!(width > 0 && height > 0 && width <= MAX_DIMENSION && height <= MAX_DIMENSION)) throw malformed("video");
  return { width, height };
}

function skipScalingList(reader: BitReader, size: number): void {
  if (!reader.readBits(1)) return;
  let last = 8;
  let next = 8;
  for (let i = 0; i < size; i++) {
    if (next !== 0) {
      const code = reader.readExpGolomb();
      next = (last + (code % 2 === 0 ? -code / 2 : (code + 1) / 2) + 256) % 256;
    }
    if (next !== 0) last = next;
  }
}

/** Removes the emulation prevention bytes, which keep start codes from appearing in a NAL unit, H.264 §7.3.1. */
function removeEmulationPrevention(bytes: Uint8Array): Uint8Array {
  return bytes.filter((byte, i) => !(byte === 3 && i >= 2 && bytes[i - 1] === 0 && bytes[i - 2] === 0));
}

interface BitReader {
  readBits(count: number): number;
  /** Reads an unsigned Exp-Golomb code, H.264 §9.1. */
  readExpGolomb(): number;
}

/** Reads bits, the most significant first; throws UnusableMediaError past the end. */
function createBitReader(bytes: Uint8Array): BitReader {
  let at = 0;
  function readBits(count: number): number {
    let value = 0;
    for (let i = 0; i < count; i++) {
      const byte = bytes[at >> 3];
      if (byte === undefined) throw malformed("stream");
      value = value * 2 + ((byte >> (7 - (at & 7))) & 1);
      at++;
    }
    return value;
  }
  return {
    readBits,
    readExpGolomb() {
      let zeros = 0;
      while (readBits(1) === 0) if (++zeros > 31) throw malformed("stream");
      return 2 ** zeros - 1 + readBits(zeros);
    },
  };
}
