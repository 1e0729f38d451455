// Formats and parses the adapter's addresses of chats, topics and messages.
import { ChannelError } from "../port.ts";

export interface Peer {
  chat: number;
  /** The topic, in chats that have topics. */
  thread?: number;
  /** Telegram gives groups negative ids. */
  group: boolean;
}

const PEER = /^(-?\d{1,16})(?::(\d{1,16}))?$/;
const MESSAGE = /^(-?\d{1,16}):(\d{1,16})$/;

/** `chat` or `chat:thread`. */
export const peerId = (chat: number, thread?: number) => (thread === undefined ? `${chat}` : `${chat}:${thread}`);

/** Parses an address made by `peerId`; throws `refused` for any other text. */
export function parsePeer(peer: string): Peer {
  const [, chat, thread] = PEER.exec(peer) ?? [];
  if (chat === undefined) throw new ChannelError("refused", "This is not the address of a Telegram chat.", "peer");
  return {
    chat: Number(chat),
    group: chat.startsWith("-"),
    ...(thread === undefined ? {} : { thread: Number(thread) }),
  };
}

/** `chat:message`, because Telegram numbers messages per chat. */
export const messageId = (chat: number, message: number) => `${chat}:${message}`;

/** Telegram's number of a message; undefined if the id is not of that chat. */
export function messageNumber(id: string | undefined, chat: number): number | undefined {
  const [, of, number] = MESSAGE.exec(id ?? "") ?? [];
  return number === undefined || Number(of) !== chat ? undefined : Number(number);
}
