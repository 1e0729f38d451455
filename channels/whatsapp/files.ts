// Chooses how WhatsApp takes a file: the type of message, and the media type under which it is uploaded.
// https://developers.facebook.com/documentation/business-messaging/whatsapp/business-phone-numbers/media#supported-media-types
import type { OutgoingFile } from "../port.ts";
import { tooLarge, wrongKind } from "../shared/sent-files.ts";

const MAX_IMAGE_BYTES = 5_000_000;
const MAX_AUDIO_BYTES = 16_000_000;
const MAX_DOCUMENT_BYTES = 100_000_000;
/** Characters of the text below a file. */
const MAX_CAPTION = 1024;

const IMAGE = /^image\/(?:jpeg|png)$/;
const AUDIO = /^audio\/(?:aac|amr|mpeg|mp4|ogg)$/;
const OFFICE =
  /^application\/(?:pdf|msword|vnd\.ms-(?:excel|powerpoint)|vnd\.openxmlformats-officedocument\.(?:wordprocessingml\.document|spreadsheetml\.sheet|presentationml\.presentation))$/;
/** Text that has a type of its own is uploaded as plain text; its name tells what it is. */
const TEXT = /^(?:text\/.+|application\/(?:json|xml|yaml|x-ndjson)|image\/svg\+xml)$/;

export interface MediaMessage {
  type: "image" | "audio" | "document";
  /** The media type of the upload. */
  mimeType: string;
}

/** The messages for a file, the best first, or why there is none. */
export function messagesFor({ kind, mimeType, size }: OutgoingFile): readonly MediaMessage[] | string {
  if (size > MAX_DOCUMENT_BYTES) return tooLarge("WhatsApp", MAX_DOCUMENT_BYTES);
  const isSound = kind === "audio" || kind === "voice";
  const ways: readonly (MediaMessage | false)[] = [
    kind === "picture" && IMAGE.test(mimeType) && size <= MAX_IMAGE_BYTES && { type: "image", mimeType },
    isSound && AUDIO.test(mimeType) && size <= MAX_AUDIO_BYTES && { type: "audio", mimeType },
    // Documents may be pictures, though the list of their types does not name them.
    (OFFICE.test(mimeType) || IMAGE.test(mimeType)) && { type: "document", mimeType },
    TEXT.test(mimeType) && { type: "document", mimeType: "text/plain" },
  ];
  const possible = ways.filter((way) => way !== false);
  return possible.length > 0 ? possible : wrongKind("WhatsApp");
}

export function uploadForm({ name }: OutgoingFile, bytes: Uint8Array<ArrayBuffer>, mimeType: string): FormData {
  const form = new FormData();
  form.set("messaging_product", "whatsapp");
  form.set("type", mimeType);
  form.set("file", new Blob([bytes], { type: mimeType }), name);
  return form;
}

/** The part of a message that shows an uploaded file. */
export function mediaContent(
  { name, caption, kind }: OutgoingFile,
  { type, mimeType }: MediaMessage,
  id: string,
): object {
  const words =
    caption === undefined || type === "audio" ? {} : { caption: caption.slice(0, MAX_CAPTION).toWellFormed() };
  const isVoice = type === "audio" && kind === "voice" && mimeType === "audio/ogg";
  return {
    type,
    [type]: { id, ...words, ...(type === "document" && { filename: name }), ...(isVoice && { voice: true }) },
  };
}
