// Callback addresses: only paths within Berth are accepted.
import { describe, expect, test } from "bun:test";
import { safeCallbackPath } from "./callback-url.ts";

const config = { baseUrl: "https://berth.example" };

describe("an address within Berth becomes its path", () => {
  test.each([
    ["/", "/"],
    ["", "/"],
    ["/agents?new=1#top", "/agents?new=1#top"],
    ["agents", "/agents"],
    ["https://berth.example/agents?new=1", "/agents?new=1"],
    ["https://BERTH.example:443/agents", "/agents"],
    ["/a/../b", "/b"],
    ["/search?next=//evil.example", "/search?next=//evil.example"],
    ["/ü", "/%C3%BC"],
  ])("%p becomes %p", (text, path) => {
    expect(safeCallbackPath(config, text)).toBe(path);
  });
});

describe("anything else becomes /", () => {
  test.each([
    "https://evil.example",
    "http://berth.example/downgraded",
    "https://berth.example:8443/",
    "https://berth.example.evil.example/",
    "https://berth.example@evil.example/",
    "https://evil@berth.example/",
    "//evil.example",
    "///evil.example",
    "/\\evil.example",
    "\\\\evil.example",
    "\\/evil.example",
    "/\t/evil.example",
    "\n//evil.example",
    " //evil.example",
    "/.//evil.example",
    "/..//evil.example",
    "/%2e//evil.example",
    "https:/\\evil.example",
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    "data:text/html,evil",
    "blob:https://berth.example/evil",
    "http://[",
    undefined,
    null,
    7,
    {},
  ])("%p", (text) => {
    expect(safeCallbackPath(config, text)).toBe("/");
  });

  test("an address beyond the maximum length", () => {
    expect(safeCallbackPath(config, `/${"a".repeat(2048)}`)).toBe("/");
  });

  test("line breaks are removed, which prevents header injection", () => {
    expect(safeCallbackPath(config, "/a\r\nset-cookie: evil=1")).not.toMatch(/[\r\n]/);
  });
});
