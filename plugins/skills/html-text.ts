// HTML as the text that a person would read, with headings, lists and links kept, by the runtime's own streaming parser.

import { decodeEntities } from "./entities.ts";

export interface ReadableText {
  title: string;
  text: string;
}

/** Always closed, and never read. */
const CODE = new Set(["script", "style", "noscript", "template", "title"]);
/** Around what is read, and not part of it. */
const ASIDE = new Set(["svg", "math", "iframe", "object", "select", "nav"]);
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
export async function readable(html: string, base: string): Promise<ReadableText> {
  const read = await parse(html, base, true);
  // Something left out never ended, so that all after it was lost: read it too.
  return read.open ? parse(html, base, false) : read;
}

async function parse(html: string, base: string, skipping: boolean): Promise<ReadableText & { open: boolean }> {
  const title: string[] = [];
  const out: string[] = [];
  let titled = false;
  let unread = 0;
  let preformatted = 0;
  let room = MAX_TEXT;
  const say = (text: string) => {
    if (unread > 0 || room <= 0) return;
    out.push(text);
    room -= text.length;
  };
  const isUnread = (element: HTMLRewriterTypes.Element) =>
    CODE.has(element.tagName) || (skipping && (ASIDE.has(element.tagName) || isHidden(element)));

  const rewriter = new HTMLRewriter()
    .on("title", {
      // The first one only: drawings have titles too.
      text({ text, lastInTextNode }) {
        if (!titled) title.push(text);
        titled ||= lastInTextNode;
      },
    })
    .on("*", {
      // One handler for all: an element has room for one listener to its end.
      element(element) {
        const [before, after] = marksOf(element, base);
        say(before);
        if (element.selfClosing || !element.canHaveContent) return;
        const skipped = isUnread(element) ? 1 : 0;
        const pre = element.tagName === "pre" ? 1 : 0;
        if (!skipped && !pre && after === "") return;
        unread += skipped;
        preformatted += pre;
        element.onEndTag(() => {
          unread -= skipped;
          preformatted -= pre;
          say(after);
        });
      },
    })
    .onDocument({ text: ({ text }) => say(preformatted > 0 ? kept(text) : text) });
  await rewriter.transform(new Response(inChunks(html))).arrayBuffer();
  return {
    title: folded(decodeEntities(title.join(""))),
    text: folded(decodeEntities(out.join(""))),
    open: unread > 0,
  };
}

/** A megabyte of hostile markup at once would hold up everybody for half a second. */
function inChunks(html: string): ReadableStream<Uint8Array> {
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
const kept = (text: string) => text.replace(/[\n\t ]/g, (space) => PRIVATE[space] ?? space);

/** White space as a browser shows it: runs become one space, paragraphs are one empty line apart. */
const folded = (text: string) =>
  text
    .split("\n")
    .map((line) => line.replace(/\s+/g, " ").trim())
    .join("\n")
    .replace(/\n{3,}/g, "\n\n")
    .replaceAll("\ue000", "\n")
    .replaceAll("\ue001", "\t")
    .replaceAll("\ue002", " ")
    .trim();
