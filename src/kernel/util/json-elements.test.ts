// Tests the parsing of JSON arrays by element.
import { expect, test } from "bun:test";
import { rejectionOf } from "../../../tests/support/rejection.ts";
import { parseElements } from "./json-elements.ts";

const elements = (text: string) => Array.fromAsync(parseElements(text));

test("yields what JSON.parse does", async () => {
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
