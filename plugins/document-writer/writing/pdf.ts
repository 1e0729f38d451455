// Writes blocks as a PDF with pdfmake, in the DejaVu fonts of the binary.
import pdfmake, { type Content, type TextContent } from "pdfmake";
import regular from "../../../node_modules/dejavu-fonts-ttf/ttf/DejaVuSans.ttf" with { type: "file" };
import bold from "../../../node_modules/dejavu-fonts-ttf/ttf/DejaVuSans-Bold.ttf" with { type: "file" };
import oblique from "../../../node_modules/dejavu-fonts-ttf/ttf/DejaVuSans-Oblique.ttf" with { type: "file" };
import mono from "../../../node_modules/dejavu-fonts-ttf/ttf/DejaVuSansMono.ttf" with { type: "file" };
import type { WrittenDocument } from "../writing-thread.ts";
import { type Block, plainText, type Run, Unwritable } from "./blocks.ts";
import { createGlyphs, type FontStyle, type Glyphs } from "./glyphs.ts";

const SIZES = [20, 16, 13.5, 12, 11, 10.5];
const GREY = "#555555";
const MARGIN = 56;
/** Points: A4 without its margins. */
const WIDTH = 595.28 - 2 * MARGIN;
const MAX_COLUMNS = 20;

/** @throws Unwritable if the fonts don't have a letter, or a script is written from right to left */
export async function writePdf(blocks: readonly Block[], title: string): Promise<WrittenDocument> {
  const files = { regular, bold, oblique, mono } satisfies Record<FontStyle, string>;
  const names = Object.keys(files) as FontStyle[];
  const fonts = Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, Buffer.from(await Bun.file(files[name]).bytes())] as const)),
  ) as Record<FontStyle, Buffer>;
  const glyphs = createGlyphs(fonts);
  for (const name of names) {
    pdfmake.virtualfs.writeFileSync(`${name}.ttf`, fonts[name]);
    pdfmake.addFonts({ [name]: { normal: `${name}.ttf` } });
  }
  // It fetches nothing and reads no file.
  pdfmake.setUrlAccessPolicy(() => false);
  pdfmake.setLocalAccessPolicy(() => false);
  const content = contentOf(blocks, glyphs);
  const { missing, leftOut } = glyphs;
  if (missing.size > 0) throw new Unwritable(missingLetters([...missing]));
  const pdf = pdfmake.createPdf({
    content,
    info: { title },
    pageSize: "A4",
    pageMargins: MARGIN,
    defaultStyle: { font: "regular", fontSize: 10.5, lineHeight: 1.25 },
    footer: (page: number, pages: number) =>
      pages > 1 ? { text: `${page} / ${pages}`, alignment: "center", color: GREY, fontSize: 8 } : "",
  });
  return { bytes: new Uint8Array(await pdf.getBuffer()), leftOut: [...leftOut] };
}

const missingLetters = (letters: readonly string[]) =>
  `A PDF can't show these letters here: ${letters.slice(0, 8).join(" ")}. Its fonts have Latin, Greek, Cyrillic and other scripts ` +
  "that are written from left to right without joining. Write a .docx or .html file instead: these show every script.";

const contentOf = (blocks: readonly Block[], glyphs: Glyphs): Content[] =>
  blocks.map((block) => blockContent(block, glyphs));

function blockContent(block: Block, glyphs: Glyphs): Content {
  const text = (runs: readonly Run[], look: Partial<Run> = {}) =>
    runs.flatMap((run) => runContent({ ...run, ...look }, glyphs));
  switch (block.kind) {
    case "heading": {
      const fontSize = SIZES[block.level - 1] ?? 10.5;
      return { text: text(block.runs, { bold: true }), fontSize, margin: [0, 8, 0, 4], headlineLevel: block.level };
    }
    case "paragraph":
      return { text: text(block.runs), margin: [0, 0, 0, 6] };
    case "list": {
      const items = block.items.map((item): Content => ({ stack: contentOf(item, glyphs) }));
      return block.ordered
        ? { ol: items, start: block.start, margin: [0, 0, 0, 6] }
        : { ul: items, margin: [0, 0, 0, 6] };
    }
    case "table":
      return tableContent(block, text);
    case "code":
      return {
        table: {
          widths: ["*"],
          body: [[{ text: text([{ text: block.text, code: true }]), fontSize: 9, preserveLeadingSpaces: true }]],
        },
        layout: { hLineWidth: () => 0, vLineWidth: () => 0, fillColor: () => "#f3f3f3" },
        margin: [0, 0, 0, 8],
      };
    case "quote":
      return {
        table: { widths: ["*"], body: [[{ stack: contentOf(block.blocks, glyphs), color: GREY }]] },
        layout: { hLineWidth: () => 0, vLineWidth: (n: number) => (n === 0 ? 2 : 0), vLineColor: () => "#bbbbbb" },
        margin: [0, 0, 0, 6],
      };
    case "line":
      return {
        canvas: [{ type: "line", x1: 0, y1: 0, x2: WIDTH, y2: 0, lineWidth: 0.5, lineColor: "#bbbbbb" }],
        margin: [0, 6, 0, 8],
      };
  }
}

function tableContent(
  { align, header, rows }: Extract<Block, { kind: "table" }>,
  text: (runs: readonly Run[], look?: Partial<Run>) => TextContent[],
): Content {
  if (header.length > MAX_COLUMNS) {
    throw new Unwritable(`A page has room for ${MAX_COLUMNS} columns. Write the table as a .csv file, or divide it.`);
  }
  const cell = (runs: readonly Run[], n: number, look?: Partial<Run>): Content => ({
    text: text(runs, look),
    alignment: align[n] ?? "left",
    ...(look && { fillColor: "#eeeeee" }),
  });
  return {
    table: {
      headerRows: 1,
      widths: widthsOf([header, ...rows]),
      body: [
        header.map((runs, n) => cell(runs, n, { bold: true })),
        ...rows.map((row) => header.map((_, n) => cell(row[n] ?? [], n))),
      ],
    },
    layout: { hLineWidth: () => 0.5, vLineWidth: () => 0.5, hLineColor: () => "#bbbbbb", vLineColor: () => "#bbbbbb" },
    fontSize: header.length > 8 ? 7.5 : 9.5,
    margin: [0, 2, 0, 10],
  };
}

/** Short columns are as wide as their text, the others share the rest, so that no table is wider than the page. */
function widthsOf(rows: readonly (readonly Run[][])[]): ("auto" | "*")[] {
  const columns = rows[0]?.length ?? 0;
  const longest = Array.from({ length: columns }, (_, n) =>
    Math.max(...rows.slice(0, 200).map((row) => plainText(row[n] ?? []).length)),
  );
  const fits = longest.reduce((sum, length) => sum + length + 3, 0) < 90;
  return longest.map((length) => (fits || (length <= 12 && columns <= 8) ? "auto" : "*"));
}

function runContent({ text, bold, italic, code, struck, link }: Run, glyphs: Glyphs): TextContent[] {
  const style: FontStyle = code ? "mono" : bold ? "bold" : italic ? "oblique" : "regular";
  const decorations = [...(struck ? ["lineThrough" as const] : []), ...(link ? ["underline" as const] : [])];
  return glyphs.split(text, style).map(([part, font]) => ({
    text: part,
    font,
    ...(link && { link, color: "#0b57d0" }),
    ...(decorations.length > 0 && { decoration: decorations }),
  }));
}
