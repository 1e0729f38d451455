// A Sign-In with Ethereum message (EIP-4361): read strictly, and held against where and when it arrived.
import type { Address } from "viem";
import { AppError } from "../../../src/kernel/errors.ts";
import { MINUTE } from "../../../src/kernel/util/time.ts";

/** Bytes are text here: what is longer is not read. */
const MAX_LENGTH = 16_384;
/** How far ahead of ours the clock of a wallet may be. */
const CLOCK_SKEW = MINUTE;

/** What of a good message is still needed. */
export interface ParsedSiweMessage {
  /** With its checksum (EIP-55). */
  address: Address;
  nonce: string;
  /** Epoch ms. */
  issuedAt: number;
}

export interface SiweExpectations {
  /** The message must be for this origin. */
  baseUrl: string;
  chainId: number;
}

/**
 * Reads a message and checks all of it but nonce and signature. Throws 401 `INVALID_MESSAGE`, which says what to change.
 * The parser is loaded at the first message.
 */
export async function parseSiweMessage(
  text: string,
  { baseUrl, chainId }: SiweExpectations,
): Promise<ParsedSiweMessage> {
  const message = await parse(text);
  const ownUrl = new URL(baseUrl);
  const now = Date.now();
  const issuedAt = Date.parse(message.issuedAt ?? "");

  // Each is put so that a date that can't be read fails.
  if (message.domain !== ownUrl.host)
    throw invalidMessage(`The message is for another domain. This is ${ownUrl.host}.`);
  if (message.scheme !== undefined && `${message.scheme}:` !== ownUrl.protocol)
    throw invalidMessage("The message has another scheme.");
  if (URL.parse(message.uri)?.origin !== ownUrl.origin)
    throw invalidMessage(`The message has another URI. This is ${ownUrl.origin}.`);
  if (message.version !== "1") throw invalidMessage("The message must have version 1.");
  if (message.chainId !== chainId)
    throw invalidMessage(`The message is for another chain. Sign in on chain ${chainId}.`);
  if (!(issuedAt <= now + CLOCK_SKEW)) throw invalidMessage("The message says that it comes from the future.");
  if (message.expirationTime !== undefined && !(Date.parse(message.expirationTime) > now)) {
    throw invalidMessage("The message has expired. Sign a new one.");
  }
  if (message.notBefore !== undefined && !(Date.parse(message.notBefore) <= now)) {
    throw invalidMessage("The message is not valid yet.");
  }
  return { address: `0x${message.address.slice(2)}`, nonce: message.nonce, issuedAt };
}

async function parse(text: string) {
  if (text.length > MAX_LENGTH) throw invalidMessage("The message is too long.");
  const { SiweMessage } = await import("siwe");
  try {
    return new SiweMessage(text);
  } catch (cause) {
    throw invalidMessage("This is no Sign-In with Ethereum message: version 1, with the address in mixed case.", cause);
  }
}

const invalidMessage = (text: string, cause?: unknown) => new AppError(401, "INVALID_MESSAGE", text, {}, { cause });
