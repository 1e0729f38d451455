// Tests what is read from the pages of real recordings.
import { expect, test } from "bun:test";
import { sound } from "../../../../tests/support/sounds.ts";
import { oggLoudness, oggSeconds } from "./ogg.ts";

test("the length of a recording is that of its sound", async () => {
  for (const seconds of [0.5, 3, 61]) expect(oggSeconds(await sound("ogg", seconds))).toBeCloseTo(seconds, 1);
});

test("a loud part is higher than a silent one", async () => {
  // Two seconds of noise, then two of silence.
  const filter = ["-af", "volume='if(lt(t,2),1,0)':eval=frame", "-vbr", "on"];
  const points = oggLoudness(await sound("ogg", 4, filter), 40);
  expect(points.length).toBe(40);
  const mean = (part: Uint8Array) => part.reduce((sum, point) => sum + point, 0) / part.length;
  expect(mean(points.subarray(2, 18))).toBeGreaterThan(2 * mean(points.subarray(24, 38)));
  expect(Math.max(...points)).toBe(255);
});

test("a cut or foreign file gives something or nothing, and no error", async () => {
  const whole = await sound("ogg", 1);
  for (let size = 0; size < 600; size++) {
    oggSeconds(whole.subarray(0, size));
    expect(oggLoudness(whole.subarray(0, size), 10).length).toBeWithin(1, 11);
  }
  expect(oggSeconds(Buffer.from("no sound"))).toBeUndefined();
});
