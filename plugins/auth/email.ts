// Email addresses: one form for comparing, and what is accepted at all.
import { domainToASCII, domainToUnicode } from "node:url";
import { WALLET_DOMAIN } from "../../src/config.ts";
import { invalid } from "../../src/errors.ts";

const SHAPE =
  /^[^\s\p{C}@<>(),;:\\"[\]]+@(?:[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]*[\p{L}\p{M}\p{N}])?\.)+[\p{L}\p{M}\p{N}-]{2,}$/u;

/** Trimmed, NFC, lower case: two spellings of one address compare equal. */
export const normalizeEmail = (email: string) => email.trim().normalize("NFC").toLowerCase();

/** How the addresses end that Berth makes for accounts that hold agents until somebody claims them. */
export const HOLDER_DOMAIN = "@unclaimed.invalid";

/**
 * Whether Berth made this (normalised) address, for a wallet or for agents that nobody has claimed: nobody reads mail
 * there, and nobody can sign up with it.
 */
export const isInternalEmail = (email: string) => email.endsWith(WALLET_DOMAIN) || email.endsWith(HOLDER_DOMAIN);

/** Mail goes to what a domain means (UTS 46): wide letters, say, would make a second address of one mailbox. */
function isAsMeant(domain: string): boolean {
  const ascii = domainToASCII(domain);
  return ascii !== "" && (ascii === domain || domainToUnicode(ascii) === domain);
}

/** The normalised form of anything that looks like an address, or a 400. At most 254 characters (RFC 5321 §4.5.3.1.3). */
export function requireEmailShape(text: string): string {
  const email = normalizeEmail(text);
  if (email.length > 254 || !SHAPE.test(email) || !isAsMeant(email.slice(email.indexOf("@") + 1))) {
    throw invalid({ path: "email", message: "This is not an email address." }, "INVALID_EMAIL");
  }
  return email;
}

/** The normalised form of an address that somebody may have, or a 400 that says what is wrong. */
export function requireEmail(text: string): string {
  const email = requireEmailShape(text);
  if (isInternalEmail(email)) {
    throw invalid({ path: "email", message: "Addresses of this domain are reserved." }, "INVALID_EMAIL");
  }
  return email;
}
