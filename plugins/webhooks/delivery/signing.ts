// Creates secrets and signs messages by Standard Webhooks 1.0.
import { randomBytes } from "node:crypto";

const PREFIX = "whsec_";

/** `whsec_` and 32 random bytes in base64. */
export const newSecret = () => PREFIX + randomBytes(32).toString("base64");

/** The headers of one attempt: the message's id, the time of this attempt, and one signature per secret. `now`: epoch ms. */
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

/** Decodes a secret as receivers' libraries do. An operator's secret that is not base64 is used as text. */
function keyOf(secret: string): Uint8Array {
  const encoded = secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret;
  return Buffer.from(encoded, /^[A-Za-z0-9+/]+={0,2}$/.test(encoded) ? "base64" : "utf8");
}
