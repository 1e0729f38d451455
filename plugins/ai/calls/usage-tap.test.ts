// Tests the frames that the usage tap passes, removes and counts, for any chunking of the bytes.
import { expect, test } from "bun:test";
import { findLastUsage } from "../providers/token-usage.ts";
import { createUsageTap } from "./usage-tap.ts";

const chunk = (part: object) => `data: ${JSON.stringify({ id: "c", ...part })}\n\n`;
const word = (content: string, more = {}) => chunk({ choices: [{ index: 0, delta: { content } }], ...more });
const usage = { prompt_tokens: 12, completion_tokens: 3, total_tokens: 15 };
const usageFrame = chunk({ choices: [], usage });
const done = "data: [DONE]\n\n";

function through(bytes: Buffer, cuts: number[], hideUsage: boolean) {
  const tap = createUsageTap(hideUsage);
  const out: Uint8Array[] = [];
  let at = 0;
  for (const cut of [...cuts, bytes.length]) {
    const passed = tap.push(bytes.subarray(at, cut));
    if (passed) out.push(passed);
    at = cut;
  }
  const rest = tap.flush();
  if (rest) out.push(rest);
  return { text: Buffer.concat(out).toString(), usage: tap.result("a question").usage };
}

test("the usage frame that only Berth requested is removed, for any chunking", () => {
  const frames = [": comment\n\n", word("Grüße", { usage: null }), word(' "usage": {', { usage: null })];
  const bytes = Buffer.from([...frames, usageFrame, done].join(""));
  for (let cut = 1; cut < bytes.length; cut++) {
    const { text, usage: counted } = through(bytes, [cut], true);
    expect(text).toBe([...frames, done].join(""));
    expect(counted).toEqual({ inputTokens: 12, outputTokens: 3, estimated: false });
  }
});

test("every chunk passes at once if the client requested usage", () => {
  const bytes = Buffer.from(word("a") + usageFrame + done);
  const tap = createUsageTap(false);
  for (let at = 0; at < bytes.length; at += 7) {
    const part = bytes.subarray(at, at + 7);
    expect(tap.push(part)).toBe(part);
  }
  expect(tap.result("").usage).toEqual({ inputTokens: 12, outputTokens: 3, estimated: false });
});

test("lines may end in CRLF", () => {
  const crlf = (text: string) => text.replaceAll("\n", "\r\n");
  const { text } = through(Buffer.from(crlf(word("a") + usageFrame + done)), [3, 60], true);
  expect(text).toBe(crlf(word("a") + done));
});

test("a complete frame is not held back by the one that follows it", () => {
  const tap = createUsageTap(true);
  const first = Buffer.from(`${word("one")}data: {"half`);
  expect(Buffer.from(tap.push(first) ?? []).toString()).toBe(word("one"));
});

test("usage in a frame with content is kept", () => {
  const last = chunk({ choices: [{ index: 0, delta: { content: "!" } }], usage });
  const { text, usage: counted } = through(Buffer.from(last + done), [], true);
  expect(text).toBe(last + done);
  expect(counted.estimated).toBe(false);
});

test("what is no frame at all passes in the end, and without bound in memory", () => {
  expect(through(Buffer.from("not a stream"), [4], true).text).toBe("not a stream");
  const tap = createUsageTap(true);
  expect(tap.push(Buffer.alloc(2 * 1024 * 1024, 97))?.byteLength).toBe(2 * 1024 * 1024);
});

test("without a count of the provider the usage is estimated, and marked so", () => {
  const { usage: counted } = through(Buffer.from(word("four char".repeat(4)) + word('"q"') + done), [], true);
  expect(counted).toEqual({ inputTokens: 3, outputTokens: 11, estimated: true });
});

test("the last valid usage counts", () => {
  const usageIn = (text: string) => findLastUsage(Buffer.from(text));
  expect(usageIn('{"usage":{"prompt_tokens":1,"completion_tokens":2},"x":{"usage":null}}')).toEqual({
    inputTokens: 1,
    outputTokens: 2,
  });
  expect(usageIn('{"usage" : {"prompt_tokens":5,"total_tokens":9,"d":{"a":"}"}}}')).toEqual({
    inputTokens: 5,
    outputTokens: 4,
  });
  for (const wrong of [
    '{"usage":{"prompt_tokens":-1}}',
    '{"usage":{"prompt_tokens":"9"}}',
    '{"usage":{',
    '"usage"',
    "",
  ]) {
    expect(usageIn(wrong)).toBeUndefined();
  }
});
