// Reads Markdown as blocks that every format can show: headings, paragraphs, lists, tables, code, quotes and lines.
//
// HTML in it stays text, and pictures become their description with a link: nothing is fetched, and nothing runs.
import { lexer, type MarkedToken, type Token, type Tokens } from "marked";

/** A run of text of one look. Line ends in it are line breaks. */
export interface Run {
  text: string;
  bold?: true;
  italic?: true;
  code?: true;
  struck?: true;
  /** http, https or mailto. */
  link?: string;
}

export type Align = "left" | "center" | "right";

export type Block =
  | { kind: "heading"; level: number; runs: Run[] }
  | { kind: "paragraph"; runs: Run[] }
  | { kind: "list"; ordered: boolean; start: number; items: Block[][] }
  | { kind: "table"; align: Align[]; header: Run[][]; rows: Run[][][] }
  | { kind: "code"; text: string }
  | { kind: "quote"; blocks: Block[] }
  | { kind: "line" };

/** A text that can't be written as a document; the message is for the model. */
export class Unwritable extends Error {}

/** Lists and quotes in one another. */
const MAX_DEPTH = 12;

/** @throws Unwritable */
export const readMarkdown = (text: string): Block[] => blocksOf(lexer(text, { gfm: true }), 0);

/** The text of runs without their look. */
export const plainText = (runs: readonly Run[]): string => runs.map(({ text }) => text).join("");

/** The text of the first heading; undefined without one. */
export const titleOf = (blocks: readonly Block[]): string | undefined => {
  const heading = blocks.find((block) => block.kind === "heading");
  return heading && plainText(heading.runs);
};

function blocksOf(tokens: readonly Token[], depth: number): Block[] {
  if (depth > MAX_DEPTH) throw new Unwritable("Lists and quotes are nested too deeply. Make them flatter.");
  return tokens.flatMap((token) => blockOf(token as MarkedToken, depth));
}

function blockOf(token: MarkedToken, depth: number): Block[] {
  switch (token.type) {
    case "heading":
      return [{ kind: "heading", level: token.depth, runs: runsOf(token.tokens) }];
    case "paragraph":
      return [{ kind: "paragraph", runs: runsOf(token.tokens) }];
    // The text of an item of a tight list.
    case "text":
      return [{ kind: "paragraph", runs: token.tokens ? runsOf(token.tokens) : [{ text: token.text }] }];
    case "html":
      return token.text.trim() === "" ? [] : [{ kind: "paragraph", runs: [{ text: token.text.trim() }] }];
    case "list":
      return [listOf(token, depth)];
    case "table":
      return [
        {
          kind: "table",
          align: token.align.map((align) => align ?? "left"),
          header: token.header.map((cell) => runsOf(cell.tokens)),
          rows: token.rows.map((row) => row.map((cell) => runsOf(cell.tokens))),
        },
      ];
    case "code":
      return [{ kind: "code", text: token.text }];
    case "blockquote":
      return [{ kind: "quote", blocks: blocksOf(token.tokens, depth + 1) }];
    case "hr":
      return [{ kind: "line" }];
    default:
      return [];
  }
}

function listOf({ ordered, start, items }: Tokens.List, depth: number): Block {
  return {
    kind: "list",
    ordered,
    start: start === "" ? 1 : start,
    items: items.map((item) => {
      const blocks = blocksOf(
        item.tokens.filter(({ type }) => type !== "checkbox"),
        depth + 1,
      );
      const [first] = blocks;
      if (item.task && first?.kind === "paragraph") first.runs.unshift({ text: item.checked ? "☑ " : "☐ " });
      return blocks;
    }),
  };
}

type Look = Omit<Run, "text">;

function runsOf(tokens: readonly Token[], look: Look = {}): Run[] {
  return tokens.flatMap((token) => runOf(token as MarkedToken, look));
}

function runOf(token: MarkedToken, look: Look): Run[] {
  switch (token.type) {
    case "strong":
      return runsOf(token.tokens, { ...look, bold: true });
    case "em":
      return runsOf(token.tokens, { ...look, italic: true });
    case "del":
      return runsOf(token.tokens, { ...look, struck: true });
    case "codespan":
      return [{ ...look, code: true, text: token.text }];
    case "br":
      return [{ ...look, text: "\n" }];
    case "link":
      return runsOf(token.tokens, { ...look, ...linkTo(token.href) });
    case "image":
      return [{ ...look, ...linkTo(token.href), text: token.text || token.href }];
    case "checkbox":
      return [];
    case "text":
      if (token.tokens) return runsOf(token.tokens, look);
      return [{ ...look, text: withoutEntities(token.text) }];
    case "escape":
      return [{ ...look, text: withoutEntities(token.text) }];
    default:
      return [{ ...look, text: "raw" in token ? token.raw : "" }];
  }
}

const linkTo = (href: string): Look =>
  /^(?:https?:\/\/|mailto:)/i.test(href) && URL.canParse(href) ? { link: href } : {};

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', nbsp: "\u00a0", apos: "'" };

/** Markdown allows entities of HTML in its text. */
const withoutEntities = (text: string) =>
  text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{2,4}));/gi, (whole, decimal, hex, name: string | undefined) => {
    if (name !== undefined) return ENTITIES[name.toLowerCase()] ?? whole;
    const code = decimal ? Number(decimal) : Number.parseInt(hex, 16);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code).toWellFormed() : whole;
  });
