// Tests that the kind and the length of real recordings are told as ffprobe tells them.
import { describe, expect, test } from "bun:test";
import { probeSound, type SoundFormat, sound } from "../../../tests/support/sounds.ts";
import { recordingOf } from "./recording.ts";

const TYPES: readonly (readonly [SoundFormat, string, readonly string[]])[] = [
  ["ogg", "audio/ogg", []],
  ["ogg", "audio/ogg", ["-c:a", "libvorbis", "-b:a", "64k"]],
  ["wav", "audio/wav", []],
  ["mp3", "audio/mpeg", []],
  ["mp3", "audio/mpeg", ["-write_xing", "0", "-id3v2_version", "0"]],
  ["mp3", "audio/mpeg", ["-ar", "16000", "-q:a", "5"]],
  ["m4a", "audio/mp4", []],
  ["flac", "audio/flac", []],
];

describe("a recording", () => {
  test.each(TYPES)("as %s is %s, and as long as it is %j", async (format, mediaType, more) => {
    const bytes = await sound(format, 3.5, more);
    const { seconds } = await probeSound(bytes, format);
    const told = recordingOf(bytes);
    expect(told?.mediaType).toBe(mediaType as "audio/ogg");
    expect(Math.abs((told?.seconds ?? 0) - seconds)).toBeLessThan(0.2);
  });

  test("whose container does not state the length is taken for longer than it is", async () => {
    const told = recordingOf(await sound("webm", 5));
    expect(told?.mediaType).toBe("audio/webm");
    expect(told?.seconds).toBeGreaterThan(5);
  });

  test("that states less than its bytes can hold is not believed", async () => {
    const bytes = await sound("ogg", 60);
    const last = bytes.lastIndexOf("OggS");
    bytes.writeBigInt64LE(1_000n, last + 6);
    const least = (bytes.length * 8) / 512_000;
    expect(recordingOf(bytes)?.seconds).toBeCloseTo(least, 5);
  });

  test.each([
    ["a picture", Buffer.from("\xff\xd8\xff\xe0 a photograph", "latin1")],
    ["AMR, which no provider takes", Buffer.from("#!AMR\n and frames")],
    ["a text", Buffer.from("I am a recording.")],
    ["nothing", Buffer.alloc(0)],
  ])("is not %s", (_, bytes) => {
    expect(recordingOf(bytes)).toBeUndefined();
  });

  test("that is cut anywhere, or made of a mark and noise, is never refused with an error", async () => {
    for (const [format] of TYPES) {
      const whole = await sound(format, 1);
      for (let size = 1; size < 400; size++) recordingOf(whole.subarray(0, size));
      const noise = Buffer.concat([whole.subarray(0, 16), crypto.getRandomValues(Buffer.alloc(5_000))]);
      expect(recordingOf(noise)?.seconds).toBeGreaterThanOrEqual(0);
    }
  });
});
