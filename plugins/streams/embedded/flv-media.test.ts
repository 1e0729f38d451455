// Tests the reading of H.264 and AAC as FLV carries them, with the bytes of real encoders.
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { readMedia, UnusableMediaError } from "./flv-media.ts";

const VIDEO = 9;
const AUDIO = 8;
const read = (type: number, hex: string, clock = 0) => readMedia(type, clock, Buffer.from(hex, "hex"));

describe("the configuration of video", () => {
  test.each([
    [
      "baseline",
      "17000000000142c00dffe100186742c00dd90141fb011000000300100000030320f142a48001000568cb83cb20",
      "avc1.42c00d",
      320,
      240,
    ],
    [
      "main, with an odd size",
      "1700000000014d401effe1001a674d401eeca05217f1126022000003000200000300641e2c5b2c01000568ebe3cb20",
      "avc1.4d401e",
      642,
      362,
    ],
    [
      "high, cropped",
      "170000000001640028ffe1001b67640028acd940780227e5c044000003000400000300c83c60c65801000668ebe3cb22c0fdf8f800",
      "avc1.640028",
      1920,
      1080,
    ],
    [
      "interlaced",
      "17000000000164001effe100186764001eacd940b424d8088000000300800000190f8a14cb01000668fba3cb22c0fdf8f800",
      "avc1.64001e",
      720,
      576,
    ],
    [
      "with scaling lists",
      "17000000000164001effe100196764001eacd940b4126c0440000003004000000c83c58b658001000768ebe3cb3002c0fdf8f800",
      "avc1.64001e",
      720,
      576,
    ],
    [
      "4:4:4",
      "170000000001f4001effe1001b67f4001e919b281b07bc5f80880000030008000003019078b16cb001000668ebe3c44844fff8f800",
      "avc1.f4001e",
      854,
      480,
    ],
  ])("%s", (_, hex, codec, width, height) => {
    expect(read(VIDEO, hex)).toEqual({
      kind: "video-config",
      config: { codec, width, height, description: new Uint8Array(Buffer.from(hex.slice(10), "hex")) },
    });
  });

  test("is refused at once if it declares more entries than it contains, however many", () => {
    // Profile 66, picture order count type 1, and a cycle of 2³¹ - 2 entries that are missing.
    const sps = "6742c00d" + "d" + "000001000000000";
    expect(() => read(VIDEO, `170000000001${"42c00d"}ffe1000c${sps}`)).toThrow(UnusableMediaError);
  });
});

test("the configuration of sound is read, and refused if it is malformed", () => {
  expect(read(AUDIO, "af00119056e500")).toMatchObject({
    kind: "audio-config",
    config: { codec: "mp4a.40.2", sampleRate: 48_000, channels: 2 },
  });
  expect(() => read(AUDIO, "af00ffff")).toThrow("the configuration of the");
});

test("a picture has a decoding time and a presentation time, which may be earlier", () => {
  const after = read(VIDEO, "1701000050aabbcc", 1_000);
  expect(after).toEqual({
    kind: "frame",
    frame: { kind: "video", data: Uint8Array.of(0xaa, 0xbb, 0xcc), isKey: true, dts: 1_000, offset: 80 },
  });
  expect(read(VIDEO, "2701ffffd8aabbcc", 1_000)).toMatchObject({ frame: { isKey: false, offset: -40 } });
});

test("a frame is a copy, since the reader reuses its buffer", () => {
  const body = Buffer.from("af01aabbcc", "hex");
  const media = readMedia(AUDIO, 0, body);
  body.fill(0);
  expect(media).toMatchObject({ frame: { data: Uint8Array.of(0xaa, 0xbb, 0xcc) } });
});

test.each([
  ["Sorenson H.263", VIDEO, "2200", "the video is Sorenson H.263"],
  ["HEVC by its number", VIDEO, "1c0000", "the video is HEVC"],
  ["HEVC by its name", VIDEO, "90687663310000", "the video is HEVC"],
  ["AV1", VIDEO, "90617630310000", "the video is AV1"],
  ["MP3", AUDIO, "2fff", "the sound is MP3"],
  ["Opus", AUDIO, "904f70757300", "the sound is Opus"],
])("%s is refused by name", (_, type, hex, text) => {
  expect(() => read(type, hex)).toThrow(text);
});

test("any bytes are read as media, ignored, or refused with an UnusableMediaError", () => {
  fc.assert(
    fc.property(fc.constantFrom(AUDIO, VIDEO, 18, 0), fc.uint8Array({ maxLength: 64 }), (type, body) => {
      try {
        readMedia(type, 0, body);
      } catch (error) {
        if (!(error instanceof UnusableMediaError)) throw error;
      }
    }),
    { numRuns: 3_000 },
  );
});
