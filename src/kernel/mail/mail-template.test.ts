// Tests mail templates, and that no value can break the mail.
import { describe, expect, test } from "bun:test";
import { renderMail, TemplateError } from "./mail-template.ts";

const source = `Subject: Hello {{name}}

Dear {{name}},
how are you?

[Go & see]({{link}})

Bye.

--
Sent to {{email}},
because you asked.
`;
const values = { name: "Ada", link: "https://berth.example/x?a=1&b=2", email: "ada@example.com" };

test("one template makes both parts", () => {
  const { subject, text, html } = renderMail(source, values, "en");
  expect(subject).toBe("Hello Ada");
  expect(text).toBe(
    "Dear Ada, how are you?\n\nGo & see:\nhttps://berth.example/x?a=1&b=2\n\nBye.\n\n-- \nSent to ada@example.com, because you asked.\n",
  );
  expect(html).toContain("<p>Dear Ada, how are you?</p>");
  expect(html).toMatch(/<a href="https:\/\/berth\.example\/x\?a=1&amp;b=2"[^>]*>Go &amp; see<\/a>/);
  expect(html).toContain("Sent to ada@example.com, because you asked.</td>");
  expect(html).toContain("<title>Hello Ada</title>");
});

test("the HTML part has the mail's language", () => {
  expect(renderMail(source, values, "de").html).toContain('<html lang="de">');
});

test("the HTML part loads nothing", () => {
  const { html } = renderMail(source, values, "en");
  expect([...html.matchAll(/(?:https?:)?\/\/[\w.]+/g)].map(([found]) => found)).toEqual(["https://berth.example"]);
  expect(html).not.toMatch(/<(?:img|link|script|iframe)|url\(|@import/);
});

describe("a value", () => {
  const evil = `<script>alert("1")</script>\r\nBcc: eve@example.com {{email}} [x](https://evil.example) $& $1`;

  test("is plain text on one line", () => {
    const { subject, text, html } = renderMail(source, { ...values, name: evil }, "en");
    const line = evil.replace("\r\n", " ");
    expect(subject).toBe(`Hello ${line}`);
    expect(text).toStartWith(`Dear ${line}, how are you?`);
    expect(html).not.toContain("<script");
    expect(html).toContain("&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; Bcc: eve@example.com {{email}}");
    expect(html).not.toContain('href="https://evil.example');
  });

  test.each(["javascript:alert(1)", "//evil.example", "https://a b", "", 'https://x" onclick="y z'])(
    "that is not a web URL (%j) can't be the link of a button",
    (link) => {
      expect(() => renderMail(source, { ...values, link }, "en")).toThrow(TemplateError);
    },
  );
});

describe("a mistake is an error, not a mail", () => {
  test.each(["missing", "constructor", "__proto__", "", "name "])("the placeholder {{%s}}", (name) => {
    expect(() => renderMail(source.replace("Bye.", `Bye {{${name}}}.`), values, "en")).toThrow(`{{${name}}}`);
  });

  test.each([
    ["no subject", source.replace("Subject: ", "")],
    ["no footer", source.replace("--\n", "")],
    ["nothing", ""],
  ])("%s", (_, broken) => {
    expect(() => renderMail(broken, values, "en")).toThrow(TemplateError);
  });
});
