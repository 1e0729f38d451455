// Normalises email addresses for comparison, and validates them.
import { domainToASCII, domainToUnicode } from "node:url";
import { invalidInput } from "../../src/kernel/errors.ts";

const EMAIL_PATTERN =
  /^[^\s\p{C}@<>(),;:\\"[\]]+@(?:[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]*[\p{L}\p{M}\p{N}])?\.)+[\p{L}\p{M}\p{N}-]{2,}$/u;

/** Trimmed, NFC and in lower case, so that two spellings of one address compare equal. */
export const normalizeEmail = (email: string) => email.trim().normalize("NFC").toLowerCase();

/** The domain of the addresses of accounts that were made by a wallet. */
export const WALLET_EMAIL_DOMAIN = "@wallet.invalid";

/** The domain of the addresses of placeholder accounts. */
export const PLACEHOLDER_DOMAIN = "@unclaimed.invalid";

/**
 * Whether Berth generated this (normalised) address, for a wallet or a placeholder account: it receives no mail, and
 * sign-up refuses it.
 */
export const isInternalEmail = (email: string) =>
  email.endsWith(WALLET_EMAIL_DOMAIN) || email.endsWith(PLACEHOLDER_DOMAIN);

/**
 * Mail servers map domains (UTS 46): without this check full-width letters, say, would give one mailbox a second
 * address.
 */
function isCanonicalDomain(domain: string): boolean {
  const ascii = domainToASCII(domain);
  return ascii !== "" && (ascii === domain || domainToUnicode(ascii) === domain);
}

/** The normalised address; throws 400 if the text is not an address of at most 254 characters (RFC 5321 §4.5.3.1.3). */
export function requireEmailSyntax(text: string): string {
  const email = normalizeEmail(text);
  if (email.length > 254 || !EMAIL_PATTERN.test(email) || !isCanonicalDomain(email.slice(email.indexOf("@") + 1))) {
    throw invalidInput({ path: "email", message: "This is not an email address." }, "INVALID_EMAIL");
  }
  return email;
}

/** As `requireEmailSyntax`, but also throws 400 for the domains that Berth reserves. */
export function requireEmail(text: string): string {
  const email = requireEmailSyntax(text);
  if (isInternalEmail(email)) {
    throw invalidInput({ path: "email", message: "Addresses of this domain are reserved." }, "INVALID_EMAIL");
  }
  return email;
}
