// Derives ids from the keys of calls, so that a call which is repeated after a crash finds what it has made.

/**
 * A UUIDv7 (RFC 9562, section 5.7) that is the same whenever this call runs: the time of the turn's id, with which keys
 * begin, and a hash in place of random bits.
 */
export function idOfCall(callKey: string): string {
  const hash = new Bun.CryptoHasher("sha256").update(callKey).digest("hex");
  const variant = "89ab"[Number.parseInt(hash.charAt(3), 16) % 4];
  return `${callKey.slice(0, 13)}-7${hash.slice(0, 3)}-${variant}${hash.slice(4, 7)}-${hash.slice(7, 19)}`;
}
