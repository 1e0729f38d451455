// Tests the reading of documents on their threads: each format, and documents that were made to do harm.
import { afterAll, describe, expect, test } from "bun:test";
import { docxOf, pdfBomb, pdfOf } from "../../tests/support/documents.ts";
import { zipEntries, zipOf } from "../../tests/support/zips.ts";
import type { DocumentSource } from "./document.ts";
import { createDocumentReader, type ReaderLimits } from "./document-reader.ts";

const reader = createDocumentReader();
afterAll(() => reader.stop());

const bytesOf = (text: string) => new TextEncoder().encode(text);
const read = async (content: string | Uint8Array<ArrayBuffer>, source: Omit<DocumentSource, "bytes"> = {}) =>
  reader.read({ bytes: typeof content === "string" ? bytesOf(content) : content, ...source });
const textOf = async (...args: Parameters<typeof read>) =>
  (await read(...args)).pages.map(({ text }) => text).join("\n---\n");
/** The reason for which a document has no text. */
const refusal = async (...args: Parameters<typeof read>) => {
  const error = await read(...args).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toMatchObject({ status: 422, code: "UNREADABLE_DOCUMENT" });
  return (error as { extras: { reason: string } }).extras.reason;
};

const sentence = "Green tea is made from leaves that were not oxidized, and it keeps its colour.";
const ARTICLE = `<!doctype html><html><head><title>Tea - The Leaf</title>
<meta property="article:published_time" content="2024-05-06"></head>
<body><nav><a href="/menu">Menu</a></nav><article><h1>About tea</h1>
${`<p>${sentence} See <a href="/gyokuro">Gyokuro</a>.</p>`.repeat(8)}
<table><tr><th>Name</th><th>Price</th></tr><tr><td>Sencha</td><td>5 | 6 €</td></tr></table>
<pre>let tea = 1;</pre><p>${sentence} <img src="/cup.png" alt="a cup"> <a href="javascript:alert(1)">bad</a></p></article>
<aside>Buy now</aside><script>never()</script></body></html>`;

describe("a web page", () => {
  test("is its article as Markdown, with title and date, and without what surrounds it", async () => {
    const page = await read(ARTICLE, { type: "text/html; charset=utf-8", url: "https://tea.test/about" });
    expect(page).toMatchObject({ kind: "html", title: "Tea - The Leaf", published: "2024-05-06", isCut: false });
    const text = page.pages[0]?.text ?? "";
    expect(text).toContain("## About tea");
    expect(text).toContain("[Gyokuro](https://tea.test/gyokuro)");
    expect(text).toContain("| Sencha | 5 \\| 6 € |");
    expect(text).toContain("```\nlet tea = 1;\n```");
    expect(text).toContain("a cup bad");
    expect(text).not.toMatch(/Menu|never|javascript|cup\.png/);
  });

  test("is all its visible text where it has no article", async () => {
    const page = await read("<title>List</title><ul><li>Sencha<li><a href=/g>Gyokuro</a></ul>", {
      type: "text/html",
      url: "https://tea.test",
    });
    expect(page).toMatchObject({ title: "List", published: undefined });
    expect(page.pages).toEqual([{ page: undefined, text: "- Sencha\n- [Gyokuro](https://tea.test/g)" }]);
  });

  test("is recognized without a type, and read in its own encoding", async () => {
    const latin = new Uint8Array(Buffer.from("<!doctype html><meta charset=iso-8859-1><p>caf\xe9", "latin1"));
    expect(await textOf(latin, { name: "page" })).toBe("café");
  });

  test.each([
    ["twenty thousand elements deep", `${"<div>".repeat(20_000)}the text`],
    ["of paragraphs that never end", `${"<p>x ".repeat(100_000)}the text`],
    ["of attributes", `<p ${"a=b ".repeat(200_000)}>the text`],
    ["of a million links", `${"<a href=/x>y</a>".repeat(20_000)}the text`],
    ["with lists in lists", `${"<ul><li>".repeat(90)}the text`],
    ["with tables in tables", `${"<table><tr><td>x".repeat(90)}the text`],
  ])("%s is read", async (_name, html) => {
    expect((await read(html, { type: "text/html" })).pages[0]?.text.length).toBeGreaterThan(5);
  });

  test("is read without its article if that takes too long", async () => {
    const limits: ReaderLimits = {
      waiting: { milliseconds: 15_000, memory: 1e9 },
      background: { milliseconds: 15_000, memory: 1e9 },
      articleMs: 0,
    };
    const hurried = createDocumentReader(limits);
    const { pages } = await hurried.read({ bytes: bytesOf(ARTICLE), type: "text/html", url: "https://tea.test" });
    expect(pages[0]?.text).toContain("Buy now");
    hurried.stop();
  });
});

