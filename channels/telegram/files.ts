// Chooses the methods that send a file on Telegram, and makes their forms.
import type { OutgoingFile } from "../port.ts";
import { tooLarge } from "../shared/sent-files.ts";

/** https://core.telegram.org/bots/api#sending-files */
const MAX_PHOTO_BYTES = 10_000_000;
const MAX_FILE_BYTES = 50_000_000;
/** UTF-16 units of the text below a file. */
const MAX_CAPTION = 1024;

/** A method, and the parameter that takes the file. */
export type FileMethod = readonly [method: string, parameter: string];

const DOCUMENT: FileMethod = ["sendDocument", "document"];
const PHOTO = /^image\/(?:jpeg|png|webp)$/;
const VOICE = /^audio\/(?:ogg|mpeg|mp4)$/;
const AUDIO = /^audio\/(?:mpeg|mp4)$/;

/** The methods for a file, the best first, or why there is none. */
export function methodsFor({ kind, mimeType, size }: OutgoingFile): readonly FileMethod[] | string {
  if (size > MAX_FILE_BYTES) return tooLarge("Telegram", MAX_FILE_BYTES);
  const own: readonly (FileMethod | false)[] = [
    kind === "picture" && PHOTO.test(mimeType) && size <= MAX_PHOTO_BYTES && ["sendPhoto", "photo"],
    kind === "voice" && VOICE.test(mimeType) && ["sendVoice", "voice"],
    kind !== "document" && AUDIO.test(mimeType) && ["sendAudio", "audio"],
  ];
  return [...own.filter((one) => one !== false), DOCUMENT];
}

/** The body of a call that sends a file. `fields`: as in JSON. */
export function toForm(
  { name, mimeType, caption }: OutgoingFile,
  bytes: Uint8Array<ArrayBuffer>,
  parameter: string,
  fields: Readonly<Record<string, unknown>>,
): FormData {
  const form = new FormData();
  for (const [key, value] of Object.entries(fields)) {
    form.set(key, typeof value === "string" ? value : JSON.stringify(value));
  }
  if (caption !== undefined) form.set("caption", caption.slice(0, MAX_CAPTION).toWellFormed());
  form.set(parameter, new Blob([bytes], { type: mimeType }), name);
  return form;
}
