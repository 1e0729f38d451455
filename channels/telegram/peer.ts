// The addresses this adapter hands out: a chat, a topic in it, a message in it.
import { ChannelError } from "../port.ts";

export interface Peer {
  chat: number;
  /** The topic, in forums and in private chats with topics. */
  thread?: number;
  /** Telegram gives groups negative ids. */
  group: boolean;
}

const PEER = /^(-?\d{1,16})(?::(\d{1,16}))?$/;
const MESSAGE = /^(-?\d{1,16}):(\d{1,16})$/;

/** `chat` or `chat:thread`. */
export const peerId = (chat: number, thread?: number) => (thread === undefined ? `${chat}` : `${chat}:${thread}`);

/** Reads what `peerId` wrote. */
export function parsePeer(peer: string): Peer {
  const [, chat, thread] = PEER.exec(peer) ?? [];
  if (chat === undefined) throw new ChannelError("refused", "This is not the address of a Telegram chat.", "peer");
  return {
    chat: Number(chat),
    group: chat.startsWith("-"),
    ...(thread === undefined ? {} : { thread: Number(thread) }),
  };
}

/** `chat:message`: Telegram numbers messages per chat, so the number alone names nothing. */
export const messageId = (chat: number, message: number) => `${chat}:${message}`;

/** Telegram's own number of a message, or undefined when this is no message of that chat. */
export function messageNumber(id: string | undefined, chat: number): number | undefined {
  const [, of, number] = MESSAGE.exec(id ?? "") ?? [];
  return number === undefined || Number(of) !== chat ? undefined : Number(number);
}
