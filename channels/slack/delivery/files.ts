// Sends files to Slack and fetches those that people sent.
// https://docs.slack.dev/messaging/working-with-files#upload
import type { Attachment, Binding, OutgoingFile } from "../../port.ts";
import { ChannelError } from "../../port.ts";
import { fileGoneError, fileTooLargeError } from "../../shared/file-errors.ts";
import { isObject } from "../../shared/is-object.ts";
import { tooLarge } from "../../shared/sent-files.ts";
import { asBot } from "../bot.ts";
import { hasCode } from "../errors.ts";
import type { Peer } from "../ids.ts";
import type { WebApi } from "../web-api.ts";
import { escapeMrkdwn } from "./mrkdwn.ts";

/** Slack takes more, but the bytes are held in memory meanwhile. */
const MAX_FILE_BYTES = 100_000_000;
const MAX_CAPTION = 1_024;
const FILE = /^F[A-Z0-9]{6,20}$/;

/** Slack shows each kind in its own way by itself. */
export const waysFor = ({ size }: OutgoingFile): readonly "file"[] | string =>
  size > MAX_FILE_BYTES ? tooLarge("Slack", MAX_FILE_BYTES) : ["file"];

/**
 * Uploads a file and shares it in a conversation. Returns the file's id: Slack makes the message later, and does not tell
 * its timestamp.
 */
export async function shareFile(
  api: WebApi,
  binding: Binding,
  { channel, thread }: Peer,
  { name, caption, kind }: OutgoingFile,
  bytes: Uint8Array<ArrayBuffer>,
  signal: AbortSignal,
): Promise<string> {
  const caller = asBot(binding);
  const words = caption === undefined || caption === "" ? undefined : caption.slice(0, MAX_CAPTION).toWellFormed();
  const place = await api.call(
    caller,
    "files.getUploadURLExternal",
    // The caption is read to people who can't see a picture.
    {
      filename: name,
      length: bytes.byteLength,
      ...(kind === "picture" && words !== undefined ? { alt_txt: words } : {}),
    },
    signal,
  );
  const { upload_url: address, file_id: id } = place;
  if (typeof address !== "string" || typeof id !== "string") {
    throw new ChannelError("unreachable", "Slack's answer could not be understood.", "peer");
  }
  await api.upload(caller, address, bytes, signal);
  await api.call(
    caller,
    "files.completeUploadExternal",
    {
      files: [{ id, title: name }],
      channel_id: channel,
      ...(thread === undefined ? {} : { thread_ts: thread }),
      ...(words === undefined ? {} : { initial_comment: escapeMrkdwn(words) }),
    },
    signal,
  );
  return id;
}

/** The bytes of a file that a person sent; `refused` if it is gone or larger than `limit`. */
export async function fetchFile(
  api: WebApi,
  binding: Binding,
  { ref }: Attachment,
  limit: number,
  signal: AbortSignal,
): Promise<Uint8Array> {
  if (!FILE.test(ref)) throw fileGoneError("Slack");
  const caller = asBot(binding);
  const { file } = await api.call(caller, "files.info", { file: ref }, signal).catch((error: unknown) => {
    throw hasCode(error, "file_not_found", "file_deleted", "not_visible") ? fileGoneError("Slack") : error;
  });
  const { url_private_download: address, size } = isObject(file) ? file : {};
  if (typeof address !== "string") throw fileGoneError("Slack");
  if (typeof size === "number" && size > limit) throw fileTooLargeError(limit);
  return api.download(caller, address, limit, signal);
}
