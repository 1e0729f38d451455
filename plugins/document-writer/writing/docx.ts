// Writes blocks as a Word document with docx. Fonts and shaping are the reader's, so every script works.
import {
  AlignmentType,
  BorderStyle,
  CarriageReturn,
  Document,
  ExternalHyperlink,
  HeadingLevel,
  type IParagraphOptions,
  LevelFormat,
  Packer,
  Paragraph,
  ShadingType,
  Table,
  TableCell,
  TableRow,
  TextRun,
  WidthType,
} from "docx";
import { type Align, type Block, plainText, type Run } from "./blocks.ts";

const HEADINGS = [
  HeadingLevel.HEADING_1,
  HeadingLevel.HEADING_2,
  HeadingLevel.HEADING_3,
  HeadingLevel.HEADING_4,
  HeadingLevel.HEADING_5,
  HeadingLevel.HEADING_6,
];
const ALIGNMENTS = { left: AlignmentType.LEFT, center: AlignmentType.CENTER, right: AlignmentType.RIGHT } as const;
/** Twentieths of a point. */
const INDENT = 360;
/** Word has nine levels of a list. */
const MAX_LEVEL = 8;
const MONO = "Courier New";

type Child = Paragraph | Table;
interface Place {
  /** How deep in quotes. */
  quotes: number;
  /** The list of the paragraph, and its level in it. */
  list?: { reference: string; level: number; isContinued: boolean };
}

export async function writeDocx(blocks: readonly Block[], title: string): Promise<Uint8Array<ArrayBuffer>> {
  const lists: { reference: string; ordered: boolean; start: number }[] = [];

  function childrenOf(some: readonly Block[], place: Place): Child[] {
    return some.flatMap((block, n) => childOf(block, place.list && n > 0 ? continued(place) : place));
  }

  function childOf(block: Block, place: Place): Child[] {
    switch (block.kind) {
      case "heading":
        return [paragraph(block.runs, place, { heading: HEADINGS[block.level - 1] ?? HeadingLevel.HEADING_6 })];
      case "paragraph":
        return [paragraph(block.runs, place, { spacing: { after: place.list ? 40 : 120 } })];
      case "list": {
        const reference = `list-${lists.length}`;
        lists.push({ reference, ordered: block.ordered, start: block.start });
        const level = Math.min(MAX_LEVEL, place.list ? place.list.level + 1 : 0);
        const inList = { ...place, list: { reference, level, isContinued: false } };
        return block.items.flatMap((item) => childrenOf(item, inList));
      }
      case "table":
        return [tableOf(block), new Paragraph({ children: [] })];
      case "code":
        return block.text.split("\n").map((text) =>
          paragraph([{ text, code: true }], continued(place), {
            shading: { type: ShadingType.CLEAR, fill: "F3F3F3" },
            spacing: { after: 0 },
          }),
        );
      case "quote":
        return childrenOf(block.blocks, { ...place, quotes: place.quotes + 1 });
      case "line":
        return [
          new Paragraph({ children: [], border: { bottom: { style: BorderStyle.SINGLE, size: 6, color: "BBBBBB" } } }),
        ];
    }
  }

  const children = childrenOf(blocks, { quotes: 0 });
  const document = new Document({
    title,
    creator: "",
    numbering: {
      config: lists.map(({ reference, ordered, start }) => ({
        reference,
        levels: Array.from({ length: MAX_LEVEL + 1 }, (_, level) => ({
          level,
          format: ordered ? LevelFormat.DECIMAL : LevelFormat.BULLET,
          text: ordered ? `%${level + 1}.` : "•",
          start,
          alignment: AlignmentType.LEFT,
          style: { paragraph: { indent: { left: INDENT * 2 * (level + 1), hanging: INDENT } } },
        })),
      })),
    },
    sections: [{ children }],
  });
  return new Uint8Array(await Packer.toBuffer(document));
}

/** The place of a further paragraph of the same item: without its mark. */
const continued = (place: Place): Place =>
  place.list ? { ...place, list: { ...place.list, isContinued: true } } : place;

function paragraph(runs: readonly Run[], { quotes, list }: Place, options: IParagraphOptions = {}): Paragraph {
  const left = INDENT * 2 * quotes + (list?.isContinued ? INDENT * 2 * (list.level + 1) : 0);
  return new Paragraph({
    children: childrenOfRuns(runs),
    ...(isRightToLeft(runs) && { bidirectional: true }),
    ...(list && !list.isContinued
      ? { numbering: { reference: list.reference, level: list.level } }
      : left > 0 && { indent: { left } }),
    ...options,
  });
}

function tableOf({ align, header, rows }: Extract<Block, { kind: "table" }>): Table {
  const cell = (runs: readonly Run[], of: Align | undefined, isHeader: boolean) =>
    new TableCell({
      children: [
        new Paragraph({
          children: childrenOfRuns(isHeader ? runs.map((run): Run => ({ ...run, bold: true })) : runs),
          alignment: ALIGNMENTS[of ?? "left"],
        }),
      ],
      margins: { top: 40, bottom: 40, left: 80, right: 80 },
      ...(isHeader && { shading: { type: ShadingType.CLEAR, fill: "EEEEEE" } }),
    });
  const row = (cells: readonly Run[][], isHeader = false) =>
    new TableRow({
      children: header.map((_, n) => cell(cells[n] ?? [], align[n], isHeader)),
      ...(isHeader && { tableHeader: true }),
    });
  return new Table({
    rows: [row(header, true), ...rows.map((cells) => row(cells))],
    width: { size: 100, type: WidthType.PERCENTAGE },
  });
}

const childrenOfRuns = (runs: readonly Run[]) =>
  runs.map((run) =>
    run.link === undefined
      ? textRun(run)
      : new ExternalHyperlink({ link: run.link, children: [textRun(run, "Hyperlink")] }),
  );

function textRun({ text, bold, italic, code, struck }: Run, style?: string): TextRun {
  const [first = "", ...others] = text.split("\n").map(withoutControls);
  return new TextRun({
    children: [first, ...others.flatMap((line) => [new CarriageReturn(), line])],
    ...(bold && { bold }),
    ...(italic && { italics: italic }),
    ...(struck && { strike: struck }),
    ...(code && { font: MONO }),
    ...(style !== undefined && { style }),
    ...(RIGHT_TO_LEFT.test(text) && { rightToLeft: true }),
  });
}

/** XML takes no other controls than tabs. */
const withoutControls = (text: string) => text.replace(/[^\P{Cc}\t]|[\ufffe\uffff]/gu, "").toWellFormed();

const RIGHT_TO_LEFT =
  /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}]/u;

/** By its first letter. */
const isRightToLeft = (runs: readonly Run[]) => RIGHT_TO_LEFT.test(/\p{L}/u.exec(plainText(runs))?.[0] ?? "");
