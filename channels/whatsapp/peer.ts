// Formats and parses the adapter's addresses: a number of the business, and a person who wrote to it.
import { ChannelError } from "../port.ts";

export interface Peer {
  /** WhatsApp's id of the business's number. */
  number: string;
  /** A phone number without `+`, or the person's id within this business. */
  person: string;
}

const PEER = /^(\d{5,32}):(\d{5,20}|[A-Z]{2}\.[A-Za-z0-9.]{1,128})$/;

/** `number:person`. */
export const peerId = (number: string, person: string) => `${number}:${person}`;

/** Parses an address made by `peerId`; throws `refused` for any other text. */
export function parsePeer(peer: string): Peer {
  const [, number, person] = PEER.exec(peer) ?? [];
  if (number === undefined || person === undefined) {
    throw new ChannelError("refused", "This is not the address of a WhatsApp conversation.", "peer");
  }
  return { number, person };
}

/**
 * The field that names a person in a call: people who hide their phone number have only the other id.
 * https://developers.facebook.com/documentation/business-messaging/whatsapp/business-scoped-user-ids
 */
export const addressOf = (person: string) => (/^\d+$/.test(person) ? { to: person } : { recipient: person });
