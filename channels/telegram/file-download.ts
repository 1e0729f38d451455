// Files that people sent: found by their id when a turn wants them, and read up to a limit.
import { type Binding, ChannelError } from "../port.ts";
import type { BotApiClients } from "./bot-api.ts";

/** The Bot API gives out no larger ones. https://core.telegram.org/bots/api#getfile */
const MAX_FILE_BYTES = 20_000_000;

/** The bytes of a file; the address they come from holds the token, and is told to nobody. */
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
  if (size > maxBytes) throw fileTooLarge(maxBytes);
  if (path === undefined || /(^|\/)\.\.?(\/|$)/.test(path)) throw fileGone();
  const address = `${apiRoot.replace(/\/+$/, "")}/file/bot${binding.token}/${path.split("/").map(encodeURIComponent).join("/")}`;
  const response = await fetch(address, { signal, redirect: "error" });
  if (response.status === 404) throw fileGone();
  if (!response.ok) throw new ChannelError("unreachable", `Telegram answered ${response.status} for a file.`, "peer");
  const chunks: Uint8Array[] = [];
  let bytesRead = 0;
  for await (const chunk of response.body ?? []) {
    bytesRead += chunk.byteLength;
    if (bytesRead > maxBytes) throw fileTooLarge(maxBytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

const fileGone = () => new ChannelError("refused", "Telegram does not have this file any more.", "peer");
const fileTooLarge = (maxBytes: number) =>
  new ChannelError("refused", `The file is larger than ${Math.floor(maxBytes / 1_000_000)} MB.`, "peer");
