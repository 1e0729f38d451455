// Files that people sent: they lie at Discord's own hosts under addresses that expire, and the message knows the fresh one.
import { type Binding, ChannelError } from "../channel.ts";
import type { Apis } from "./api.ts";
import { isSnowflake } from "./peer.ts";

/** Where Discord keeps files. https://discord.com/developers/docs/reference#signed-attachment-cdn-urls */
export const FILE_HOSTS: readonly string[] = ["cdn.discordapp.com", "media.discordapp.net"];

/** `address channel/message/attachment`. */
export const refOf = (message: { id: string; channel_id: string }, file: { id: string; url: string }) =>
  `${file.url} ${message.channel_id}/${message.id}/${file.id}`;

interface Deps {
  apis: Apis;
  /** Hosts that are asked, over https; `host:port` or an origin with its protocol. */
  hosts: readonly string[];
}

export async function fetchFile(
  { apis, hosts }: Deps,
  binding: Binding,
  ref: string,
  limit: number,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const [address = "", place = ""] = ref.split(" ", 2);
  // The one names the file as the other does, or it is no ref of ours.
  if (!address.includes(`/${place.split("/")[2]}/`)) throw gone();
  const first = await get(allowed(address, hosts), signal);
  if (first.status !== 403 && first.status !== 404) return await read(first, limit);
  await first.body?.cancel();
  const second = await get(allowed(await freshAddress(apis, binding, place, signal), hosts), signal);
  return await read(second, limit);
}

const get = (url: URL, signal: AbortSignal) => fetch(url, { signal, redirect: "error" });

/** An address comes from a message: nothing but Discord's own hosts is ever asked. */
function allowed(address: string, hosts: readonly string[]): URL {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  const known = url && (hosts.includes(url.origin) || (url.protocol === "https:" && hosts.includes(url.host)));
  if (!known) throw new ChannelError("refused", "This file is not at Discord.", "peer");
  return url;
}

async function freshAddress(apis: Apis, binding: Binding, place: string, signal: AbortSignal): Promise<string> {
  const [channel, message, attachment] = place.split("/");
  if (!isSnowflake(channel) || !isSnowflake(message)) throw gone();
  const found = await apis.call(binding, signal, { method: "get", path: `/channels/${channel}/messages/${message}` });
  const files = (found as { attachments?: { id?: unknown; url?: unknown }[] }).attachments ?? [];
  const url = files.find(({ id }) => id === attachment)?.url;
  if (typeof url !== "string") throw gone();
  return url;
}

async function read(response: Response, limit: number): Promise<Uint8Array> {
  if (response.status === 403 || response.status === 404) throw gone();
  if (!response.ok) throw new ChannelError("unreachable", `Discord answered ${response.status} for a file.`, "peer");
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of response.body ?? []) {
    bytes += piece.byteLength;
    if (bytes > limit) throw tooLarge(limit);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

const gone = () => new ChannelError("refused", "Discord does not have this file any more.", "peer");
const tooLarge = (limit: number) =>
  new ChannelError("refused", `The file is larger than ${Math.floor(limit / 1_000_000)} MB.`, "peer");
