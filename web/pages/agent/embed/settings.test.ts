// Tests how the console's page about the chat on other sites reads and changes the configuration.
import { expect, test } from "bun:test";
import { embedOf, frameSnippet, originOf, scriptSnippet, withEmbed } from "./settings.ts";

test.each([
  ["www.example.com", "https://www.example.com"],
  [" https://Shop.Example.com/pier?x=1#y ", "https://shop.example.com"],
  ["https://shop.example.com:8443", "https://shop.example.com:8443"],
  ["http://localhost:4000", "http://localhost:4000"],
  ["localhost:4149", "http://localhost:4149"],
  ["127.0.0.1:4149/shop", "http://127.0.0.1:4149"],
  ["https://localhost:4149", "https://localhost:4149"],
  ["localhost.example.com", "https://localhost.example.com"],
  ["käse.example", "https://xn--kse-qla.example"],
  ["http://www.example.com", undefined],
  ["javascript:alert(1)", undefined],
  ["ftp://www.example.com", undefined],
  ["https://[::1]", undefined],
  ["https://*.example.com", undefined],
  ["not a site", undefined],
  ["", undefined],
])("the origin of %p is %p", (text, origin) => expect(originOf(text)).toBe(origin));

test("a change keeps everything else, and leaves out what nobody set", () => {
  const config = { instructions: "Hi", embed: { origins: ["https://a.example"], later: 1 } };
  expect(withEmbed(config, { greeting: "Ahoy", theme: "dark" })).toEqual({
    instructions: "Hi",
    embed: { later: 1, origins: ["https://a.example"], greeting: "Ahoy", theme: "dark" },
  });
  const plain = withEmbed({ embed: { origins: ["https://a.example"] } }, { origins: [] });
  expect(plain).toEqual({});
  expect(embedOf(plain)).toEqual({ origins: [], greeting: "", accent: undefined, theme: "auto" });
  expect(embedOf({ embed: "wrong" })).toEqual(embedOf({}));
});

test("the code for sites can't be broken by a name", () => {
  expect(scriptSnippet("https://berth.example", "harbour")).toBe(
    '<script src="https://berth.example/embed.js" data-agent="harbour" async></script>',
  );
  const frame = frameSnippet("https://berth.example", "harbour", `"><script>`);
  expect(frame).toContain('title="&quot;>&lt;script>"');
  // Wider than a phone, it would make the whole page scroll sideways.
  expect(frame).toContain('width="100%"');
});
