// Addresses of people, and of conversations: a person's address with the thread that the mails belong to.
import { createHash } from "node:crypto";
import { ChannelError, UNPROVEN } from "../port.ts";

/** RFC 5321 without quoted local parts, in lower case; nothing that could end a header or a command. */
const MAIL_ADDRESS =
  /^[a-z0-9\u00a1-\uffff!#$%&'*+/=?^_\x60{|}~.-]{1,64}@(?:[a-z0-9\u00a1-\uffff-]{1,63}\.)+[a-z0-9\u00a1-\uffff-]{1,63}$/;

export const isMailAddress = (text: string): boolean => text.length <= 254 && MAIL_ADDRESS.test(text);

/** A sender whom no trusted server vouches for is another person than the proven one. */
export const senderId = (address: string, isProven: boolean) => (isProven ? address : `${UNPROVEN}${address}`);

export interface Peer {
  address: string;
  /** `p` or `u` (proven or not), and 21 characters of a hash of the thread's first Message-ID. */
  thread: string;
}

export const peerId = ({ address, thread }: Peer) => `${address}/${thread}`;

export function parsePeer(text: string): Peer {
  const [, address = "", thread = ""] = /^(.+)\/([pu][\w-]{21})$/.exec(text) ?? [];
  if (!isMailAddress(address))
    throw new ChannelError("refused", "This is not the address of an email conversation.", "peer");
  return { address, thread };
}

/** The Message-IDs that name the thread of a message (RFC 5322 §3.6.4). */
export interface ThreadIds {
  own: string;
  references: readonly string[];
  inReplyTo: string | undefined;
}

const OWN_ID = /^<berth\.([pu][\w-]{21})\.[\w.-]{1,80}@/;

/**
 * The thread of a message. Mails of Berth carry theirs in their ids, so that an answer to one finds it even if the program
 * names only the mail that it answers. Proven and unproven mails are never in one thread.
 */
export function threadOf({ own, references, inReplyTo }: ThreadIds, isProven: boolean): string {
  const mark = isProven ? "p" : "u";
  const named = [...references, ...(inReplyTo === undefined ? [] : [inReplyTo])];
  const known = named.map((id) => OWN_ID.exec(id)?.[1]).find((thread) => thread?.startsWith(mark));
  return known ?? mark + hashOf(named[0] ?? own);
}

/** The Message-ID of a part of a reply: the same for every try, so that readers' programs can drop a repetition. */
export const outgoingId = (thread: string, message: string, part: number, address: string) =>
  `<berth.${thread}.${hashOf(`${message}/${part}`)}@${address.slice(address.lastIndexOf("@") + 1)}>`;

const hashOf = (text: string) => createHash("sha256").update(text).digest("base64url").slice(0, 21);
