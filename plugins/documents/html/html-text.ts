// Extracts the visible text of HTML, with headings, lists and links, by Bun's streaming HTMLRewriter.
import { decodeEntities } from "./html-entities.ts";

export interface ExtractedText {
  title: string;
  text: string;
  /** True if the page has more text than is kept. */
  isCut: boolean;
}

/** Elements whose content is never shown as text; always skipped. */
const CODE = new Set(["script", "style", "noscript", "template", "title"]);
/** Elements beside the main text; skipped unless one of them never ends. */
const SKIPPED = new Set(["svg", "math", "iframe", "object", "select", "nav"]);
const PARAGRAPHS = "p div section article main header footer aside table ul ol dl blockquote figure form hr pre";
const LINES = "br tr dt dd figcaption summary legend option";

/** The text that is added before and after an element's text. */
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

/** Characters of a page's text that are kept. */
const MAX_TEXT = 200_000;
/** Bytes that are parsed before other work of the process gets its turn. */
const CHUNK = 16_384;

/**
 * The title and text of a page; never throws for its markup.
 *
 * @param base the page's address, which resolves relative links
 */
export async function extractText(html: string, base: string): Promise<ExtractedText> {
  const read = await parse(html, base, true);
  // An element that is left out never ended, so all text after it was lost: read such elements too.
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
      // Only the first title: SVG drawings have titles too.
      text({ text, lastInTextNode }) {
        if (!hasTitle) title.push(text);
        hasTitle ||= lastInTextNode;
      },
    })
    .on("*", {
      // One handler for all elements, since `onEndTag` takes one listener per element.
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
    isCut: remaining <= 0,
    open: skipDepth > 0,
  };
}

/** Yields to the event loop between chunks: a megabyte of hostile markup at once blocks it for half a second. */
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

/** The absolute address of an http(s) link to another page; undefined for any other link. */
function linkOf(href: string, base: string): string | undefined {
  if (href.startsWith("#")) return undefined;
  const url = URL.parse(decodeEntities(href.trim()), base);
  return url && /^https?:$/.test(url.protocol) ? url.href : undefined;
}

/** Private-use characters replace the white space of `pre` while other white space is collapsed. */
const PRIVATE: Readonly<Record<string, string>> = { "\n": "\ue000", "\t": "\ue001", " ": "\ue002" };
const protectWhitespace = (text: string) => text.replace(/[\n\t ]/g, (space) => PRIVATE[space] ?? space);

/** Collapses white space as a browser does: runs become one space, paragraphs are one empty line apart. */
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
