// The thread that writes one document. Each format loads its library when it is asked for.
import { readMarkdown, titleOf, Unwritable } from "./writing/blocks.ts";
import type { WriteReply, WriteRequest, WrittenDocument } from "./writing-thread.ts";

declare const self: Worker;

self.onmessage = async ({ data }: MessageEvent<WriteRequest>) => {
  const reply = await replyTo(data);
  self.postMessage(reply, "bytes" in reply ? [reply.bytes.buffer] : []);
};

async function replyTo(request: WriteRequest): Promise<WriteReply> {
  try {
    return await write(request);
  } catch (error) {
    if (error instanceof Unwritable) return { problem: error.message };
    // Of a text that is nested without end.
    if (error instanceof RangeError) return { problem: "The document is too complex. Make it simpler." };
    const reason = String(error instanceof Error ? error.message : error).slice(0, 200);
    return { problem: `The document can't be written: ${reason}` };
  }
}

async function write({ format, content, title }: WriteRequest): Promise<WrittenDocument> {
  if (format === "md" || format === "txt") return ofText(`${content.trimEnd()}\n`);
  const blocks = readMarkdown(content);
  const name = titleOf(blocks) ?? title;
  switch (format) {
    case "csv":
      return ofText((await import("./writing/csv.ts")).writeCsv(blocks, content));
    case "html":
      return ofText((await import("./writing/html.ts")).writeHtml(blocks, name));
    case "docx":
      return { bytes: await (await import("./writing/docx.ts")).writeDocx(blocks, name), leftOut: [] };
    case "pdf":
      return (await import("./writing/pdf.ts")).writePdf(blocks, name);
  }
}

const ofText = (text: string): WrittenDocument => ({ bytes: new TextEncoder().encode(text), leftOut: [] });
