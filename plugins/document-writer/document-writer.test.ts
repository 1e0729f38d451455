// Tests `write_document`: what each format holds, which texts are refused, and how it is sent in a turn.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { unzipSync } from "fflate";
import { rejectionOf } from "../../tests/support/rejection.ts";
import { callTool, toolContext, toolNamed } from "../../tests/support/skills.ts";
import { createDocumentReader } from "../documents/document-reader.ts";
import { openRuntimeFixture, type RuntimeFixture } from "../runtime/support.test.ts";
import { skills } from "../skills/index.ts";
import { uploads } from "../uploads/index.ts";
import { FORMATS, type Format } from "./formats.ts";
import { documentWriter } from "./index.ts";
import { writeDocument } from "./writing-thread.ts";

let fixture: RuntimeFixture;
const reader = createDocumentReader();
beforeAll(async () => {
  fixture = await openRuntimeFixture({ SHUTDOWN_GRACE: "1ms" });
  fixture.host.use(documentWriter);
});
beforeEach(() => {
  fixture.sent.length = 0;
  fixture.upstream.reset();
});
afterAll(async () => {
  reader.stop();
  await fixture?.[Symbol.asyncDispose]();
});

const signal = new AbortController().signal;
const write = (format: Format, content: string) => writeDocument({ format, content, title: "offer" }, signal);
const textOf = async (format: Format, content: string) =>
  new TextDecoder().decode((await write(format, content)).bytes);
/** What Berth's own reader finds in the document. */
async function readBack(format: Format, content: string) {
  const { bytes } = await write(format, content);
  const { pages, title } = await reader.read({ bytes, name: `x.${format}`, type: FORMATS[format] });
  return { title, text: pages.map((page) => page.text).join("\n") };
}

const OFFER = `# Offer for Łódź

Dear **Ada**, *thank you* for \`asking\`: [our page](https://example.com/a?b=1&c=2).

| Berth | Price |
|-------|------:|
| small | 12.50 |
| large, covered | 25.00 |

1. First
2. Second
   - nested

> A quote.

\`\`\`
if (x)  y();
\`\`\`
`;
const WORDS = [
  "Offer for Łódź",
  "Ada",
  "thank you",
  "asking",
  "our page",
  "small",
  "12.50",
  "First",
  "nested",
  "A quote.",
];

