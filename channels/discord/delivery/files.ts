// Makes the attachments of Discord's messages.
// https://discord.com/developers/docs/reference#uploading-files
import type { RawFile } from "discord.js";
import { oggLoudness, oggSeconds } from "../../../src/kernel/util/sound/ogg.ts";
import type { OutgoingFile } from "../../port.ts";
import { tooLarge } from "../../shared/sent-files.ts";

/** What a bot may send in every server and in direct messages. */
const MAX_FILE_BYTES = 10_000_000;
const MAX_CAPTION = 1024;

/** A file with its bytes. */
export interface FileToSend extends OutgoingFile {
  bytes: Uint8Array<ArrayBuffer>;
  way: Way;
}

/** The flag of voice messages: https://discord.com/developers/docs/resources/message#message-object-message-flags */
const IS_VOICE_MESSAGE = 1 << 13;
/** Points of the picture of a voice message. */
const MAX_POINTS = 256;
/** Clients take one point in a tenth of a second. */
const POINTS_PER_SECOND = 10;

/** How Discord shows a file: a voice message has a player of its own, and no text. */
export type Way = "voice" | "attachment";

/** The ways to send a file, the best first, or why there is none. */
export function waysFor({ kind, mimeType, size }: OutgoingFile): readonly Way[] | string {
  if (size > MAX_FILE_BYTES) return tooLarge("Discord", MAX_FILE_BYTES);
  return kind === "voice" && mimeType === "audio/ogg" ? ["voice", "attachment"] : ["attachment"];
}

/** The text of the message with the file. */
export const captionOf = ({ caption = "" }: OutgoingFile, way: Way): string =>
  way === "voice" ? "" : caption.slice(0, MAX_CAPTION).toWellFormed();

export const flagsOf = ({ way }: FileToSend): number => (way === "voice" ? IS_VOICE_MESSAGE : 0);

/** The entry of a message's body for its only file; the caption is read to people who can't see a picture. */
export function describeFile(file: FileToSend): object {
  const { name: filename, kind, way } = file;
  if (way === "voice") return { id: 0, filename, ...soundOf(file) };
  const caption = captionOf(file, way);
  return { id: 0, filename, ...(kind === "picture" && caption !== "" && { description: caption }) };
}

/** https://discord.com/developers/docs/resources/message#voice-messages */
function soundOf({ bytes }: FileToSend): { duration_secs: number; waveform: string } {
  const sound = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const seconds = oggSeconds(sound) ?? 1;
  const points = Math.min(MAX_POINTS, Math.max(1, Math.round(seconds * POINTS_PER_SECOND)));
  return { duration_secs: seconds, waveform: Buffer.from(oggLoudness(sound, points)).toString("base64") };
}

export const toRawFile = ({ name, mimeType, bytes }: FileToSend): RawFile => ({
  name,
  contentType: mimeType,
  data: bytes,
});
