// The thread that reads mails: they come from anywhere, and libraries take seconds for some texts.
import type { MailReply, MailRequest } from "./mail-thread.ts";
import { parseMail, readMail } from "./message.ts";

declare const self: Worker;

self.onmessage = async ({ data }: MessageEvent<MailRequest>) => self.postMessage(await reply(data));

async function reply(request: MailRequest): Promise<MailReply> {
  if ("part" in request) {
    const content = (await parseMail(request.source)).attachments[request.part]?.content;
    return {
      file: typeof content === "string" ? new TextEncoder().encode(content) : content && new Uint8Array(content),
    };
  }
  const mails = [];
  for (const { source, place } of request.mails) {
    mails.push(await readMail(source, place).catch(() => ({ leftOut: "not readable" })));
  }
  return { mails };
}
