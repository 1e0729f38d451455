// Reads a DOCX as Markdown, after its zip was unpacked once within limits.
import { Unzip, UnzipInflate } from "fflate";
import mammoth from "mammoth";
import { Unreadable } from "../document.ts";
import { extractText } from "../html/html-text.ts";
import { toMarkdown } from "./markdown.ts";
import { isSimpleEnough } from "./nesting.ts";

/** Bytes given to the inflater at once: it unpacks at most a thousand times as much before the limit is checked. */
const PIECE = 1024;
const MAX_ENTRIES = 5_000;
/** Unpacked bytes of the texts, which are parsed. */
const MAX_XML = 48 * 1024 * 1024;
/** Unpacked bytes with pictures, which are not looked at. */
const MAX_UNPACKED = 256 * 1024 * 1024;

export async function readDocx(bytes: Uint8Array): Promise<{ title: string; text: string }> {
  requireSafeZip(bytes);
  const { value } = await convert(bytes);
  // A document of lists in lists in lists: without Markdown, but read.
  const text = isSimpleEnough(value) ? toMarkdown(value, "") : (await extractText(value, "")).text;
  return { title: /^# (.+)$/m.exec(text)?.[1]?.trim() ?? "", text };
}

async function convert(bytes: Uint8Array) {
  try {
    return await mammoth.convertToHtml(
      { buffer: Buffer.from(bytes) },
      { convertImage: mammoth.images.imgElement(async () => ({ src: "" })), externalFileAccess: false },
    );
  } catch (error) {
    throw new Unreadable("BROKEN", { cause: error });
  }
}

/**
 * The sizes in a zip may be wrong, so what comes out of it is counted.
 *
 * @throws Unreadable
 */
function requireSafeZip(zip: Uint8Array): void {
  let entries = 0;
  let xml = 0;
  let unpacked = 0;
  let hasDocument = false;
  const reader = new Unzip((file) => {
    entries += 1;
    if (entries > MAX_ENTRIES) throw new Unreadable("TOO_COMPLEX");
    if (file.name.toLowerCase() === "encryptedpackage") throw new Unreadable("ENCRYPTED");
    hasDocument ||= file.name === "word/document.xml";
    const isXml = /\.(?:xml|rels)$/i.test(file.name);
    file.ondata = (error, piece) => {
      if (error) throw error;
      unpacked += piece.length;
      if (isXml) xml += piece.length;
      if (unpacked > MAX_UNPACKED || xml > MAX_XML) throw new Unreadable("TOO_LARGE");
    };
    file.start();
  });
  reader.register(UnzipInflate);
  try {
    for (let from = 0; from < zip.length; from += PIECE) {
      // A copy, since the inflater keeps what it gets.
      reader.push(zip.slice(from, from + PIECE), from + PIECE >= zip.length);
    }
  } catch (error) {
    if (error instanceof Unreadable) throw error;
    throw new Unreadable("BROKEN", { cause: error });
  }
  if (!hasDocument) throw new Unreadable("BROKEN");
}
