// Signs a file of a release with an Ed25519 key (RFC 8032), so that OpenSSL and any other library can verify it.

import { createPrivateKey, createPublicKey, sign } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";

/** Writes the signature beside the file, as `<path>.sig`: 64 bytes. `pem` is a private key in PKCS #8. Throws for another kind of key. */
export function signFile(path, pem) {
  const key = createPrivateKey(pem);
  if (key.asymmetricKeyType !== "ed25519") throw new Error("The key that signs a release is an Ed25519 key.");
  writeFileSync(`${path}.sig`, sign(null, readFileSync(path), key));
  return `${path}.sig`;
}

/** The public key of a private one, in PEM. */
export const publicKeyOf = (pem) => createPublicKey(createPrivateKey(pem)).export({ type: "spki", format: "pem" });
