// Reads the text of a PDF by page, with pdf.js.
import { getDocumentProxy } from "unpdf";
import { type DocumentPage, MAX_PAGES, MAX_TEXT, Unreadable } from "../document.ts";

type Pdf = Awaited<ReturnType<typeof getDocumentProxy>>;
type TextItem = { str: string; hasEOL: boolean; height: number; transform: number[] };

export interface PdfText {
  title: string;
  published: string | undefined;
  pages: DocumentPage[];
  isCut: boolean;
}

export async function readPdf(bytes: Uint8Array): Promise<PdfText> {
  const pdf = await open(bytes);
  const pages: DocumentPage[] = [];
  let length = 0;
  for (let page = 1; page <= Math.min(pdf.numPages, MAX_PAGES) && length < MAX_TEXT; page += 1) {
    const text = (await textOf(pdf, page)).slice(0, MAX_TEXT - length);
    length += text.length;
    if (text !== "") pages.push({ page, text });
  }
  return { ...(await factsOf(pdf)), pages, isCut: length >= MAX_TEXT || pdf.numPages > MAX_PAGES };
}

async function open(bytes: Uint8Array): Promise<Pdf> {
  try {
    // Nothing is drawn, so that fonts and pictures are not needed. 0: pdf.js writes nothing to the console.
    return await getDocumentProxy(bytes, { disableFontFace: true, verbosity: 0 });
  } catch (error) {
    const isEncrypted = error instanceof Error && error.name === "PasswordException";
    throw new Unreadable(isEncrypted ? "ENCRYPTED" : "BROKEN", { cause: error });
  }
}

/** A page that is damaged is left out: the others can still be read. */
async function textOf(pdf: Pdf, number: number): Promise<string> {
  try {
    const page = await pdf.getPage(number);
    const { items } = await page.getTextContent();
    page.cleanup();
    return toLines(items.filter((item): item is (typeof items)[number] & TextItem => "str" in item));
  } catch {
    return "";
  }
}

/** Lines as on the page; a larger gap between two lines starts a paragraph, and a word divided at a line's end is joined. */
function toLines(items: readonly TextItem[]): string {
  const out: string[] = [];
  let lastY: number | undefined;
  for (const { str, hasEOL, height, transform } of items) {
    const y = transform[5] ?? 0;
    if (str.trim() !== "") {
      const gap = lastY === undefined ? 0 : lastY - y;
      if (height > 0 && gap > 1.8 * height) out.push("\n\n");
      lastY = y;
    }
    out.push(hasEOL ? `${str}\n` : str);
  }
  return out
    .join("")
    .replace(/(\p{L})[-\u00ad]\n(?=\p{Ll})/gu, "$1")
    .replace(/[^\S\n]+/g, " ")
    .replace(/ ?\n ?/g, "\n")
    .replace(/\n{3,}/g, "\n\n")
    .trim();
}

async function factsOf(pdf: Pdf): Promise<Pick<PdfText, "title" | "published">> {
  try {
    const { info } = await pdf.getMetadata();
    const title = "Title" in info && typeof info.Title === "string" ? info.Title.trim() : "";
    const date = "CreationDate" in info && typeof info.CreationDate === "string" ? info.CreationDate : "";
    // D:20240131120000+01'00' (ISO 32000-1, 7.9.4)
    const [, year, month = "01", day = "01"] = /^D:(\d{4})(\d\d)?(\d\d)?/.exec(date) ?? [];
    return { title, published: year && `${year}-${month}-${day}` };
  } catch {
    return { title: "", published: undefined };
  }
}
