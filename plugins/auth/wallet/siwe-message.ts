// Parses Sign-In with Ethereum messages (EIP-4361) strictly, and checks domain, chain and times.
import type { Address } from "viem";
import { AppError } from "../../../src/kernel/errors.ts";
import { MINUTE } from "../../../src/kernel/util/time.ts";

/** In characters; longer messages are refused unparsed. */
const MAX_LENGTH = 16_384;
/** How far ahead of the server's the clock of a wallet may be. */
const CLOCK_SKEW = MINUTE;

/** The fields of a valid message that the sign-in uses. */
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
 * Parses a message and checks everything but nonce and signature. Throws 401 `INVALID_MESSAGE` with the reason. The
 * parser is imported at the first message, to keep the start fast.
 */
export async function parseSiweMessage(
  text: string,
  { baseUrl, chainId }: SiweExpectations,
): Promise<ParsedSiweMessage> {
  const message = await parse(text);
  const ownUrl = new URL(baseUrl);
  const now = Date.now();
  const issuedAt = Date.parse(message.issuedAt ?? "");

  // The comparisons are written so that an invalid date (NaN) fails them.
  if (message.domain !== ownUrl.host)
    throw invalidMessage(`The message is for another domain. This is ${ownUrl.host}.`);
  if (message.scheme !== undefined && `${message.scheme}:` !== ownUrl.protocol)
    throw invalidMessage(`The message has another scheme. This is ${ownUrl.protocol.slice(0, -1)}.`);
  if (URL.parse(message.uri)?.origin !== ownUrl.origin)
    throw invalidMessage(`The message has another URI. This is ${ownUrl.origin}.`);
  if (message.version !== "1") throw invalidMessage("The message must have version 1.");
  if (message.chainId !== chainId)
    throw invalidMessage(`The message is for another chain. Sign in on chain ${chainId}.`);
  if (!(issuedAt <= now + CLOCK_SKEW))
    throw invalidMessage("The message was issued in the future. Check the clock of your device.");
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
    throw invalidMessage("This is not a Sign-In with Ethereum message of version 1 with a checksummed address.", cause);
  }
}

const invalidMessage = (text: string, cause?: unknown) => new AppError(401, "INVALID_MESSAGE", text, {}, { cause });
