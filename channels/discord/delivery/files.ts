// Makes the attachments of Discord's messages.
// https://discord.com/developers/docs/reference#uploading-files
import type { RawFile } from "discord.js";
import type { OutgoingFile } from "../../port.ts";
import { tooLarge } from "../../shared/sent-files.ts";

/** What a bot may send in every server and in direct messages. */
const MAX_FILE_BYTES = 10_000_000;
const MAX_CAPTION = 1024;

/** A file with its bytes. */
export interface FileToSend extends OutgoingFile {
  bytes: Uint8Array;
}

/** There is one way, or the reason why there is none. */
export const waysFor = ({ size }: OutgoingFile): readonly ["attachment"] | string =>
  size > MAX_FILE_BYTES ? tooLarge("Discord", MAX_FILE_BYTES) : ["attachment"];

/** The text of the message with the file. */
export const captionOf = ({ caption = "" }: OutgoingFile): string => caption.slice(0, MAX_CAPTION).toWellFormed();

/** The entry of a message's body for its only file; the caption is read to people who can't see a picture. */
export function describeFile(file: OutgoingFile): object {
  const caption = captionOf(file);
  return { id: 0, filename: file.name, ...(file.kind === "picture" && caption !== "" && { description: caption }) };
}

export const toRawFile = ({ name, mimeType, bytes }: FileToSend): RawFile => ({
  name,
  contentType: mimeType,
  data: bytes,
});