describe("a PDF", () => {
  test("is read by page, with title and date", async () => {
    const pdf = await read(pdfOf(["First page", "", "Third page, of ever-\ngreen (tea)\nleaves"], "Tea & more"));
    expect(pdf).toMatchObject({ kind: "pdf", title: "Tea & more", published: "2024-01-31" });
    expect(pdf.pages).toEqual([
      { page: 1, text: "First page" },
      { page: 3, text: "Third page, of evergreen (tea)\nleaves" },
    ]);
  });

  test("without text, as of a scan, says so", async () => {
    expect(await refusal(pdfOf(["", ""]))).toBe("EMPTY");
  });

  test.each([
    ["broken", bytesOf("%PDF-1.7\nand nothing more")],
    ["cut off", pdfOf(["one"]).slice(0, 40)],
    [
      "random",
      new Uint8Array([...bytesOf("%PDF-1.4\n"), ...Array.from({ length: 4096 }, (_, at) => (at * 7919) % 251)]),
    ],
  ])("that is %s is refused", async (_name, bytes) => {
    expect(await refusal(bytes, { name: "x.pdf" })).toBe("BROKEN");
  });

  test("whose content unpacks to gigabytes is refused, or read as empty", async () => {
    expect(["EMPTY", "TOO_COMPLEX"]).toContain(await refusal(pdfBomb(1_000_000_000)));
  });
});

describe("a DOCX", () => {
  test("is Markdown with its headings", async () => {
    const docx = await read(docxOf(["# Tea", "Green & black", "# Coffee", "Never mind"]), { name: "tea.docx" });
    expect(docx).toMatchObject({ kind: "docx", title: "Tea" });
    expect(docx.pages[0]?.text).toBe("# Tea\n\nGreen & black\n\n# Coffee\n\nNever mind");
  });

  test("that unpacks to gigabytes is refused before it is unpacked", async () => {
    const bomb = zipEntries([{ path: "word/document.xml", content: new Uint8Array(100_000_000), declaredSize: 10 }]);
    expect(await refusal(bomb, { name: "x.docx" })).toBe("TOO_LARGE");
  });

  test("with entities that multiply is refused or read without them", async () => {
    const laughs = `<!DOCTYPE lolz [<!ENTITY a "ha">${Array.from({ length: 9 }, (_, level) => `<!ENTITY ${"bcdefghij"[level]} "${`&${"abcdefghi"[level]};`.repeat(10)}">`).join("")}]>`;
    const zip = zipOf({
      "word/document.xml": `<?xml version="1.0"?>${laughs}<w:document><w:body>&j;</w:body></w:document>`,
    });
    expect(["BROKEN", "EMPTY"]).toContain(await refusal(zip, { name: "x.docx" }));
  });

  test("nested too deep ends with an error", async () => {
    const deep = docxOf([], `${"<w:sdt><w:sdtContent>".repeat(50_000)}${"</w:sdtContent></w:sdt>".repeat(50_000)}`);
    expect(["BROKEN", "EMPTY", "TOO_COMPLEX"]).toContain(await refusal(deep, { name: "x.docx" }));
  });

  test("that is another zip is refused", async () => {
    expect(await refusal(zipOf({ "a.txt": "tea" }), { name: "x.zip" })).toBe("UNSUPPORTED");
    expect(await refusal(zipOf({ "a.txt": "tea" }), { name: "x.docx" })).toBe("BROKEN");
  });
});

describe("a table, Markdown, and text", () => {
  test("each row of a table names its columns", async () => {
    const csv = 'Name;Price;Note\nSencha;5;"green; mild"\nAssam;;black\n';
    expect(await textOf(csv, { type: "text/csv" })).toBe(
      "Name: Sencha; Price: 5; Note: green; mild\nName: Assam; Note: black",
    );
    expect(await textOf("a\tb\n1\t2\n", { name: "x.tsv" })).toBe("a: 1; b: 2");
  });

  test("Markdown stays as it is", async () => {
    expect(await read("# Tea\n\n- *green*", { name: "tea.md", type: "application/octet-stream" })).toMatchObject({
      kind: "markdown",
      title: "Tea",
      pages: [{ text: "# Tea\n\n- *green*" }],
    });
  });

  test("text is read in its encoding", async () => {
    expect(await textOf(new Uint8Array(Buffer.from("caf\xe9", "latin1")), { name: "a.txt" })).toBe("café");
    expect(await textOf(new Uint8Array(Buffer.from("\ufeffTee trinken", "utf16le")), { name: "a.txt" })).toBe(
      "Tee trinken",
    );
    expect(await textOf("Tea\0 time", { type: "text/plain" }).catch(() => "refused")).toBe("refused");
  });

  test("what has no text is refused", async () => {
    expect(await refusal("", { name: "a.txt" })).toBe("EMPTY");
    expect(await refusal("  \n ", { name: "a.txt" })).toBe("EMPTY");
    expect(await refusal(new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0]), { name: "a.png", type: "image/png" })).toBe(
      "UNSUPPORTED",
    );
    expect(await refusal(new Uint8Array(33 * 1024 * 1024).fill(97), { name: "a.txt" })).toBe("TOO_LARGE");
  });

  test("a text of 30 MB is cut, and says so", async () => {
    const { isCut, pages } = await read("many words ".repeat(2_700_000), { name: "a.txt" });
    expect(isCut).toBe(true);
    expect(pages[0]?.text.length).toBeGreaterThan(7_900_000);
  });
});

