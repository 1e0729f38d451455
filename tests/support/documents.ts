// Makes PDF and DOCX files for tests, as small as their formats allow.
import { deflateSync } from "node:zlib";
import { zipEntries } from "./zips.ts";

const ascii = (text: string) => text.replace(/[\\()]/g, "\\$&");

/** A PDF with a page for each text, its lines one below the other. */
export function pdfOf(pages: readonly string[], title = ""): Uint8Array<ArrayBuffer> {
  const contents = pages.map((text) => {
    const lines = text.split("\n").map((line) => `(${ascii(line)}) Tj 0 -14 Td`);
    return `BT /F1 12 Tf 50 780 Td ${lines.join(" ")} ET`;
  });
  return rawPdf(
    contents.map((content) => ({ content: Buffer.from(content), filter: "" })),
    title,
  );
}

/** A PDF of one page whose content unpacks to so many bytes of blanks. */
export const pdfBomb = (bytes: number): Uint8Array<ArrayBuffer> =>
  rawPdf([{ content: deflateSync(Buffer.alloc(bytes, " ")), filter: "/Filter /FlateDecode" }], "");

function rawPdf(pages: readonly { content: Buffer; filter: string }[], title: string): Uint8Array<ArrayBuffer> {
  const ids = pages.map((_, index) => 5 + index * 2);
  const objects = new Map<number, Buffer>([
    [1, Buffer.from("<< /Type /Catalog /Pages 2 0 R >>")],
    [2, Buffer.from(`<< /Type /Pages /Count ${pages.length} /Kids [${ids.map((id) => `${id} 0 R`).join(" ")}] >>`)],
    [3, Buffer.from("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")],
    [4, Buffer.from(`<< /Title (${ascii(title)}) /CreationDate (D:20240131120000Z) >>`)],
  ]);
  for (const [index, { content, filter }] of pages.entries()) {
    const id = 5 + index * 2;
    const page = `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents ${id + 1} 0 R /Resources << /Font << /F1 3 0 R >> >> >>`;
    objects.set(id, Buffer.from(page));
    const head = Buffer.from(`<< /Length ${content.length} ${filter} >>\nstream\n`);
    objects.set(id + 1, Buffer.concat([head, content, Buffer.from("\nendstream")]));
  }
  const parts = [Buffer.from("%PDF-1.4\n")];
  const offsets: number[] = [];
  let at = parts[0]?.length ?? 0;
  for (const [id, body] of objects) {
    offsets.push(at);
    const object = Buffer.concat([Buffer.from(`${id} 0 obj\n`), body, Buffer.from("\nendobj\n")]);
    parts.push(object);
    at += object.length;
  }
  const rows = offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`).join("");
  const size = objects.size + 1;
  parts.push(
    Buffer.from(
      `xref\n0 ${size}\n0000000000 65535 f \n${rows}trailer\n<< /Size ${size} /Root 1 0 R /Info 4 0 R >>\nstartxref\n${at}\n%%EOF\n`,
    ),
  );
  return new Uint8Array(Buffer.concat(parts));
}

const TYPES = `<?xml version="1.0" encoding="UTF-8"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>`;
const RELATIONS = `<?xml version="1.0" encoding="UTF-8"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>`;
const STYLES = `<?xml version="1.0" encoding="UTF-8"?><w:styles xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:style w:type="paragraph" w:styleId="Heading1"><w:name w:val="heading 1"/></w:style></w:styles>`;
const STYLES_RELATION = `<?xml version="1.0" encoding="UTF-8"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/styles" Target="styles.xml"/></Relationships>`;

const xml = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

/** A DOCX of paragraphs; one that begins with `# ` is a heading. `body`: XML in place of paragraphs. */
export function docxOf(paragraphs: readonly string[], body?: string): Uint8Array<ArrayBuffer> {
  const written = paragraphs.map((text) => {
    const style = text.startsWith("# ") ? '<w:pPr><w:pStyle w:val="Heading1"/></w:pPr>' : "";
    return `<w:p>${style}<w:r><w:t>${xml(text.replace(/^# /, ""))}</w:t></w:r></w:p>`;
  });
  const document = `<?xml version="1.0" encoding="UTF-8"?><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>${body ?? written.join("")}</w:body></w:document>`;
  return zipEntries([
    { path: "[Content_Types].xml", content: TYPES },
    { path: "_rels/.rels", content: RELATIONS },
    { path: "word/_rels/document.xml.rels", content: STYLES_RELATION },
    { path: "word/styles.xml", content: STYLES },
    { path: "word/document.xml", content: document },
  ]);
}
