// Reads a document of any kind. It runs on a thread; each format's library is loaded by its first document.
import { type DocumentFacts, type DocumentKind, type DocumentPage, MAX_TEXT, Unreadable } from "../document.ts";
import { decodeText } from "./decode.ts";

export interface ReadRequest {
  kind: DocumentKind;
  bytes: Uint8Array<ArrayBuffer>;
  type: string | undefined;
  url: string | undefined;
  /** Leaves out what may take long: the search for a page's article. */
  isPlain: boolean;
}

type Read = Omit<DocumentFacts, "kind"> & { pages: DocumentPage[] };

/** @throws Unreadable */
export async function readDocument(request: ReadRequest): Promise<Read> {
  const read = await readKind(request);
  // NUL is what no database stores in a text.
  const pages = read.pages
    .map(({ page, text }) => ({ page, text: text.replaceAll("\0", "").toWellFormed().trim() }))
    .filter(({ text }) => text !== "");
  if (pages.length === 0) throw new Unreadable("EMPTY");
  return { ...read, title: read.title.replace(/\s+/g, " ").trim().slice(0, 300), pages };
}

async function readKind({ kind, bytes, type, url, isPlain }: ReadRequest): Promise<Read> {
  switch (kind) {
    case "html": {
      const { readHtml } = await import("./html.ts");
      const { title, published, text, isCut } = await readHtml(decodeText(bytes, type, true), url, isPlain);
      return { title, published, pages: [{ page: undefined, text }], isCut };
    }
    case "pdf": {
      const { readPdf } = await import("./pdf.ts");
      return readPdf(bytes);
    }
    case "docx": {
      const { readDocx } = await import("./docx.ts");
      const { title, text } = await readDocx(bytes);
      return { title, published: undefined, ...single(text) };
    }
    case "csv": {
      const { readCsv } = await import("./csv.ts");
      const { text, isCut } = readCsv(decodeText(bytes, type));
      return { title: "", published: undefined, pages: [{ page: undefined, text }], isCut };
    }
    case "markdown": {
      const text = decodeText(bytes, type);
      return { title: /^# (.+)$/m.exec(text.slice(0, 2_000))?.[1] ?? "", published: undefined, ...single(text) };
    }
    case "text":
      return { title: "", published: undefined, ...single(decodeText(bytes, type)) };
  }
}

const single = (text: string): Pick<Read, "pages" | "isCut"> => ({
  pages: [{ page: undefined, text: text.slice(0, MAX_TEXT) }],
  isCut: text.length > MAX_TEXT,
});
