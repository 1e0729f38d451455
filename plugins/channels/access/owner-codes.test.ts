import { afterEach, expect, setSystemTime, test } from "bun:test";
import { MINUTE } from "../../../src/kernel/util/time.ts";
import { createOwnerCodes } from "./owner-codes.ts";

afterEach(() => void setSystemTime());

const message = (text: string, platformMessageId = "1") => ({ text, platformMessageId });

test("a code is taken once, by itself or as Telegram's links send it", () => {
  for (const prefix of ["", "/start ", " "]) {
    const codes = createOwnerCodes();
    const { code } = codes.create("a", "channel_a");
    expect(codes.take("a", "channel_a", message("hello"))).toBeUndefined();
    expect(codes.take("b", "channel_a", message(code))).toBeUndefined();
    expect(codes.take("a", "channel_b", message(code))).toBeUndefined();
    expect(codes.take("a", "channel_a", message(prefix + code.toLowerCase()))).toBe("taken");
    expect(codes.take("a", "channel_a", message(code, "2"))).toBeUndefined();
  }
});

test("the message that has taken it is known when the platform delivers it again", () => {
  const codes = createOwnerCodes();
  const { code } = codes.create("a", "channel_a");
  expect(codes.take("a", "channel_a", message(code, "7"))).toBe("taken");
  expect(codes.take("a", "channel_a", message(code, "7"))).toBe("again");
  expect(codes.take("a", "channel_a", message(code, "8"))).toBeUndefined();
});

test("a code expires, and a newer one replaces it", () => {
  const codes = createOwnerCodes();
  const first = codes.create("a", "channel_a");
  const second = codes.create("a", "channel_a");
  expect(codes.take("a", "channel_a", message(first.code))).toBeUndefined();
  setSystemTime(Date.now() + 16 * MINUTE);
  expect(codes.take("a", "channel_a", message(second.code))).toBeUndefined();
});
