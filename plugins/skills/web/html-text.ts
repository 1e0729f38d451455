// HTML as the text that a person would read, with headings, lists and links kept, by the runtime's own streaming parser.

import { decodeEntities } from "./html-entities.ts";

export interface ExtractedText {
  title: string;
  text: string;
}

/** Always closed, and never read. */
const CODE = new Set(["script", "style", "noscript", "template", "title"]);
/** Around what is read, and not part of it. */
const SKIPPED = new Set(["svg", "math", "iframe", "object", "select", "nav"]);
const PARAGRAPHS = "p div section article main header footer aside table ul ol dl blockquote figure form hr pre";
const LINES = "br tr dt dd figcaption summary legend option";

/** What stands before and after an element's text. */
type Marks = readonly [before: string, after: string];
const NO_MARKS: Marks = ["", ""];
const MARKS = new Map<string, Marks>([
  ...PARAGRAPHS.split(" ").map((tag) => [tag, ["\n\n", "\n\n"]] as const),
  ...LINES.split(" ").map((tag) => [tag, ["\n", ""]] as const),
  ...[1, 2, 3, 4, 5, 6].map((level) => [`h${level}`, [`\n\n${"#".repeat(level)} `, "\n\n"]] as const),
  ["li", ["\n- ", ""]],
  ["td", [" ", " |"]],
  ["th", [" ", " |"]],
]);

/** Characters of text that are kept of a page. */
const MAX_TEXT = 200_000;
/** Bytes parsed at a time; others get their turn in between. */
const CHUNK = 16_384;

/**
 * The text of a page, whatever it holds.
 *
 * @param base what relative links start from
 */
export async function extractText(html: string, base: string): Promise<ExtractedText> {
  const read = await parse(html, base, true);
  // Something left out never ended, so that all after it was lost: read it too.
  return read.open ? parse(html, base, false) : read;
}

async function parse(html: string, base: string, skipAsides: boolean): Promise<ExtractedText & { open: boolean }> {
  const title: string[] = [];
  const out: string[] = [];
  let hasTitle = false;
  let skipDepth = 0;
  let preformatted = 0;
  let remaining = MAX_TEXT;
  const append = (text: string) => {
    if (skipDepth > 0 || remaining <= 0) return;
    out.push(text);
    remaining -= text.length;
  };
  const isSkipped = (element: HTMLRewriterTypes.Element) =>
    CODE.has(element.tagName) || (skipAsides && (SKIPPED.has(element.tagName) || isHidden(element)));

  const rewriter = new HTMLRewriter()
    .on("title", {
      // The first one only: drawings have titles too.
      text({ text, lastInTextNode }) {
        if (!hasTitle) title.push(text);
        hasTitle ||= lastInTextNode;
      },
    })
    .on("*", {
      // One handler for all: an element has room for one listener to its end.
      element(element) {
        const [before, after] = marksOf(element, base);
        append(before);
        if (element.selfClosing || !element.canHaveContent) return;
        const skipped = isSkipped(element) ? 1 : 0;
        const pre = element.tagName === "pre" ? 1 : 0;
        if (!skipped && !pre && after === "") return;
        skipDepth += skipped;
        preformatted += pre;
        element.onEndTag(() => {
          skipDepth -= skipped;
          preformatted -= pre;
          append(after);
        });
      },
    })
    .onDocument({ text: ({ text }) => append(preformatted > 0 ? protectWhitespace(text) : text) });
  await rewriter.transform(new Response(toChunkStream(html))).arrayBuffer();
  return {
    title: collapseWhitespace(decodeEntities(title.join(""))),
    text: collapseWhitespace(decodeEntities(out.join(""))),
    open: skipDepth > 0,
  };
}

/** A megabyte of hostile markup at once would hold up everybody for half a second. */
function toChunkStream(html: string): ReadableStream<Uint8Array> {
  const bytes = new TextEncoder().encode(html);
  let at = 0;
  return new ReadableStream(
    {
      async pull(controller) {
        await new Promise<void>((resolve) => setImmediate(resolve));
        if (at >= bytes.length) return controller.close();
        controller.enqueue(bytes.subarray(at, at + CHUNK));
        at += CHUNK;
      },
    },
    { highWaterMark: 0 },
  );
}

const isHidden = (element: HTMLRewriterTypes.Element) =>
  element.hasAttribute("hidden") || element.getAttribute("aria-hidden") === "true";

function marksOf(element: HTMLRewriterTypes.Element, base: string): Marks {
  if (element.tagName === "img") return [` ${element.getAttribute("alt") ?? ""} `, ""];
  if (element.tagName !== "a") return MARKS.get(element.tagName) ?? NO_MARKS;
  const address = linkOf(element.getAttribute("href") ?? "#", base);
  return address === undefined ? NO_MARKS : ["[", `](${address.replaceAll("&", "&amp;")})`];
}

/** Links that lead somewhere else over the web. */
function linkOf(href: string, base: string): string | undefined {
  if (href.startsWith("#")) return undefined;
  const url = URL.parse(decodeEntities(href.trim()), base);
  return url && /^https?:$/.test(url.protocol) ? url.href : undefined;
}

/** Private characters stand for the white space of `pre` while the rest is folded. */
const PRIVATE: Readonly<Record<string, string>> = { "\n": "\ue000", "\t": "\ue001", " ": "\ue002" };
const protectWhitespace = (text: string) => text.replace(/[\n\t ]/g, (space) => PRIVATE[space] ?? space);

/** White space as a browser shows it: runs become one space, paragraphs are one empty line apart. */
const collapseWhitespace = (text: string) =>
  text
    .split("\n")
    .map((line) => line.replace(/\s+/g, " ").trim())
    .join("\n")
    .replace(/\n{3,}/g, "\n\n")
    .replaceAll("\ue000", "\n")
    .replaceAll("\ue001", "\t")
    .replaceAll("\ue002", " ")
    .trim();
