// The methods of the Bot API that send a file, with Telegram's limits: https://core.telegram.org/bots/api#sending-files

import { type SentFile, sniffed } from "./sent-file.ts";
import type { Message } from "./telegram-bot.ts";
import { bad, type Params, TelegramRefusal, text } from "./telegram-params.ts";

const MB = 1_000_000;

interface FileMethod {
  field: "photo" | "document" | "voice" | "audio";
  maxBytes: number;
  /** The types that Telegram shows in this way; undefined for all. */
  types?: readonly string[];
}

export const FILE_METHODS: Readonly<Record<string, FileMethod>> = {
  sendPhoto: { field: "photo", maxBytes: 10 * MB, types: ["image/jpeg", "image/png", "image/webp"] },
  sendDocument: { field: "document", maxBytes: 50 * MB },
  sendVoice: { field: "voice", maxBytes: 50 * MB, types: ["audio/ogg", "audio/mpeg", "audio/mp4"] },
  sendAudio: { field: "audio", maxBytes: 50 * MB, types: ["audio/mpeg", "audio/mp4"] },
};

/** The file of a call, and the message's fields with it. */
export async function fileOf(
  { field, maxBytes, types }: FileMethod,
  params: Params,
): Promise<{ file: SentFile; fields: Partial<Message> }> {
  const given = params[field];
  if (!(given instanceof Blob)) throw bad(`there is no ${field} in the request`);
  const bytes = new Uint8Array(await given.arrayBuffer());
  if (bytes.length === 0) throw bad("file must be non-empty");
  if (bytes.length > maxBytes) throw new TelegramRefusal(413, "Request Entity Too Large");
  if (types && !types.includes(sniffed(bytes) ?? ""))
    throw bad(field === "photo" ? "IMAGE_PROCESS_FAILED" : "wrong type");
  const caption = text(params, "caption");
  if (caption !== undefined && caption.length > 1024) throw bad("message caption is too long");
  const name = given instanceof File ? given.name : "";
  const about = {
    file_id: `sent-${Bun.hash(bytes)}`,
    file_unique_id: String(Bun.hash(bytes)),
    file_size: bytes.length,
  };
  const shown = field === "photo" ? [about] : { ...about, file_name: name, mime_type: given.type };
  return {
    file: { as: field, name, type: given.type, bytes, ...(caption === undefined ? {} : { caption }) },
    fields: { [field]: shown, ...(caption === undefined ? {} : { caption }) },
  };
}
