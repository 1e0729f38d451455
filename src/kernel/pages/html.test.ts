// Tests that user text never becomes markup, and that policies allow only known scripts.
import { describe, expect, test } from "bun:test";
import { contentPolicy, escapeHtml, fillTemplate } from "./html.ts";

test("escapes every character that ends text or an attribute", () => {
  expect(escapeHtml(`<img src=x onerror="a('b')"> & more`)).toBe(
    "&lt;img src=x onerror=&quot;a(&#39;b&#39;)&quot;&gt; &amp; more",
  );
});

test("fills a template once: a value that looks like a place stays text", () => {
  expect(fillTemplate("<p>{{name}}</p>{{other}}{{none}}", { name: "{{other}}", other: "$&" })).toBe(
    "<p>{{other}}</p>$&",
  );
});

describe("a content policy", () => {
  const hash = (text: string) => `'sha256-${new Bun.CryptoHasher("sha256").update(text).digest("base64")}'`;

  test("names the hash of each inline script and style, and no other source", () => {
    const template = "<style>a{}</style><script>one()</script><script>two()</script>";
    const policy = contentPolicy({ styles: template, scripts: template, connect: ["'self'"] });
    expect(policy).toContain(`script-src ${hash("one()")} ${hash("two()")};`);
    expect(policy).toContain(`style-src ${hash("a{}")};`);
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("require-trusted-types-for 'script'");
    expect(policy).not.toContain("unsafe");
  });

  test("allows no script and no request where none is given", () => {
    const policy = contentPolicy({ styles: "<style>a{}</style>", trustedTypes: false });
    expect(policy).not.toMatch(/script-src|connect-src|media-src|trusted/);
  });
});
