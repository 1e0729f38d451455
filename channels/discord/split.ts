// Cuts a long reply where it hurts least. A block of code that is cut is closed in the one part and opened again in the next.
import { cut } from "../shared/cut.ts";
import { format } from "./format.ts";

/** https://discord.com/developers/docs/resources/message#create-message */
export const LONGEST_TEXT = 2000;
const CLOSED = "\n```";

interface Block {
  /** Of the line that opens it. */
  start: number;
  open: string;
  /** Of its first line of code. */
  code: number;
  /** Of the line that closes it. */
  close: number;
  end: number;
}

/** A Markdown reply as the messages that carry it; the same reply is always cut the same way. Empty when there is nothing to show. */
export function render(markdown: string, limit = LONGEST_TEXT): string[] {
  const text = format(markdown);
  const blocks = blocksOf(text);
  const inBlock = (at: number) => blocks.some(({ start, end }) => start < at && at < end);
  /** The block whose code goes on at this place. */
  const goingOn = (at: number) => blocks.find(({ code, close }) => code <= at && at < close);
  const parts: string[] = [];
  let start = 0;
  while (start < text.length) {
    const head = goingOn(start);
    const opening = head && head.code <= start ? `${head.open}\n` : "";
    const room = limit - opening.length;
    let end = text.length;
    if (text.length - start > room) end = cut(text, start, blocks.length > 0 ? room - CLOSED.length : room, inBlock);
    const body = text.slice(start, end);
    const tail = end < text.length ? goingOn(Math.min(end + 1, text.length)) : undefined;
    const open = tail && tail.start < end ? tail : undefined;
    const part = `${opening}${body.trimEnd()}${open ? CLOSED : ""}`;
    if (body.trim() !== "" && part !== `${opening}\`\`\``) parts.push(opening === "" ? part.replace(/^\n+/, "") : part);
    start = open ? after(text, Math.max(end, open.code)) : afterBlank(text, end, blocks);
  }
  return parts;
}

/** The blocks that `format` wrote. */
function blocksOf(text: string): Block[] {
  const blocks: Block[] = [];
  let open: { start: number; line: string } | undefined;
  let at = 0;
  for (const line of text.split("\n")) {
    const end = at + line.length;
    if (open && line === "```") {
      blocks.push({ start: open.start, open: open.line, code: open.start + open.line.length + 1, close: at, end });
      open = undefined;
    } else if (!open && line.startsWith("```")) open = { start: at, line };
    at = end + 1;
  }
  return blocks;
}

const after = (text: string, at: number) => (text[at] === "\n" ? at + 1 : at);

/** Skips blank lines and spaces between parts, and the end of a block whose code is all told. */
function afterBlank(text: string, position: number, blocks: Block[]): number {
  let at = position;
  while (at < text.length && /\s/.test(text.charAt(at))) at += 1;
  const ended = blocks.find(({ code, close }) => close === at && code <= position);
  return ended ? afterBlank(text, ended.end, []) : at;
}
