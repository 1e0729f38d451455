import { describe, expect, test } from "bun:test";
import { MAX_TEXT_LENGTH, toMessageParts } from "./mrkdwn.ts";
import { createShownCommands } from "./shown-commands.ts";

const only = (markdown: string) => {
  const [part, ...more] = toMessageParts(markdown);
  expect(more).toEqual([]);
  return part;
};

describe("Markdown becomes mrkdwn", () => {
  test.each([
    ["**bold** and *italic*, ~~gone~~ and `code`", "*bold* and _italic_, ~gone~ and `code`"],
    ["[Berth](https://a.example/x?a=1&b=2)", "<https://a.example/x?a=1&amp;b=2|Berth>"],
    ["[**loud**](https://a.example)", "<https://a.example|loud>"],
    ["wo**r**d", "word"],
    ["> quoted\n> twice", "> quoted\n> twice"],
    ["```js\na < b && c\n```", "```a &lt; b &amp;&amp; c```"],
  ])("%j", (markdown, mrkdwn) => {
    expect(only(markdown)).toBe(mrkdwn);
  });

  test.each([
    "<!channel> <!here> <@U012AB3CDE4> <#C012AB3CDE4> <!subteam^S0123456>",
    "<https://a.example|https://b.example>",
    "`<!channel>` and ```<!here>```",
    "**<!everyone>**",
    "[<!channel>](https://a.example/<!here>|x)",
  ])("what is written as a mark of Slack stays text: %s", (markdown) => {
    const text = only(markdown) ?? "";
    expect(text).not.toMatch(/<[!@#]/);
    expect(text.replace(/<https:\/\/[^<>|]+\|[^<>]*>/g, "")).not.toMatch(/[<>]/);
  });

  test("an address can't end its mark", () => {
    expect(only("[a](https://a.example/|b)")).toBe("<https://a.example/%7Cb|a>");
  });

  test("a long text is split into parts that fit with their escapes, without loss", () => {
    const lines = Array.from({ length: 400 }, (_, n) => `**line ${n}** & <more>`);
    const parts = toMessageParts(lines.join("\n\n"));
    expect(parts.length).toBeGreaterThan(2);
    for (const part of parts) expect(part.length).toBeLessThanOrEqual(MAX_TEXT_LENGTH);
    expect(parts.flatMap((part) => part.split(/\n+/))).toEqual(lines.map((_, n) => `*line ${n}* &amp; &lt;more&gt;`));
  });
});

describe("commands", () => {
  const show = createShownCommands({ help: "what I understand", status: "how I am" });
  test.each([
    ["/help shows the commands", "!help shows the commands"],
    ["• /status — how I am\n• /help", "• !status — how I am\n• !help"],
    ["/approve ABC or `/deny ABC`", "!approve ABC or `!deny ABC`"],
    [
      "https://a.example/help and a/help, /helpers, /status.json",
      "https://a.example/help and a/help, /helpers, /status.json",
    ],
    ["/invite @berth", "/invite @berth"],
  ])("%j are shown as people can write them", (text, shown) => {
    expect(show(text)).toBe(shown);
  });
});
