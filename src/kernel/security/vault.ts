// Seals secrets with keys that are derived from one root key, and binds each sealed text to its place in the database.

import { createCipheriv, createDecipheriv, hkdfSync, randomBytes, timingSafeEqual } from "node:crypto";
import { closeSync, fstatSync, fsyncSync, mkdirSync, openSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { StartError } from "../errors.ts";
import type { Log } from "../telemetry/log.ts";

/** A key or a sealed text is not valid. The message is for the log, never for a caller. */
export class VaultError extends Error {
  override readonly name = "VaultError";
}

export interface Vault {
  /** The id of the key that seals new texts; the second part of each sealed text. */
  readonly keyId: string;
  /** The id of the previous key, if there is one. */
  readonly previousKeyId: string | undefined;
  /**
   * Encrypts with AES-256-GCM and a fresh nonce. `context` names the text's place (`agent:<id>:credential:openai`);
   * it is authenticated but not stored, so that a sealed text that was moved to another row can't be opened.
   * Returns `v1.<key id>.<base64url of nonce, ciphertext, tag>`.
   */
  seal(plaintext: string, context: string): string;
  /** Returns the plaintext. Throws VaultError if the text was changed or moved, or if its key is unknown. */
  open(sealed: string, context: string): string;
  /** Whether a text is sealed under the previous key, and must be sealed again to finish a rotation. */
  isStale(sealed: string): boolean;
  /** Derives 32 bytes for one purpose (HKDF-SHA256, RFC 5869). Returns the same array each time: don't change it. */
  deriveKey(purpose: string): Uint8Array;
  /** Returns the HMAC-SHA256 under the purpose's key as 43 characters of base64url. */
  sign(purpose: string, data: string | Uint8Array): string;
  /** Whether `signature` is valid for `data`, compared in constant time. */
  verify(purpose: string, data: string | Uint8Array, signature: string): boolean;
  /** Identifies the root key without revealing it, so that the database can check it. */
  fingerprint(): string;
  /** The same for the previous key, if there is one. */
  previousFingerprint(): string | undefined;
}

type RootKey = Uint8Array | string;

const VERSION = "v1";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** `previous` only opens old texts; it neither seals nor signs. */
export function createVault({ key, previous }: { key: RootKey; previous?: RootKey | undefined }): Vault {
  const currentKeys = createKeyRing(key);
  const previousKeys = previous === undefined ? undefined : createKeyRing(previous);
  const findKeyRing = (id: string) => [currentKeys, previousKeys].find((candidate) => candidate?.id === id);

  return {
    keyId: currentKeys.id,
    previousKeyId: previousKeys?.id,
    seal(plaintext, context) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv("aes-256-gcm", currentKeys.derive("seal"), nonce);
      cipher.setAAD(Buffer.from(`${VERSION}.${currentKeys.id}.${context}`));
      const parts = [nonce, cipher.update(plaintext, "utf8"), cipher.final(), cipher.getAuthTag()];
      return `${VERSION}.${currentKeys.id}.${Buffer.concat(parts).toString("base64url")}`;
    },

    open(sealed, context) {
      const { id, payload } = parseSealed(sealed);
      const keys = findKeyRing(id);
      if (!keys) throw new VaultError(`A text is sealed under key ${id}, which is not here.`);
      const bytes = Buffer.from(payload, "base64url");
      if (bytes.length < NONCE_BYTES + TAG_BYTES) throw new VaultError("A sealed text is too short.");
      try {
        const decipher = createDecipheriv("aes-256-gcm", keys.derive("seal"), bytes.subarray(0, NONCE_BYTES), {
          authTagLength: TAG_BYTES,
        });
        decipher.setAAD(Buffer.from(`${VERSION}.${id}.${context}`));
        decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
        return decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES), undefined, "utf8") + decipher.final("utf8");
      } catch (cause) {
        throw new VaultError("A sealed text was changed, or belongs to another place.", { cause });
      }
    },

    isStale: (sealed) => parseSealed(sealed).id !== currentKeys.id,
    deriveKey: currentKeys.derive,
    sign: (purpose, data) => hmac(currentKeys.derive(purpose), data).digest("base64url"),
    verify(purpose, data, signature) {
      const expected = Buffer.from(hmac(currentKeys.derive(purpose), data).digest("base64url"));
      const received = Buffer.from(signature);
      return received.length === expected.length && timingSafeEqual(received, expected);
    },
    fingerprint: () => currentKeys.fingerprint,
    previousFingerprint: () => previousKeys?.fingerprint,
  };
}

/** Derives and caches keys of a root key, and computes its id and fingerprint. */
function createKeyRing(root: RootKey) {
  if (root.length === 0) throw new VaultError("The secret key is empty.");
  const keys = new Map<string, Uint8Array>();
  const derive = (purpose: string): Uint8Array => {
    let key = keys.get(purpose);
    if (!key) {
      key = new Uint8Array(hkdfSync("sha256", root, "berth", purpose, 32));
      keys.set(purpose, key);
    }
    return key;
  };
  const name = (what: string, length: number) => hmac(derive(what), "berth").digest("hex").slice(0, length);
  return { derive, id: name("key-id", 8), fingerprint: name("fingerprint", 32) };
}

const hmac = (key: Uint8Array, data: string | Uint8Array) => new Bun.CryptoHasher("sha256", key).update(data);

function parseSealed(sealed: string): { id: string; payload: string } {
  const [version, id, payload, ...rest] = sealed.split(".");
  if (version !== VERSION || !id || !payload || rest.length > 0)
    throw new VaultError("A sealed text has an unknown format.");
  return { id, payload };
}

/**
 * Returns the root key of an installation without SECRET_KEY: 64 hex characters in `<dataDir>/secret.key`, created at the
 * first start and readable only by its owner. Logs a warning if others can read the file. Throws StartError if the file
 * can't be created or read, or has other content.
 */
export function loadOrCreateSecretKey(dataDir: string, log: Pick<Log, "warn">): string {
  const path = join(dataDir, "secret.key");
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    return createKeyFile(path) ?? readKeyFile(path, log);
  } catch (error) {
    if (error instanceof StartError) throw error;
    const code = error instanceof Error && "code" in error ? ` (${error.code})` : "";
    throw new StartError(`${path} can't be read or created${code}.`, { cause: error });
  }
}

/** Returns undefined if the file exists. With `wx`, only one of two concurrent starts creates it. */
function createKeyFile(path: string): string | undefined {
  let file: number;
  try {
    file = openSync(path, "wx", 0o600);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return undefined;
    throw error;
  }
  try {
    const key = randomBytes(32).toString("hex");
    writeSync(file, `${key}\n`);
    fsyncSync(file); // Otherwise a power failure could lose the key after texts were sealed under it.
    return key;
  } finally {
    closeSync(file);
  }
}

function readKeyFile(path: string, log: Pick<Log, "warn">): string {
  const file = openSync(path, "r");
  try {
    const key = readFileSync(file, "utf8").trim();
    if (!/^[0-9a-f]{64}$/.test(key)) throw new StartError(`${path} holds no key: 64 hex characters are expected.`);
    if (process.platform !== "win32" && (fstatSync(file).mode & 0o077) !== 0) {
      log.warn(`${path} can be read by others; make it private: chmod 600 ${path}`);
    }
    return key;
  } finally {
    closeSync(file);
  }
}
