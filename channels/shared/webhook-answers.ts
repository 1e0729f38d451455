// Compares secrets in constant time, and makes refusals in Berth's error shape, for the webhooks of all platforms.
import { timingSafeEqual } from "node:crypto";

const sha256 = (text: string) => new Bun.CryptoHasher("sha256").update(text).digest();

/** Compares in a time that depends on neither value nor its length. An empty `secret` equals nothing. */
export const isEqualSecret = (given: string, secret: string): boolean =>
  secret !== "" && timingSafeEqual(sha256(given), sha256(secret));

export const errorResponse = (status: number, code: string, message: string): Response =>
  Response.json({ error: message, message, code }, { status });
