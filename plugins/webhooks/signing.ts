// Standard Webhooks 1.0: secrets, and what is signed with them.
import { randomBytes } from "node:crypto";

const PREFIX = "whsec_";

/** `whsec_` and 32 random bytes in base64. */
export const newSecret = () => PREFIX + randomBytes(32).toString("base64");

/** The headers of one attempt: the same id for each attempt of a message, the time of this one, a signature per secret. */
export function signedHeaders(message: { id: string; body: string }, secrets: readonly string[], now: number) {
  const timestamp = Math.floor(now / 1000);
  const signed = `${message.id}.${timestamp}.${message.body}`;
  const signatures = secrets.map((secret) => `v1,${hmac(keyOf(secret), signed)}`);
  return {
    "webhook-id": message.id,
    "webhook-timestamp": String(timestamp),
    "webhook-signature": signatures.join(" "),
  };
}

const hmac = (key: Uint8Array, text: string) => new Bun.CryptoHasher("sha256", key).update(text).digest("base64");

/** What receivers' libraries make of a secret; an operator's own that is no base64 is taken as the text it is. */
function keyOf(secret: string): Uint8Array {
  const encoded = secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret;
  return Buffer.from(encoded, /^[A-Za-z0-9+/]+={0,2}$/.test(encoded) ? "base64" : "utf8");
}
