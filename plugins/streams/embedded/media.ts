// What is in the media messages of RTMP: H.264 and AAC, as FLV carries them (Video File Format 10.1, annex E.4).

/** One H.264 picture or AAC frame. Times in milliseconds. */
export interface Frame {
  readonly kind: "video" | "audio";
  /** Its own copy. */
  readonly data: Uint8Array;
  readonly isKey: boolean;
  /** When it is decoded. */
  readonly dts: number;
  /** How much later it is shown. */
  readonly offset: number;
}

/** How a track is decoded. `description`: the decoder's configuration record, as MP4 holds it too. */
export interface VideoSetup {
  readonly codec: string;
  readonly width: number;
  readonly height: number;
  readonly description: Uint8Array;
}
export interface AudioSetup {
  readonly codec: string;
  readonly sampleRate: number;
  readonly channels: number;
  readonly description: Uint8Array;
}

export type Media =
  | { kind: "frame"; frame: Frame }
  | { kind: "video-setup"; setup: VideoSetup }
  | { kind: "audio-setup"; setup: AudioSetup }
  /** Of no use here: an end of sequence, a picture that says nothing. */
  | { kind: "nothing" };

/** What can't be taken, in words for the publisher's owner. */
export class UnusableMedia extends Error {
  override readonly name = "UnusableMedia";
}

const AUDIO = 8;
const VIDEO = 9;
const NOTHING: Media = { kind: "nothing" };

/** Names of FLV's numbers, for those whose encoder is set to something else. */
const VIDEO_CODECS: Readonly<Record<number, string>> = { 2: "Sorenson H.263", 4: "VP6", 5: "VP6", 12: "HEVC" };
const AUDIO_CODECS: Readonly<Record<number, string>> = { 2: "MP3", 3: "PCM", 7: "G.711", 8: "G.711", 11: "Speex" };
const FOURCCS: Readonly<Record<string, string>> = {
  hvc1: "HEVC",
  av01: "AV1",
  vp09: "VP9",
  Opus: "Opus",
  fLaC: "FLAC",
  "ac-3": "AC-3",
  "ec-3": "E-AC-3",
  ".mp3": "MP3",
};

/** Reads one message. Throws UnusableMedia for another codec, and for what is no media at all. */
export function readMedia(type: number, clock: number, body: Uint8Array): Media {
  if (body.length < 2) return NOTHING;
  if (type === VIDEO) return readVideo(clock, body);
  if (type === AUDIO) return readAudio(clock, body);
  return NOTHING;
}

function readVideo(clock: number, body: Uint8Array): Media {
  const [first = 0, packetType = 0] = body;
  if (first & 0x80) throw wrongVideo(fourcc(body));
  const codec = first & 0x0f;
  const frameType = (first >> 4) & 0x07;
  // A command to the player, such as the end of a seek.
  if (frameType === 5) return NOTHING;
  if (codec !== 7) throw wrongVideo(VIDEO_CODECS[codec]);
  if (packetType === 0) return { kind: "video-setup", setup: videoSetup(copyFrom(body, 5)) };
  if (packetType !== 1 || body.length < 6) return NOTHING;
  const [, , a = 0, b = 0, c = 0] = body;
  // 24 bits with a sign.
  const offset = (((a << 24) | (b << 16) | (c << 8)) >> 8) as number;
  return {
    kind: "frame",
    frame: { kind: "video", data: copyFrom(body, 5), isKey: frameType === 1, dts: clock, offset },
  };
}

function readAudio(clock: number, body: Uint8Array): Media {
  const [first = 0, packetType = 0] = body;
  const format = first >> 4;
  if (format === 9) throw wrongAudio(fourcc(body));
  if (format !== 10) throw wrongAudio(AUDIO_CODECS[format]);
  if (packetType === 0) return { kind: "audio-setup", setup: audioSetup(copyFrom(body, 2)) };
  if (body.length < 3) return NOTHING;
  return { kind: "frame", frame: { kind: "audio", data: copyFrom(body, 2), isKey: true, dts: clock, offset: 0 } };
}

/** `slice` of a Buffer would be the same bytes, which the next message overwrites. */
const copyFrom = (body: Uint8Array, at: number) => new Uint8Array(body.subarray(at));

const fourcc = (body: Uint8Array) => FOURCCS[String.fromCharCode(...body.subarray(1, 5))];
const wrongVideo = (found = "another codec") =>
  new UnusableMedia(`the video is ${found}, and only H.264 can be taken. Set the encoder to H.264.`);
const wrongAudio = (found = "in another codec") =>
  new UnusableMedia(`the sound is ${found}, and only AAC can be taken. Set the encoder to AAC.`);

