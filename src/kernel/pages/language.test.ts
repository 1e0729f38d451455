// Tests what is read from the headers in which clients rank what they accept.
import { describe, expect, test } from "bun:test";
import { prefersHtml } from "./accept.ts";
import { preferredLanguage } from "./language.ts";

describe("the language of pages and mails", () => {
  test.each([
    [null, "en"],
    ["", "en"],
    ["de", "de"],
    ["de-AT,de;q=0.9,en;q=0.5", "de"],
    ["en-GB,en;q=0.9,de;q=0.8", "en"],
    ["fr,it;q=0.9,de;q=0.1", "de"],
    ["en;q=0.3, DE;q=0.7", "de"],
    ["de;q=0, en;q=0.1", "en"],
    ["fr", "en"],
    ["*", "en"],
    ["__proto__", "en"],
    ["de;q=x", "en"],
  ])("for %p is %s", (header, language) => {
    expect(preferredLanguage(header)).toBe(language as "en");
  });

  test("is read from the start of a very long header only", () => {
    expect(preferredLanguage(`${"x,".repeat(100_000)}de`)).toBe("en");
  });
});

describe("a page is sent", () => {
  const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8";
  test.each([
    [browser, true],
    ["text/html", true],
    ["TEXT/HTML;level=1", true],
    ["text/html, application/json", true],
    ["application/json;q=0.5, text/html;q=0.6", true],
    ["application/json;q=0, text/html;q=0.1", true],
    ["application/json, text/html", false],
    ["application/json, text/html;q=0.9", false],
    ["application/json", false],
    ["text/html;q=0", false],
    ["*/*", false],
    ["text/event-stream", false],
    ["", false],
    [undefined, false],
  ])("for %p: %p", (accept, expected) => {
    expect(prefersHtml({ headers: new Headers(accept === undefined ? {} : { accept }) })).toBe(expected);
  });
});
