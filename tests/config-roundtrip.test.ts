// The running binary stores configurations byte for byte: GET returns exactly the JSON text of the PUT, for any object.
import { afterAll, beforeAll, expect, test } from "bun:test";
import fc from "fast-check";
import { type Berth, startBerth } from "./support/berth.ts";
import type { Client } from "./support/client.ts";
import { member, provision } from "./support/members.ts";

let berth: Berth;
let ada: Client;
let path: string;

beforeAll(async () => {
  berth = await startBerth({ env: { RATE_LIMITS: "off" } });
  ada = await member(berth);
  path = `/api/agents/${(await provision(ada)).id}/config`;
});
afterAll(() => berth?.[Symbol.asyncDispose]());

const MAX_BYTES = 64 * 1024;
const MAX_DEPTH = 64;

/** Text that can be stored: without NUL and lone surrogates. */
const text = fc.string({ unit: "binary", maxLength: 40 }).map((any) => any.replaceAll("\0", "").toWellFormed());
const odd = fc.constantFrom(
  ...["__proto__", "constructor", "prototype", "toString", "hasOwnProperty", "__defineGetter__", "then", "toJSON"],
  ...["", " ", ".", "/", "a.b", "$ref", "0", "-0", "1", "4294967295", "1e3", "\u2028", "\ufeff", "\u202e", "\u200d"],
  ...["é", "e\u0301", "ﷺ", "👩‍👩‍👧‍👦", "𝕏", "\u{10ffff}", "\uffff", "ß", "İ", "ключ", "鍵", "مفتاح"],
);

/** A string in one of its many JSON spellings (RFC 8259 §7). */
const quoted = (content: fc.Arbitrary<string>) =>
  fc.tuple(content, fc.infiniteStream(fc.nat(5))).map(([whole, ways]) => {
    const code = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
    const plain = (character: string) => JSON.stringify(character).slice(1, -1);
    const escaped = (character: string) => character.split("").map(code).join("");
    return `"${[...whole].map((one) => (ways.next().value === 0 ? escaped(one) : plain(one))).join("")}"`;
  });
const gap = fc.constantFrom("", "", "", " ", "\t", "\n", "\r\n  ");
const numbers = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
  fc.constantFrom("-0", "0.10", "1e5", "1E+05", "1.50", "12345678901234567890", "0.1e-30", "1e999", "-1e-999"),
);
const list = (open: string, close: string, items: fc.Arbitrary<string>, maxLength: number) =>
  fc
    .array(fc.tuple(gap, items, gap), { maxLength })
    .map((parts) => `${open}${parts.map((part) => part.join("")).join(",")}${close}`);

/** Any JSON text: with random key order, duplicate keys, spaces, number formats and escapes. */
const { object } = fc.letrec<{ value: string; object: string }>((tie) => {
  const member = fc
    .tuple(quoted(fc.oneof(odd, text)), gap, gap, tie("value"))
    .map(([key, before, after, value]) => `${key}${before}:${after}${value}`);
  return {
    value: fc.oneof(
      { maxDepth: 5, depthSize: "small" },
      fc.constantFrom("null", "true", "false"),
      numbers,
      quoted(fc.oneof(odd, text)),
      list("[", "]", tie("value"), 6),
      tie("object"),
    ),
    object: list("{", "}", member, 8),
  };
});

const nested = (depth: number, inner: string) => `${'{"__proto__":'.repeat(depth)}${inner}${"}".repeat(depth)}`;
const deep = fc
  .tuple(fc.integer({ min: 1, max: MAX_DEPTH - 1 }), quoted(text))
  .map(([depth, leaf]) => nested(depth, `[${leaf}]`));
/** An object of exactly the maximum size. */
const large = fc.tuple(object, fc.constantFrom("x", "é", "𝕏")).map(([inner, filling]) => {
  const start = `{"inner":${inner},"filling":"`;
  const room = MAX_BYTES - Buffer.byteLength(start) - 2;
  const bytes = Buffer.byteLength(filling);
  return `${start}${filling.repeat(Math.floor(room / bytes))}${"y".repeat(room % bytes)}"}`;
});
const configuration = fc.oneof(
  { weight: 8, arbitrary: object },
  { weight: 2, arbitrary: deep },
  { weight: 1, arbitrary: large },
);

const put = (body: string) =>
  fetch(`${berth.web}${path}`, {
    method: "PUT",
    body,
    headers: { cookie: ada.cookie, "content-type": "application/json", "user-agent": "berth-tests/1.0" },
  });

test("1,000 generated objects are returned unchanged", async () => {
  let largest = 0;
  await fc.assert(
    fc.asyncProperty(configuration, async (config) => {
      largest = Math.max(largest, Buffer.byteLength(config));
      const stored = await put(config);
      expect(stored.status).toBe(200);
      // Unknown keys are named in `warnings` after it.
      expect(await stored.text()).toStartWith(`{"config":${config},"status":"updated"`);
      expect((await ada.get(path)).text).toBe(`{"config":${config},"status":"ok"}`);
    }),
    { numRuns: 1_000 },
  );
  expect(largest).toBe(MAX_BYTES);
});

test("the last object survives a kill, and one byte or one level more is rejected", async () => {
  const fullest = `{"a":"${"x".repeat(MAX_BYTES - 8)}"}`;
  const deepest = nested(MAX_DEPTH, "1");
  for (const config of [fullest, deepest]) {
    expect((await put(config)).status).toBe(200);
    await berth.kill();
    await berth.restart();
    expect((await ada.get(path)).text).toBe(`{"config":${config},"status":"ok"}`);
    for (const more of [` ${fullest}`, `{"a":${deepest}}`]) expect((await put(more)).status).toBe(400);
    expect((await ada.get(path)).text).toBe(`{"config":${config},"status":"ok"}`);
  }
});
