// Tests where the segmenter cuts a stream, and which streams it refuses.
import { describe, expect, test } from "bun:test";
import type { Media } from "./flv-media.ts";
import { createSegmenter, type SegmentFrames } from "./segmenter.ts";

const videoConfig = (description = 1): Media => ({
  kind: "video-config",
  config: { codec: "avc1.42c00d", width: 320, height: 240, description: Uint8Array.of(description) },
});
const audioConfig = (description = 1): Media => ({
  kind: "audio-config",
  config: { codec: "mp4a.40.2", sampleRate: 48_000, channels: 2, description: Uint8Array.of(description) },
});
const video = (dts: number, isKey = false, bytes = 10): Media => ({
  kind: "frame",
  frame: { kind: "video", data: new Uint8Array(bytes), isKey, dts, offset: 0 },
});
const audio = (dts: number): Media => ({
  kind: "frame",
  frame: { kind: "audio", data: new Uint8Array(4), isKey: true, dts, offset: 0 },
});

/** A camera's frames from `from` to `to` every 40 ms, a key frame every `key` ms, with sound between. */
function* camera(from: number, to: number, key = 2_000): Iterable<Media> {
  for (let at = from; at < to; at += 40) {
    yield video(at, (at - from) % key === 0);
    yield audio(at + 20);
  }
}
const run = (media: Iterable<Media>, segmenter = createSegmenter()) =>
  [...media].map((one) => segmenter.add(one)).filter((segment): segment is SegmentFrames => segment !== undefined);
const times = (segments: SegmentFrames[]) => segments.map(({ start, end, hasNewInit }) => [start, end, hasNewInit]);

test("cuts at the first key frame after nearly two seconds, with times from the publisher's first frame", () => {
  const segments = run([videoConfig(), audioConfig(), ...camera(50_000, 56_100)]);
  expect(times(segments)).toEqual([
    [0, 2_000, true],
    [2_000, 4_000, false],
    [4_000, 6_000, false],
  ]);
  for (const { frames, video, audio } of segments) {
    expect(frames[0]).toMatchObject({ kind: "video", isKey: true });
    expect(frames).toHaveLength(100);
    expect([video?.codec, audio?.codec]).toEqual(["avc1.42c00d", "mp4a.40.2"]);
  }
});

test("more frequent key frames don't shorten segments; rarer ones lengthen them", () => {
  expect(times(run([videoConfig(), audioConfig(), ...camera(0, 4_200, 480)]))).toEqual([
    [0, 1_920, true],
    [1_920, 3_840, false],
  ]);
  expect(times(run([videoConfig(), audioConfig(), ...camera(0, 12_100, 6_000)]))).toEqual([
    [0, 6_000, true],
    [6_000, 12_000, false],
  ]);
});

test("leaves out frames before the first key frame", () => {
  const segments = run([videoConfig(), audioConfig(), video(0), audio(20), video(40), ...camera(80, 2_200)]);
  expect(times(segments)).toEqual([[80, 2_080, true]]);
});

test("cuts sound alone every two seconds", () => {
  const segments = run([audioConfig(), ...Array.from({ length: 300 }, (_, n) => audio(n * 21))]);
  expect(segments.length).toBe(2);
  for (const { start, end, video } of segments) {
    expect(end - start).toBeGreaterThanOrEqual(2_000);
    expect(end - start).toBeLessThan(2_030);
    expect(video).toBeUndefined();
  }
});

test("a new configuration applies from the next key frame on and is marked for players", () => {
  const segmenter = createSegmenter();
  run([videoConfig(), audioConfig(), ...camera(0, 1_000)], segmenter);
  // The same configuration again is no change.
  run([videoConfig(), audioConfig()], segmenter);
  const segments = run([videoConfig(2), ...camera(1_000, 3_100)], segmenter);
  expect(times(segments)).toEqual([
    [0, 1_000, true],
    [1_000, 3_000, true],
  ]);
  expect(segments.map(({ video }) => video?.description)).toEqual([Uint8Array.of(1), Uint8Array.of(2)]);
});

test("leaves out pictures that depend on those before the key frame, so that a player can start at any segment", () => {
  const segmenter = createSegmenter();
  const videoFrame = (dts: number, offset: number, isKey = false): Media => ({
    kind: "frame",
    frame: { kind: "video", data: new Uint8Array(4), isKey, dts, offset },
  });
  const openGroup = (at: number) => [
    videoFrame(at, 120, true),
    videoFrame(at + 40, 0),
    videoFrame(at + 80, 0),
    videoFrame(at + 120, 120),
  ];
  run([videoConfig(), ...openGroup(0), ...openGroup(2_000)], segmenter);
  expect(segmenter.flush()?.frames.map(({ dts, offset }) => dts + offset)).toEqual([2_120, 2_240]);
});

test("flushes the remaining frames as a last segment", () => {
  const segmenter = createSegmenter();
  run([videoConfig(), audioConfig(), ...camera(0, 500)], segmenter);
  expect(segmenter.flush()).toMatchObject({ start: 0, end: 500, hasNewInit: true });
  expect(segmenter.flush()).toBeUndefined();
});

describe("clocks", () => {
  test("small steps backward are corrected", () => {
    const segmenter = createSegmenter();
    run([videoConfig(), video(10_000, true), video(10_040), video(10_030), video(10_080)], segmenter);
    expect(segmenter.flush()?.frames.map(({ dts }) => dts)).toEqual([0, 40, 40, 80]);
  });

  test.each([
    ["ahead", 30_000],
    ["back", 2_000],
  ])("a jump %s is refused", (_, to) => {
    const segmenter = createSegmenter();
    run([videoConfig(), video(10_000, true), video(10_040)], segmenter);
    expect(() => segmenter.add(video(to))).toThrow("its clock jumped");
  });
});

describe("refuses", () => {
  test("a stream without a key frame for fifteen seconds", () => {
    expect(() => run([videoConfig(), audioConfig(), ...camera(0, 16_000, 60_000)])).toThrow(
      "no key frame for 15 seconds",
    );
  });

  test("too many frames in one segment, or too many bytes", () => {
    expect(() => run([videoConfig(), video(0, true), ...Array.from({ length: 6_001 }, () => video(1))])).toThrow(
      "key frame",
    );
    expect(() => run([videoConfig(), video(0, true), video(1, false, 17 << 20)])).toThrow("key frame");
  });

  test("media before their configuration", () => {
    expect(() => run([video(0, true)])).toThrow("before the decoder configuration");
    expect(() => run([videoConfig(), audio(0)])).toThrow("before the decoder configuration");
  });
});
