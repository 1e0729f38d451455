// Reads the header by which a buyer pays (x402 version 2, scheme `exact`, EIP-3009). Everything in it is the buyer's claim.

import type { Address, Hex } from "viem";

export interface Payment {
  network: string;
  asset: string;
  /** Lower case. */
  payer: string;
  /** Lower case. */
  nonce: Hex;
  /** Epoch seconds. */
  validBefore: number;
  /** What the protocol's library checks. */
  payload: {
    signature: Hex;
    authorization: {
      from: Address;
      to: Address;
      value: string;
      validAfter: string;
      validBefore: string;
      nonce: Hex;
    };
  };
}

const MAX_LENGTH = 16_384;
const ADDRESS = /^0x[0-9a-f]{40}$/i;
const BYTES_32 = /^0x[0-9a-f]{64}$/i;
/** The most that is exact as a number and as a time. */
const NUMBER = /^\d{1,78}$/;
const SECONDS = /^\d{1,11}$/;
/** A contract wallet's may be longer than the 65 bytes of a key's. */
const SIGNATURE = /^0x(?:[0-9a-f]{2}){65,4096}$/i;

type Fields = Readonly<Record<string, unknown>>;
const isObject = (value: unknown): value is Fields => typeof value === "object" && value !== null;
const hex = (text: string): Hex => `0x${text.slice(2).toLowerCase()}`;

/** Undefined for anything that is not such a payment. */
export function readPayment(header: string): Payment | undefined {
  if (header.length > MAX_LENGTH) return undefined;
  const { x402Version, accepted, payload } = parse(header);
  if (x402Version !== 2 || !isObject(accepted) || !isObject(payload) || !isObject(payload.authorization))
    return undefined;
  if (accepted.scheme !== "exact") return undefined;
  const { network, asset } = accepted;
  const { from, to, value, validAfter, validBefore, nonce } = payload.authorization;
  const matching = (pattern: RegExp, text: unknown): text is string => typeof text === "string" && pattern.test(text);
  if (typeof network !== "string" || !matching(ADDRESS, asset)) return undefined;
  if (!matching(ADDRESS, from) || !matching(ADDRESS, to) || !matching(BYTES_32, nonce)) return undefined;
  if (!matching(NUMBER, value) || !matching(SECONDS, validAfter) || !matching(SECONDS, validBefore)) return undefined;
  if (!matching(SIGNATURE, payload.signature)) return undefined;
  return {
    ...{ network, asset, payer: from.toLowerCase(), nonce: hex(nonce), validBefore: Number(validBefore) },
    payload: {
      signature: hex(payload.signature),
      authorization: { from: hex(from), to: hex(to), value, validAfter, validBefore, nonce: hex(nonce) },
    },
  };
}

function parse(header: string): Fields {
  try {
    const value: unknown = JSON.parse(Buffer.from(header, "base64").toString("utf8"));
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}