describe("a document", () => {
  test.each(["pdf", "docx"] as const)("as %s has all of the text", async (format) => {
    const { text } = await readBack(format, OFFER);
    for (const words of WORDS) expect(text).toContain(words);
    expect(text).toMatch(/if \(x\)\s+y\(\);/);
  });

  test("as Word keeps headings, links, lists and tables", async () => {
    const { text } = await readBack("docx", OFFER);
    expect(text).toContain("# Offer for Łódź");
    expect(text).toMatch(/\| \**small\** \| \**12\.50\** \|/);
    expect(text).toMatch(/^\s*2\.\s+Second$/m);
    const parts = unzipSync((await write("docx", OFFER)).bytes);
    expect(new TextDecoder().decode(parts["word/_rels/document.xml.rels"])).toContain(
      'Target="https://example.com/a?b=1&amp;c=2"',
    );
  });

  test("as PDF has its title and links, and counts its pages", async () => {
    const { bytes } = await write("pdf", `${OFFER}\n${"A paragraph.\n\n".repeat(120)}`);
    expect(Buffer.from(bytes).toString("latin1")).toContain("/URI (https://example.com/a?b=1&c=2)");
    const { title, pages } = await reader.read({ bytes, name: "x.pdf" });
    expect(title).toBe("Offer for Łódź");
    expect(pages.length).toBeGreaterThan(2);
    expect(pages[1]?.text).toContain(`2 / ${pages.length}`);
  });

  test("as HTML runs and loads nothing that is in the text", async () => {
    const html = await textOf(
      "html",
      "# A <b>\n\n<script>alert(1)</script>\n\n<img src=x onerror=alert(1)> [a](javascript:alert(1)) ![p](https://example.com/p.png) <i>",
    );
    expect(html).not.toMatch(/<script|<img|<i>|<b>|javascript:[^<]*"|onerror=alert\(1\)>/);
    expect(html).toContain("&lt;script&gt;");
    expect(html).toContain('<a href="https://example.com/p.png" rel="noreferrer">p</a>');
    expect(html).toContain("default-src 'none'");
  });

  test("as CSV is its table, or the text if it has none", async () => {
    expect(await textOf("csv", '| a | b |\n|---|---|\n| 1, "2" | **x** |\n')).toBe('a,b\r\n"1, ""2""",x\r\n');
    expect(await textOf("csv", "a;b\n1;2\n")).toBe("a;b\r\n1;2\r\n");
    const { bytes } = await write("csv", "| Ort |\n|---|\n| Łódź |");
    expect([...bytes.subarray(0, 3)]).toEqual([0xef, 0xbb, 0xbf]);
    const error = await rejectionOf(write("csv", "|a|\n|-|\n|1|\n\nand\n\n|b|\n|-|\n|2|\n"));
    expect(error).toMatchObject({ code: "DOCUMENT_NOT_WRITTEN", message: expect.stringContaining("one table") });
  });

  test("as Markdown is the text itself", async () => {
    expect(await textOf("md", OFFER)).toBe(OFFER);
  });
});

describe("letters", () => {
  test.each([["Ελληνικά"], ["Кириллица"], ["Tiếng Việt"], ["ქართული"], ["≤ ½ → € ✓"]])(
    "%s are in a PDF",
    async (text) => {
      expect((await readBack("pdf", `**${text}** and *${text}* and \`${text}\``)).text).toContain(text);
    },
  );

  test.each([
    ["東京のお茶", "東"],
    ["नमस्ते", "न"],
    ["สวัสดี", "ส"],
    ["שלום", "ש"],
    ["مرحبا", "م"],
  ])("%s are refused in a PDF, and work in Word", async (text, letter) => {
    const error = await rejectionOf(write("pdf", `Hello ${text}`));
    expect(error).toMatchObject({ status: 422, code: "DOCUMENT_NOT_WRITTEN" });
    expect(String(error)).toContain(letter);
    expect(String(error)).toContain(".docx");
    expect((await readBack("docx", `Hello ${text}`)).text).toContain(text);
  });

  test("that are emoji are left out of a PDF, which says so", async () => {
    const { leftOut, bytes } = await write("pdf", "# Go 🚀\n\nShip it 🚀 👍🏽.");
    expect(leftOut).toContain("🚀");
    const { pages } = await reader.read({ bytes, name: "x.pdf" });
    expect(pages[0]?.text).toContain("Ship it");
  });
});

describe("a text that was made to do harm", () => {
  test.each([
    ["nested without end", ">".repeat(100_000)],
    ["of lists in lists", Array.from({ length: 40 }, (_, n) => `${"  ".repeat(n)}- x`).join("\n")],
    ["with a table that no page holds", `|${"a|".repeat(60)}\n|${"-|".repeat(60)}\n`],
  ])("%s is refused", async (_, content) => {
    expect(await rejectionOf(write("pdf", content))).toMatchObject({ code: "DOCUMENT_NOT_WRITTEN" });
  });

  test("that takes too long is given up, and the next one is written", async () => {
    const request = { format: "pdf" as const, content: "*_`[".repeat(50_000), title: "x" };
    const error = await rejectionOf(writeDocument(request, signal, 300));
    expect(error).toMatchObject({ code: "DOCUMENT_NOT_WRITTEN", message: expect.stringContaining("too long") });
    expect((await write("md", "next")).bytes.length).toBe(5);
  });

  test("ends with its turn", async () => {
    const turn = new AbortController();
    const writing = writeDocument({ format: "pdf", content: "x".repeat(200_000), title: "x" }, turn.signal);
    turn.abort(new Error("The turn is over."));
    expect(String(await rejectionOf(writing))).toContain("The turn is over.");
  });
});

describe("the tool", () => {
  const toolFor = async (config: object) => {
    const agent = await fixture.agent(config);
    const tools = await fixture.host.use(skills).toolsFor(agent.id, true, true);
    return { agent, tool: tools.find(({ name }) => name === "write_document") };
  };

  test("is offered where it is switched on, and sends the document with the reply", async () => {
    expect((await toolFor({})).tool).toBeUndefined();
    const { agent } = await toolFor({ skills: { documents: true } });
    const results: string[] = [];
    fixture.upstream.script(({ toolResults }) => {
      results.push(...toolResults.map(({ content }) => content));
      const call = { name: "write_document", arguments: { name: "Offer.PDF", content: "# Offer 🚀" } };
      return results.length > 0 ? "Here it is." : { toolCalls: [call] };
    });
    const { files = [] } = await fixture.chat(agent, "Write an offer.");
    expect(files).toMatchObject([{ name: "Offer.PDF", type: "application/pdf", kind: "document" }]);
    expect(results[0]).toContain("Offer.PDF is sent with your reply.");
    expect(results[0]).toContain("🚀");
    const bytes = await fixture.host.use(uploads).read(agent.id, files[0]?.id ?? "");
    expect(Buffer.from(bytes ?? []).toString("latin1", 0, 5)).toBe("%PDF-");
  });

  test.each([
    ["another ending", { name: "offer.exe", content: "x" }, ".pdf, .docx"],
    ["no text", { name: "offer.pdf", content: " \n" }, "no text"],
  ])("declines %s", async (_, input, words) => {
    const { agent } = await toolFor({ skills: { documents: true } });
    const tool = toolNamed(await fixture.host.use(skills).toolsFor(agent.id, true, true), "write_document");
    const attach = () => Promise.reject(new Error("Nothing should be sent."));
    const { ok, text } = await callTool(tool, input, toolContext(agent.id, { attach }));
    expect({ ok, text }).toMatchObject({ ok: false, text: expect.stringContaining(words) });
  });

  test("says so where no file can be sent", async () => {
    const { agent } = await toolFor({ skills: { documents: true } });
    const tool = toolNamed(await fixture.host.use(skills).toolsFor(agent.id, true, true), "write_document");
    const { ok, text } = await callTool(tool, { name: "a.pdf", content: "x" }, toolContext(agent.id));
    expect({ ok, text }).toMatchObject({ ok: false, text: expect.stringContaining("can't be sent") });
  });
});
