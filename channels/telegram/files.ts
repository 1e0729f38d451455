// Files that people sent: found by their id when a turn wants them, and read up to a limit.
import { type Binding, ChannelError } from "../channel.ts";
import type { Apis } from "./api.ts";

/** The Bot API gives out no larger ones. https://core.telegram.org/bots/api#getfile */
const LARGEST = 20_000_000;

/** The bytes of a file; the address they come from holds the token, and is told to nobody. */
export async function fetchFile(
  { apis, apiRoot }: { apis: Apis; apiRoot: string },
  binding: Binding,
  fileId: string,
  limit: number,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const most = Math.min(limit, LARGEST);
  const { file_path: path, file_size: size = 0 } = await apis.call(binding, signal, (api, signal) =>
    api.getFile(fileId, signal),
  );
  if (size > most) throw tooLarge(most);
  if (path === undefined || /(^|\/)\.\.?(\/|$)/.test(path)) throw gone();
  const address = `${apiRoot.replace(/\/+$/, "")}/file/bot${binding.token}/${path.split("/").map(encodeURIComponent).join("/")}`;
  const response = await fetch(address, { signal, redirect: "error" });
  if (response.status === 404) throw gone();
  if (!response.ok) throw new ChannelError("unreachable", `Telegram answered ${response.status} for a file.`, "peer");
  const pieces: Uint8Array[] = [];
  let read = 0;
  for await (const piece of response.body ?? []) {
    read += piece.byteLength;
    if (read > most) throw tooLarge(most);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

const gone = () => new ChannelError("refused", "Telegram does not have this file any more.", "peer");
const tooLarge = (most: number) =>
  new ChannelError("refused", `The file is larger than ${Math.floor(most / 1_000_000)} MB.`, "peer");
