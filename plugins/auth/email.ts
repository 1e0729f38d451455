// Email addresses: one form for comparing, and what is accepted at all.
import { domainToASCII, domainToUnicode } from "node:url";
import { WALLET_EMAIL_DOMAIN } from "../../src/kernel/config/config.ts";
import { invalidInput } from "../../src/kernel/errors.ts";

const EMAIL_PATTERN =
  /^[^\s\p{C}@<>(),;:\\"[\]]+@(?:[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]*[\p{L}\p{M}\p{N}])?\.)+[\p{L}\p{M}\p{N}-]{2,}$/u;

/** Trimmed, NFC, lower case: two spellings of one address compare equal. */
export const normalizeEmail = (email: string) => email.trim().normalize("NFC").toLowerCase();

/** How the addresses end that Berth makes for accounts that hold agents until somebody claims them. */
export const PLACEHOLDER_DOMAIN = "@unclaimed.invalid";

/**
 * Whether Berth made this (normalised) address, for a wallet or for agents that nobody has claimed: nobody reads mail
 * there, and nobody can sign up with it.
 */
export const isInternalEmail = (email: string) =>
  email.endsWith(WALLET_EMAIL_DOMAIN) || email.endsWith(PLACEHOLDER_DOMAIN);

/** Mail goes to what a domain means (UTS 46): wide letters, say, would make a second address of one mailbox. */
function isCanonicalDomain(domain: string): boolean {
  const ascii = domainToASCII(domain);
  return ascii !== "" && (ascii === domain || domainToUnicode(ascii) === domain);
}

/** The normalised form of anything that looks like an address, or a 400. At most 254 characters (RFC 5321 §4.5.3.1.3). */
export function requireEmailSyntax(text: string): string {
  const email = normalizeEmail(text);
  if (email.length > 254 || !EMAIL_PATTERN.test(email) || !isCanonicalDomain(email.slice(email.indexOf("@") + 1))) {
    throw invalidInput({ path: "email", message: "This is not an email address." }, "INVALID_EMAIL");
  }
  return email;
}

/** The normalised form of an address that somebody may have, or a 400 that says what is wrong. */
export function requireEmail(text: string): string {
  const email = requireEmailSyntax(text);
  if (isInternalEmail(email)) {
    throw invalidInput({ path: "email", message: "Addresses of this domain are reserved." }, "INVALID_EMAIL");
  }
  return email;
}
