// Tests that changing a member of a JSON text changes nothing else, and the parsing of JSON arrays by element.
import { expect, test } from "bun:test";
import { rejectionOf } from "../../../tests/support/rejection.ts";
import { duplicateKey, parseElements, setJsonMembers } from "./json-text.ts";

const odd = String.raw`{ "seed" : 123456789012345678901234567890, "model":"a" ,"x":{"model":"inner","y":[1,{"model":2}]}, "s":"\"model\": \\", "e":1e999, "u":"\ud83d\ude00é" }`;

test("a member's value is replaced where it stands, and every other byte stays", () => {
  const changed = setJsonMembers(odd, { model: '"provider/b"' });
  expect(changed.replace('"provider/b"', '"a"').replaceAll(/\s/g, "")).toBe(odd.replaceAll(/\s/g, ""));
  expect(changed).toContain("123456789012345678901234567890");
  expect(changed).toContain('{"model":"inner","y":[1,{"model":2}]}');
  expect(changed).toContain(String.raw`"\"model\": \\"`);
});

test("nothing to change gives back the same text", () => {
  expect(setJsonMembers(odd, {})).toBe(odd);
  expect(setJsonMembers(odd, { taskType: undefined })).toBe(odd);
});

test.each([
  ['{"a":1,"b":2,"c":3}', { b: undefined }, '{"a":1,"c":3}'],
  ['{"a":1}', { a: undefined }, "{}"],
  ["{}", { a: "1" }, '{"a":1}'],
  [' { "a" : [1,2] } ', { b: "true", a: undefined }, '{"b":true}'],
  ['{"a":1,"a":2}', { a: "3" }, '{"a":3,"a":3}'],
  [String.raw`{"\u0061":1}`, { a: "2" }, String.raw`{"\u0061":2}`],
  ['{"a":"}\\"]","b":null}', { b: "0" }, '{"a":"}\\"]","b":0}'],
  ['{"toString":1}', { model: '"m"' }, '{"toString":1,"model":"m"}'],
])("%s with %o becomes %s", (text, changes, expected) => {
  expect(setJsonMembers(text, changes)).toBe(expected);
  expect(() => JSON.parse(setJsonMembers(text, changes))).not.toThrow();
});

test.each([
  ['{"a":1,"b":2}', undefined],
  ['[{"a":1},{"a":2},"a","a"]', undefined],
  ['{"a":{"a":{"a":"a:"}},"b":["b",{"b":1}]}', undefined],
  [String.raw`{"a":"\"a\":1,\"a\":2","b":"\\"}`, undefined],
  ['{"__proto__":1,"constructor":2,"toString":3}', undefined],
  ["{}", undefined],
  ["7", undefined],
  ['{"a":1,"a":1}', "a"],
  ['{"a":1 , "b":{"c":[{"d":1,"e":"x" ,\n"d" :2}]}}', "d"],
  [String.raw`{"model":1,"\u006dodel":2}`, "model"],
  ['{"__proto__":1,"__proto__":2}', "__proto__"],
  ['{"":1,"":2}', ""],
])("the first key that an object of %s has twice is %o", (text, key) => {
  expect(duplicateKey(text, JSON.parse(text))).toBe(key);
});

const elements = (text: string) => Array.fromAsync(parseElements(text));

test("parsing by element yields what JSON.parse does", async () => {
  const texts = ["[]", " [ ] ", "[1]", `[{"a":[1,"]"]},"x\\"],[",null , -1e2,[[]]]`, "\n[\n1\n,\n2\n]\n"];
  for (const text of texts) expect(await elements(text)).toEqual(JSON.parse(text));
});

test("what is no array is refused", async () => {
  for (const text of ["", "{}", '{"a":[1]}', "[1", "[1 2]", "[1,]", "[,1]", "[1}", "[1]]", "[1],[2]", "x[1]"]) {
    expect([text, (await rejectionOf(elements(text)))?.name]).toEqual([text, "SyntaxError"]);
  }
});

test("a long array leaves the event loop free", async () => {
  let fired = 0;
  const timer = setInterval(() => fired++, 1);
  const text = JSON.stringify(Array.from({ length: 200_000 }, (_, n) => ({ n, text: "x".repeat(50) })));
  let sum = 0;
  for await (const { n } of parseElements<{ n: number }>(text)) sum += n;
  clearInterval(timer);
  expect(sum).toBe((199_999 * 200_000) / 2);
  expect(fired).toBeGreaterThan(5);
});
