// Formats and parses the adapter's addresses of conversations, threads and messages.
import { ChannelError } from "../port.ts";

export interface Peer {
  channel: string;
  /** The timestamp of the message that a thread hangs on. */
  thread?: string;
}

const CHANNEL = "[CDG][A-Z0-9]{6,20}";
const TIMESTAMP = "\\d{10}\\.\\d{6}";
const PEER = new RegExp(`^(${CHANNEL})(?::(${TIMESTAMP}))?$`);
const MESSAGE = new RegExp(`^(${CHANNEL}):(${TIMESTAMP})(?::[\\d.]{1,32})?$`);
const CHANNEL_PATTERN = new RegExp(`^${CHANNEL}$`);
const TIMESTAMP_PATTERN = new RegExp(`^${TIMESTAMP}$`);
const USER_PATTERN = /^[UW][A-Z0-9]{6,20}$/;

export const isChannel = (value: unknown): value is string => typeof value === "string" && CHANNEL_PATTERN.test(value);
/** Whether this is a message's timestamp, which is its id within a conversation. */
export const isTimestamp = (value: unknown): value is string =>
  typeof value === "string" && TIMESTAMP_PATTERN.test(value);
export const isUser = (value: unknown): value is string => typeof value === "string" && USER_PATTERN.test(value);

/** Whether only the bot and one person read this conversation. */
export const isDirect = (channel: string) => channel.startsWith("D");

/** `channel` or `channel:thread`. */
export const peerId = (channel: string, thread?: string) => (thread === undefined ? channel : `${channel}:${thread}`);

/** Parses an address made by `peerId`; throws `refused` for any other text. */
export function parsePeer(peer: string): Peer {
  const [, channel, thread] = PEER.exec(peer) ?? [];
  if (channel === undefined) {
    throw new ChannelError("refused", "This is not the address of a Slack conversation.", "peer");
  }
  return { channel, ...(thread === undefined ? {} : { thread }) };
}

/** `channel:timestamp`; a pressed button adds the time of the press. */
export const messageId = (channel: string, timestamp: string, press?: string) =>
  [channel, timestamp, ...(press === undefined ? [] : [press])].join(":");

/** The timestamp of a message, or of the message of a pressed button; undefined if the id is not of that conversation. */
export function timestampOf(id: string | undefined, channel: string): string | undefined {
  const [, of, timestamp] = MESSAGE.exec(id ?? "") ?? [];
  return of === channel ? timestamp : undefined;
}

/** The lowest timestamp at a time in epoch ms. */
export const timestampAt = (ms: number) => `${Math.floor(ms / 1000)}.000000`;
export const timeOf = (timestamp: string) => Math.floor(Number(timestamp) * 1000);
