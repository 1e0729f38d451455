// Downloads files that people sent. Their addresses at Discord's hosts expire; the message then has a fresh one.

import { readLimitedBody } from "../../../src/kernel/util/limited-body.ts";
import { type Binding, ChannelError } from "../../port.ts";
import { fileGoneError, fileTooLargeError } from "../../shared/file-errors.ts";
import { isSnowflake } from "../ids.ts";
import type { RestClients } from "./rest-clients.ts";

/** The hosts on which Discord keeps files. https://discord.com/developers/docs/reference#signed-attachment-cdn-urls */
export const FILE_HOSTS: readonly string[] = ["cdn.discordapp.com", "media.discordapp.net"];

/** `address channel/message/attachment`. */
export const attachmentRef = (message: { id: string; channel_id: string }, file: { id: string; url: string }) =>
  `${file.url} ${message.channel_id}/${message.id}/${file.id}`;

interface Deps {
  clients: RestClients;
  /** Hosts, with their port if any, that may be called over https, and origins. */
  allowedFileHosts: readonly string[];
}

export async function downloadFile(
  { clients, allowedFileHosts }: Deps,
  binding: Binding,
  ref: string,
  limit: number,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const [address = "", location = ""] = ref.split(" ", 2);
  // Both halves of a ref made by `attachmentRef` name the same file.
  if (!address.includes(`/${location.split("/")[2]}/`)) throw fileGoneError("Discord");
  const first = await fetchUrl(requireAllowedUrl(address, allowedFileHosts), signal);
  if (first.status !== 403 && first.status !== 404) return await readBody(first, limit);
  await first.body?.cancel();
  const second = await fetchUrl(
    requireAllowedUrl(await freshAddress(clients, binding, location, signal), allowedFileHosts),
    signal,
  );
  return await readBody(second, limit);
}

const fetchUrl = (url: URL, signal: AbortSignal) => fetch(url, { signal, redirect: "error" });

/** The address comes from a message, so only Discord's hosts are allowed. */
function requireAllowedUrl(address: string, allowedFileHosts: readonly string[]): URL {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  const isAllowed =
    url &&
    (allowedFileHosts.includes(url.origin) || (url.protocol === "https:" && allowedFileHosts.includes(url.host)));
  if (!isAllowed) throw new ChannelError("refused", "This file is not at Discord.", "peer");
  return url;
}

async function freshAddress(
  clients: RestClients,
  binding: Binding,
  location: string,
  signal: AbortSignal,
): Promise<string> {
  const [channel, message, attachment] = location.split("/");
  if (!isSnowflake(channel) || !isSnowflake(message)) throw fileGoneError("Discord");
  const found = await clients.call(binding, signal, {
    method: "get",
    path: `/channels/${channel}/messages/${message}`,
  });
  const files = (found as { attachments?: { id?: unknown; url?: unknown }[] }).attachments ?? [];
  const url = files.find(({ id }) => id === attachment)?.url;
  if (typeof url !== "string") throw fileGoneError("Discord");
  return url;
}

async function readBody(response: Response, limit: number): Promise<Uint8Array> {
  if (response.status === 403 || response.status === 404) throw fileGoneError("Discord");
  if (!response.ok) throw new ChannelError("unreachable", `Discord answered ${response.status} for a file.`, "peer");
  const bytes = await readLimitedBody(response, limit);
  if (!bytes) throw fileTooLargeError(limit);
  return bytes;
}
