// Finds what a person has written in a mail: without quotes of earlier mails and without the signature.
import { Parser } from "htmlparser2";

/** Characters that are looked at. People write less by hand, and the patterns for quotes take time. */
const MAX_CHARACTERS = 100_000;
const MAX_HTML = 500_000;
/** Elements inside of each other, after which the rest is not read. */
const MAX_DEPTH = 1_000;
const SLICE = 8_192;
/** Texts within a link whose address is kept. */
const MAX_LINK_PIECES = 20;

/** Marks at the beginning of mails that were passed on, whose text is not the sender's. */
const FORWARDED =
  /^-{2,}\s*(?:forwarded message|weitergeleitete nachricht|original message|ursprüngliche nachricht)|^begin forwarded message:/im;

export interface WrittenText {
  text: string;
  /** A part of it is somebody else's. */
  quotesOthers: boolean;
}

/** From the parts of a mail, of which programs send the plain one, the HTML one, or both. */
export async function findWrittenText(plain: string, html: string, subject: string): Promise<WrittenText> {
  const source = (plain.trim() === "" && html !== "" ? htmlToText(html) : plain).replaceAll("\r\n", "\n");
  const whole = source.slice(0, MAX_CHARACTERS).trim();
  if (FORWARDED.test(whole) || /^(?:fwd?|wg):/i.test(subject.trim())) return { text: whole, quotesOthers: true };
  const { default: EmailReplyParser } = await import("email-reply-parser");
  const written = new EmailReplyParser().read(whole).getVisibleText().trim();
  // A mail of quotes alone says something by them.
  return written === "" ? { text: whole, quotesOthers: whole !== "" } : { text: written, quotesOthers: false };
}

const BLOCKS = new Set([
  "p",
  "div",
  "li",
  "tr",
  "table",
  "ul",
  "ol",
  "h1",
  "h2",
  "h3",
  "h4",
  "h5",
  "h6",
  "pre",
  "section",
]);
const SILENT = new Set(["style", "script", "head", "title", "template"]);
/** Where programs put the mail that is answered. */
const isQuote = (name: string, { class: classes = "", id = "" }: Record<string, string>) =>
  name === "blockquote" ||
  /\bgmail_quote\b|\bmoz-cite-prefix\b|\bprotonmail_quote\b/.test(classes) ||
  id === "divRplyFwdMsg";

/** The text of an HTML mail, without quotes. Links keep their addresses, since those may be what the mail is about. */
export function htmlToText(html: string): string {
  const pieces: string[] = [];
  let last = "\n";
  let hidden = 0;
  const open: { name: string; isHidden: boolean; href: string | undefined; from: number }[] = [];
  const add = (words: string) => {
    if (words === "") return;
    pieces.push(words);
    last = words.at(-1) ?? last;
  };
  const breakLine = () => add(last === "\n" ? "" : "\n");
  const parser = new Parser({
    onopentag(name, attributes) {
      const isHidden = SILENT.has(name) || isQuote(name, attributes);
      if (isHidden) hidden += 1;
      if (hidden === 0 && name === "br") add("\n");
      if (hidden === 0 && BLOCKS.has(name)) breakLine();
      open.push({ name, isHidden, href: name === "a" ? attributes.href : undefined, from: pieces.length });
    },
    ontext(words) {
      if (hidden > 0) return;
      const spaced = words.replace(/[\s\u00a0]+/g, " ");
      add(/\s/.test(last) ? spaced.trimStart() : spaced);
    },
    onclosetag() {
      const closed = open.pop();
      if (!closed) return;
      if (closed.isHidden) hidden -= 1;
      if (hidden > 0) return;
      const isShort = pieces.length - closed.from <= MAX_LINK_PIECES;
      if (closed.href && isShort && /^https?:/i.test(closed.href)) {
        if (pieces.slice(closed.from).join("").trim() !== closed.href) add(` (${closed.href})`);
      }
      if (BLOCKS.has(closed.name)) breakLine();
    },
  });
  // In pieces, since the parser takes longer for each tag the deeper it is.
  for (let at = 0; at < Math.min(html.length, MAX_HTML) && open.length <= MAX_DEPTH; at += SLICE) {
    parser.write(html.slice(at, Math.min(at + SLICE, MAX_HTML)));
  }
  parser.end();
  return pieces
    .join("")
    .split("\n")
    .map((line) => line.trim())
    .join("\n")
    .replace(/\n{3,}/g, "\n\n")
    .trim();
}
