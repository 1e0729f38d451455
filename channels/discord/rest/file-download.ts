// Files that people sent: they lie at Discord's own hosts under addresses that expire, and the message knows the fresh one.
import { type Binding, ChannelError } from "../../port.ts";
import { isSnowflake } from "../ids.ts";
import type { RestClients } from "./rest-clients.ts";

/** Where Discord keeps files. https://discord.com/developers/docs/reference#signed-attachment-cdn-urls */
export const FILE_HOSTS: readonly string[] = ["cdn.discordapp.com", "media.discordapp.net"];

/** `address channel/message/attachment`. */
export const attachmentRef = (message: { id: string; channel_id: string }, file: { id: string; url: string }) =>
  `${file.url} ${message.channel_id}/${message.id}/${file.id}`;

interface Deps {
  clients: RestClients;
  /** Hosts that are asked, over https; `host:port` or an origin with its protocol. */
  allowedFileHosts: readonly string[];
}

export async function downloadFile(
  { clients, allowedFileHosts }: Deps,
  binding: Binding,
  ref: string,
  limit: number,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const [address = "", place = ""] = ref.split(" ", 2);
  // The one names the file as the other does, or it is no ref of ours.
  if (!address.includes(`/${place.split("/")[2]}/`)) throw fileGone();
  const first = await fetchUrl(requireAllowedUrl(address, allowedFileHosts), signal);
  if (first.status !== 403 && first.status !== 404) return await readBody(first, limit);
  await first.body?.cancel();
  const second = await fetchUrl(
    requireAllowedUrl(await freshAddress(clients, binding, place, signal), allowedFileHosts),
    signal,
  );
  return await readBody(second, limit);
}

const fetchUrl = (url: URL, signal: AbortSignal) => fetch(url, { signal, redirect: "error" });

/** An address comes from a message: nothing but Discord's own hosts is ever asked. */
function requireAllowedUrl(address: string, allowedFileHosts: readonly string[]): URL {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  const known =
    url &&
    (allowedFileHosts.includes(url.origin) || (url.protocol === "https:" && allowedFileHosts.includes(url.host)));
  if (!known) throw new ChannelError("refused", "This file is not at Discord.", "peer");
  return url;
}

async function freshAddress(
  clients: RestClients,
  binding: Binding,
  place: string,
  signal: AbortSignal,
): Promise<string> {
  const [channel, message, attachment] = place.split("/");
  if (!isSnowflake(channel) || !isSnowflake(message)) throw fileGone();
  const found = await clients.call(binding, signal, {
    method: "get",
    path: `/channels/${channel}/messages/${message}`,
  });
  const files = (found as { attachments?: { id?: unknown; url?: unknown }[] }).attachments ?? [];
  const url = files.find(({ id }) => id === attachment)?.url;
  if (typeof url !== "string") throw fileGone();
  return url;
}

async function readBody(response: Response, limit: number): Promise<Uint8Array> {
  if (response.status === 403 || response.status === 404) throw fileGone();
  if (!response.ok) throw new ChannelError("unreachable", `Discord answered ${response.status} for a file.`, "peer");
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > limit) throw fileTooLarge(limit);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

const fileGone = () => new ChannelError("refused", "Discord does not have this file any more.", "peer");
const fileTooLarge = (limit: number) =>
  new ChannelError("refused", `The file is larger than ${Math.floor(limit / 1_000_000)} MB.`, "peer");
