// Email addresses: one form for comparing, and what is accepted at all.
import { invalid } from "../../src/errors.ts";

const SHAPE =
  /^[^\s\p{C}@<>(),;:\\"[\]]+@(?:[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]*[\p{L}\p{M}\p{N}])?\.)+[\p{L}\p{M}\p{N}-]{2,}$/u;

/** Addresses Berth makes for wallets; nobody can sign up with one. Contract §3. */
const RESERVED_DOMAIN = "@wallet.invalid";

/** Trimmed, NFC, lower case: two spellings of one address compare equal. */
export const normalizeEmail = (email: string) => email.trim().normalize("NFC").toLowerCase();

/** The normalised address, or a 400 that says what is wrong. At most 254 characters (RFC 5321 §4.5.3.1.3). */
export function requireEmail(text: string): string {
  const email = normalizeEmail(text);
  if (email.length > 254 || !SHAPE.test(email)) {
    throw invalid({ path: "email", message: "This is not an email address." }, "INVALID_EMAIL");
  }
  if (email.endsWith(RESERVED_DOMAIN)) {
    throw invalid({ path: "email", message: "Addresses of this domain are reserved for wallets." }, "INVALID_EMAIL");
  }
  return email;
}