describe("the thread", () => {
  const HOUR = 3_600_000;
  const slow = () => `${"<p>tea ".repeat(2)}${`<div>${"word, ".repeat(40)}</div>`.repeat(20_000)}`;
  const limited = (limits: Partial<ReaderLimits["waiting"]>) => {
    const waiting = { milliseconds: HOUR, memory: 1e12, ...limits };
    return createDocumentReader({ waiting, background: waiting, articleMs: HOUR });
  };

  test("ends with a document that takes too long, and the next one is read", async () => {
    const hurried = limited({ milliseconds: 1 });
    const result = hurried.read({ bytes: pdfOf(Array.from({ length: 300 }, () => sentence)) });
    expect(result).rejects.toMatchObject({ extras: { reason: "TOO_COMPLEX" } });
    await result.catch(() => undefined);
    hurried.stop();
    expect(await textOf("still here", { name: "a.txt" })).toBe("still here");
  });

  test("ends with a document that takes too much memory", async () => {
    // Below zero, since the process may have room left from earlier documents.
    const frugal = limited({ memory: -1 });
    const result = frugal.read({ bytes: pdfBomb(500_000_000) });
    expect(result).rejects.toMatchObject({ extras: { reason: "TOO_COMPLEX" } });
    await result.catch(() => undefined);
    frugal.stop();
  });

  test("ends with its caller", async () => {
    const controller = new AbortController();
    const result = reader.read({ bytes: bytesOf(slow()), type: "text/html" }, controller.signal);
    controller.abort(new Error("gone"));
    expect(result).rejects.toThrow("gone");
    await result.catch(() => undefined);
    expect(await textOf("after it", { name: "a.txt" })).toBe("after it");
  });

  test("leaves the event loop free while it reads", async () => {
    let longest = 0;
    let last = performance.now();
    const beside = setInterval(() => {
      longest = Math.max(longest, performance.now() - last);
      last = performance.now();
    }, 1);
    const before = process.cpuUsage();
    await read(slow(), { type: "text/html" });
    clearInterval(beside);
    // The thread works for longer than this process's own loop is ever held.
    expect(longest).toBeLessThan(process.cpuUsage(before).user / 1000);
  });

  test("reads several at once, each with its own text", async () => {
    const texts = Array.from({ length: 20 }, (_, at) => `text ${at}`);
    expect(await Promise.all(texts.map((text) => textOf(text, { name: "a.txt" })))).toEqual(texts);
  });
});

describe("chunks", () => {
  const chunks = async (content: string | Uint8Array<ArrayBuffer>, name: string) =>
    (await reader.readChunks({ bytes: typeof content === "string" ? bytesOf(content) : content, name })).chunks;

  test("have a page and the headings above them", async () => {
    expect(
      await chunks("# Tea\n\nGreen.\n\n## Price\nFive euros.\n\n## Place\n\nJapan.\n# Coffee\nBlack.", "a.md"),
    ).toEqual([
      { page: undefined, heading: "Tea", text: "Green." },
      { page: undefined, heading: "Tea › Price", text: "Five euros." },
      { page: undefined, heading: "Tea › Place", text: "Japan." },
      { page: undefined, heading: "Coffee", text: "Black." },
    ]);
    expect((await chunks(pdfOf(["one", "two"]), "a.pdf")).map(({ page, text }) => [page, text])).toEqual([
      [1, "one"],
      [2, "two"],
    ]);
  });

  test("together have every word once, in order, and none is long", async () => {
    const words = Array.from({ length: 20_000 }, (_, at) =>
      at % 40 === 39 ? `w${at}.\n\n` : at % 9 === 8 ? `w${at}.` : `w${at}`,
    );
    const found = await chunks(words.join(" "), "a.txt");
    expect(found.flatMap(({ text }) => text.split(/\s+/))).toEqual(words.join(" ").split(/\s+/).filter(Boolean));
    expect(Math.max(...found.map(({ text }) => text.length))).toBeLessThanOrEqual(1_400);
  });

  test("of a text without spaces keep its characters whole", async () => {
    const text = "日本語🙂é".repeat(2_000);
    const found = await chunks(text, "a.txt");
    expect(found.map((chunk) => chunk.text).join("")).toBe(text);
    expect(found.every((chunk) => chunk.text.isWellFormed())).toBe(true);
  });

  test("a line with # is no heading in plain text", async () => {
    expect(await chunks("# comment\nvalue = 1", "a.txt")).toEqual([
      { page: undefined, heading: "", text: "# comment\nvalue = 1" },
    ]);
  });
});
