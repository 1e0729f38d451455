// Random tokens, and the digest under which a token is stored so that the database never holds the token itself.

/** A URL-safe token (base64url) of so many random bytes; 32 bytes are 256 bits in 43 characters. */
export const randomToken = (bytes = 32): string =>
  Buffer.from(crypto.getRandomValues(new Uint8Array(bytes))).toString("base64url");

/** The SHA-256 digest of a text, as 64 hex digits. */
export const sha256Hex = (text: string): string => new Bun.CryptoHasher("sha256").update(text).digest("hex");
