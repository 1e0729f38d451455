// HTML as the text that a person would read, with headings, lists and links kept, by the runtime's own streaming parser.

import { decodeEntities } from "./entities.ts";

export interface ReadableText {
  title: string;
  text: string;
}

/** Always closed, and never read. */
const CODE = "script, style, noscript, template";
/** Around what is read, and not part of it. */
const ASIDE = "svg, math, iframe, object, select, nav, [hidden], [aria-hidden=true]";
const BLOCKS = "p, div, section, article, main, header, footer, aside, table, ul, ol, dl, blockquote, figure, form, hr";
const LINES = "br, tr, dt, dd, figcaption, summary, legend, option";
const HEADINGS = [1, 2, 3, 4, 5, 6] as const;

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
  const read = await parse(html, base, `${CODE}, ${ASIDE}`);
  // Something hidden never ended, so that all after it was lost: read it too.
  return read.open ? parse(html, base, CODE) : read;
}

async function parse(html: string, base: string, unread: string): Promise<ReadableText & { open: boolean }> {
  const title: string[] = [];
  const out: string[] = [];
  let hidden = 0;
  let preformatted = 0;
  let room = MAX_TEXT;
  const say = (text: string) => {
    if (hidden > 0 || room <= 0) return;
    out.push(text);
    room -= text.length;
  };
  const around = (before: string, after: string) => ({
    element(element: HTMLRewriterTypes.Element) {
      say(before);
      atEnd(element, () => say(after));
    },
  });

  const rewriter = new HTMLRewriter()
    .on("title", { text: ({ text }) => void title.push(text) })
    .on(`title, ${unread}`, {
      element(element) {
        if (atEnd(element, () => hidden--)) hidden++;
      },
    })
    .on(BLOCKS, around("\n\n", "\n\n"))
    .on(LINES, around("\n", ""))
    .on("li", around("\n- ", ""))
    .on("td, th", around(" ", " |"))
    .on("pre", {
      element(element) {
        say("\n\n");
        const closed = () => {
          preformatted--;
          say("\n\n");
        };
        if (atEnd(element, closed)) preformatted++;
      },
    })
    .on("img[alt]", { element: (element) => say(` ${element.getAttribute("alt")} `) })
    .on("a[href]", {
      element(element) {
        const address = linkOf(element.getAttribute("href") ?? "", base);
        if (address === undefined) return;
        say("[");
        atEnd(element, () => say(`](${address.replaceAll("&", "&amp;")})`));
      },
    })
    .onDocument({ text: ({ text }) => say(preformatted > 0 ? kept(text) : text) });
  for (const level of HEADINGS) rewriter.on(`h${level}`, around(`\n\n${"#".repeat(level)} `, "\n\n"));
  await rewriter.transform(new Response(inChunks(html))).arrayBuffer();
  return {
    title: folded(decodeEntities(title.join(""))),
    text: folded(decodeEntities(out.join(""))),
    open: hidden > 0,
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

/** False for elements that have no end. */
function atEnd(element: HTMLRewriterTypes.Element, then: () => void): boolean {
  if (element.selfClosing || !element.canHaveContent) return false;
  element.onEndTag(then);
  return true;
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