/** AVCDecoderConfigurationRecord, ISO 14496-15 §5.3.3.1. */
function videoSetup(description: Uint8Array): VideoSetup {
  const [version, profile = 0, compatibility = 0, level = 0, , sets = 0, high = 0, low = 0] = description;
  const sps = description.subarray(8, 8 + ((high << 8) | low));
  if (version !== 1 || (sets & 0x1f) === 0 || sps.length < 4) throw broken("video");
  const codec = `avc1.${[profile, compatibility, level].map((n) => n.toString(16).padStart(2, "0")).join("")}`;
  return { codec, ...sizeOf(sps), description };
}

const RATES = [96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350];

/** AudioSpecificConfig, ISO 14496-3 §1.6.2.1. */
function audioSetup(description: Uint8Array): AudioSetup {
  const bits = createBits(description);
  const type = bits.take(5);
  const rate = bits.take(4);
  const sampleRate = rate === 15 ? bits.take(24) : (RATES[rate] ?? 0);
  const configuration = bits.take(4);
  const channels = configuration === 7 ? 8 : configuration;
  if (type === 0 || type === 31 || sampleRate < 7_350 || channels < 1 || channels > 8) throw broken("sound");
  return { codec: `mp4a.40.${type}`, sampleRate, channels, description };
}

const broken = (what: string) => new UnusableMedia(`the set-up of the ${what} can't be read. Start the encoder anew.`);

/** Profiles whose parameter sets say more of colour, H.264 §7.3.2.1.1. */
const HIGH_PROFILES = [100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135];
const MAX_SIDE = 8_192;

/** The size of the picture out of a sequence parameter set, H.264 §7.3.2.1.1 and §7.4.2.1.1. */
function sizeOf(sps: Uint8Array): { width: number; height: number } {
  const bits = createBits(withoutEscapes(sps.subarray(1)));
  const profile = bits.take(8);
  bits.take(16);
  bits.golomb();
  let chroma = 1;
  if (HIGH_PROFILES.includes(profile)) {
    chroma = bits.golomb();
    if (chroma === 3) bits.take(1);
    bits.golomb();
    bits.golomb();
    bits.take(1);
    if (bits.take(1)) for (let list = 0; list < (chroma === 3 ? 12 : 8); list++) skipScaling(bits, list < 6 ? 16 : 64);
  }
  bits.golomb();
  const order = bits.golomb();
  if (order === 0) bits.golomb();
  else if (order === 1) {
    bits.take(1);
    bits.golomb();
    bits.golomb();
    // Ends with the bits, however many are claimed.
    for (let left = bits.golomb(); left > 0; left--) bits.golomb();
  }
  bits.golomb();
  bits.take(1);
  const across = bits.golomb() + 1;
  const down = bits.golomb() + 1;
  const frames = bits.take(1);
  if (!frames) bits.take(1);
  bits.take(1);
  const [left, right, top, bottom] = bits.take(1)
    ? [bits.golomb(), bits.golomb(), bits.golomb(), bits.golomb()]
    : [0, 0, 0, 0];
  const unitX = chroma === 1 || chroma === 2 ? 2 : 1;
  const unitY = (chroma === 1 ? 2 : 1) * (2 - frames);
  const width = across * 16 - unitX * (left + right);
  const height = (2 - frames) * down * 16 - unitY * (top + bottom);
  if (!(width > 0 && height > 0 && width <= MAX_SIDE && height <= MAX_SIDE)) throw broken("video");
  return { width, height };
}

function skipScaling(bits: Bits, size: number): void {
  if (!bits.take(1)) return;
  let last = 8;
  let next = 8;
  for (let i = 0; i < size; i++) {
    if (next !== 0) {
      const code = bits.golomb();
      next = (last + (code % 2 === 0 ? -code / 2 : (code + 1) / 2) + 256) % 256;
    }
    if (next !== 0) last = next;
  }
}

/** Without the bytes that keep start codes from appearing, H.264 §7.3.1. */
function withoutEscapes(bytes: Uint8Array): Uint8Array {
  return bytes.filter((byte, i) => !(byte === 3 && i >= 2 && bytes[i - 1] === 0 && bytes[i - 2] === 0));
}

interface Bits {
  take(count: number): number;
  /** Exp-Golomb, unsigned, H.264 §9.1. */
  golomb(): number;
}

/** Reads bits, the highest first; throws past the end. */
function createBits(bytes: Uint8Array): Bits {
  let at = 0;
  function take(count: number): number {
    let value = 0;
    for (let i = 0; i < count; i++) {
      const byte = bytes[at >> 3];
      if (byte === undefined) throw broken("stream");
      value = value * 2 + ((byte >> (7 - (at & 7))) & 1);
      at++;
    }
    return value;
  }
  return {
    take,
    golomb() {
      let zeros = 0;
      while (take(1) === 0) if (++zeros > 31) throw broken("stream");
      return 2 ** zeros - 1 + take(zeros);
    },
  };
}
