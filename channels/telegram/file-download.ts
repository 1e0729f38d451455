// Downloads files that people sent, by their id, when a turn needs them.

import { readLimitedBody } from "../../src/kernel/util/limited-body.ts";
import { type Binding, ChannelError } from "../port.ts";
import { fileGoneError, fileTooLargeError } from "../shared/file-errors.ts";
import type { BotApiClients } from "./bot-api.ts";

/** The Bot API serves no larger files. https://core.telegram.org/bots/api#getfile */
const MAX_FILE_BYTES = 20_000_000;

/** The bytes of a file, at most `limit`. The URL contains the token, so it appears in no error. */
export async function downloadFile(
  { clients, apiRoot }: { clients: BotApiClients; apiRoot: string },
  binding: Binding,
  fileId: string,
  limit: number,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const maxBytes = Math.min(limit, MAX_FILE_BYTES);
  const { file_path: path, file_size: size = 0 } = await clients.call(binding, signal, (api, signal) =>
    api.getFile(fileId, signal),
  );
  if (size > maxBytes) throw fileTooLargeError(maxBytes);
  if (path === undefined || /(^|\/)\.\.?(\/|$)/.test(path)) throw fileGoneError("Telegram");
  const address = `${apiRoot.replace(/\/+$/, "")}/file/bot${binding.token}/${path.split("/").map(encodeURIComponent).join("/")}`;
  const response = await fetch(address, { signal, redirect: "error" });
  if (response.status === 404) throw fileGoneError("Telegram");
  if (!response.ok) throw new ChannelError("unreachable", `Telegram answered ${response.status} for a file.`, "peer");
  const bytes = await readLimitedBody(response, maxBytes);
  if (!bytes) throw fileTooLargeError(maxBytes);
  return bytes;
}
