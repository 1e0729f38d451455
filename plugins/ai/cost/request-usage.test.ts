// The bytes of files are no text; the same text elsewhere in the request is.
import { expect, test } from "bun:test";
import { measureChat } from "./request-usage.ts";

const model = { id: "gpt-4o", contextWindow: () => 128_000 };
const tokensOf = (content: unknown, ...more: object[]) => {
  const body = { messages: [{ role: "user", content }, ...more] };
  return measureChat(JSON.stringify(body), body, 0)(model).inputTokens;
};
const picture = (url: string) => [{ type: "image_url", image_url: { url } }];

test("a picture costs the same, however many bytes it has", () => {
  const small = tokensOf(picture("data:image/png;base64,AAAA"));
  expect(tokensOf(picture(`data:image/png;base64,${"A9+/".repeat(250_000)}`))).toBe(small);
});

test("a text that is the same as a file's bytes counts as text", () => {
  const data = `data:,${"word ".repeat(2_000)}`;
  const known = tokensOf(picture("data:,x"));
  expect(tokensOf(picture(data), { role: "user", content: data }) - known).toBeGreaterThan(4_000);
  expect(tokensOf(data, { role: "user", content: picture(data) }) - known).toBeGreaterThan(4_000);
});
