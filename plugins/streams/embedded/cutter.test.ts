// Where segments are cut, and what can't be cut.
import { describe, expect, test } from "bun:test";
import { type Cut, createCutter } from "./cutter.ts";
import type { Media } from "./media.ts";

const picture = (description = 1): Media => ({
  kind: "video-setup",
  setup: { codec: "avc1.42c00d", width: 320, height: 240, description: Uint8Array.of(description) },
});
const sound = (description = 1): Media => ({
  kind: "audio-setup",
  setup: { codec: "mp4a.40.2", sampleRate: 48_000, channels: 2, description: Uint8Array.of(description) },
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
const run = (media: Iterable<Media>, cutter = createCutter()) =>
  [...media].map((one) => cutter.add(one)).filter((cut): cut is Cut => cut !== undefined);
const times = (cuts: Cut[]) => cuts.map(({ start, end, isFresh }) => [start, end, isFresh]);

test("at the first key frame after nearly two seconds; times begin with the publisher", () => {
  const cuts = run([picture(), sound(), ...camera(50_000, 56_100)]);
  expect(times(cuts)).toEqual([
    [0, 2_000, true],
    [2_000, 4_000, false],
    [4_000, 6_000, false],
  ]);
  for (const { frames, video, audio } of cuts) {
    expect(frames[0]).toMatchObject({ kind: "video", isKey: true });
    expect(frames).toHaveLength(100);
    expect([video?.codec, audio?.codec]).toEqual(["avc1.42c00d", "mp4a.40.2"]);
  }
});

test("key frames that come oftener don't make segments shorter, and rarer ones make them longer", () => {
  expect(times(run([picture(), sound(), ...camera(0, 4_200, 480)]))).toEqual([
    [0, 1_920, true],
    [1_920, 3_840, false],
  ]);
  expect(times(run([picture(), sound(), ...camera(0, 12_100, 6_000)]))).toEqual([
    [0, 6_000, true],
    [6_000, 12_000, false],
  ]);
});

test("what comes before the first key frame is left out", () => {
  const cuts = run([picture(), sound(), video(0), audio(20), video(40), ...camera(80, 2_200)]);
  expect(times(cuts)).toEqual([[80, 2_080, true]]);
});

test("sound alone is cut every two seconds", () => {
  const cuts = run([sound(), ...Array.from({ length: 300 }, (_, n) => audio(n * 21))]);
  expect(cuts.length).toBe(2);
  for (const { start, end, video } of cuts) {
    expect(end - start).toBeGreaterThanOrEqual(2_000);
    expect(end - start).toBeLessThan(2_030);
    expect(video).toBeUndefined();
  }
});

test("another set-up begins with the next key frame, and players are told", () => {
  const cutter = createCutter();
  run([picture(), sound(), ...camera(0, 1_000)], cutter);
  // The same again is none.
  run([picture(), sound()], cutter);
  const cuts = run([picture(2), ...camera(1_000, 3_100)], cutter);
  expect(times(cuts)).toEqual([
    [0, 1_000, true],
    [1_000, 3_000, true],
  ]);
  expect(cuts.map(({ video }) => video?.description)).toEqual([Uint8Array.of(1), Uint8Array.of(2)]);
});

test("pictures that need those before the key frame are left out: every segment can be the first", () => {
  const cutter = createCutter();
  const shown = (dts: number, offset: number, isKey = false): Media => ({
    kind: "frame",
    frame: { kind: "video", data: new Uint8Array(4), isKey, dts, offset },
  });
  const open = (at: number) => [shown(at, 120, true), shown(at + 40, 0), shown(at + 80, 0), shown(at + 120, 120)];
  run([picture(), ...open(0), ...open(2_000)], cutter);
  expect(cutter.rest()?.frames.map(({ dts, offset }) => dts + offset)).toEqual([2_120, 2_240]);
});

test("what is left at the end is a segment too", () => {
  const cutter = createCutter();
  run([picture(), sound(), ...camera(0, 500)], cutter);
  expect(cutter.rest()).toMatchObject({ start: 0, end: 500, isFresh: true });
  expect(cutter.rest()).toBeUndefined();
});

describe("clocks", () => {
  test("one that stumbles is set right", () => {
    const cutter = createCutter();
    run([picture(), video(10_000, true), video(10_040), video(10_030), video(10_080)], cutter);
    expect(cutter.rest()?.frames.map(({ dts }) => dts)).toEqual([0, 40, 40, 80]);
  });

  test.each([
    ["jumps ahead", 30_000],
    ["jumps back", 2_000],
  ])("one that %s is another clock", (_, to) => {
    const cutter = createCutter();
    run([picture(), video(10_000, true), video(10_040)], cutter);
    expect(() => cutter.add(video(to))).toThrow("its clock jumped");
  });
});

describe("what can't be cut", () => {
  test("no key frame for fifteen seconds", () => {
    expect(() => run([picture(), sound(), ...camera(0, 16_000, 60_000)])).toThrow("no key frame for 15 seconds");
  });

  test("frames without end in no time, or of great size", () => {
    expect(() => run([picture(), video(0, true), ...Array.from({ length: 6_001 }, () => video(1))])).toThrow(
      "key frame",
    );
    expect(() => run([picture(), video(0, true), video(1, false, 17 << 20)])).toThrow("key frame");
  });

  test("media before their set-up", () => {
    expect(() => run([video(0, true)])).toThrow("before their set-up");
    expect(() => run([picture(), audio(0)])).toThrow("before their set-up");
  });
});
