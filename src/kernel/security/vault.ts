// Seals secrets: one root key, a key derived from it per purpose, and every sealed text bound to its place.

import { createCipheriv, createDecipheriv, hkdfSync, randomBytes, timingSafeEqual } from "node:crypto";
import { closeSync, fstatSync, fsyncSync, mkdirSync, openSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { StartError } from "../errors.ts";
import type { Log } from "../telemetry/log.ts";

/** What went wrong with a key or a sealed text. Internal: its message is for the log, never for a caller. */
export class VaultError extends Error {
  override readonly name = "VaultError";
}

export interface Vault {
  /** Names the key that new texts are sealed under; the second part of each. */
  readonly keyId: string;
  /**
   * AES-256-GCM, with a fresh nonce. `context` says where the text belongs (`agent:<id>:credential:provider_1`);
   * it is authenticated, not stored, so a sealed text moved to another row does not open.
   * Returns `v1.<key id>.<base64url of nonce, ciphertext, tag>`.
   */
  seal(plaintext: string, context: string): string;
  /** The plaintext. Throws VaultError when the text was changed, belongs elsewhere, or its key is not here. */
  open(sealed: string, context: string): string;
  /** True for a text sealed under the previous key: seal it again to finish a rotation. */
  isStale(sealed: string): boolean;
  /** 32 bytes for one purpose (HKDF-SHA256, RFC 5869). The same array each time: don't write to it. */
  deriveKey(purpose: string): Uint8Array;
  /** HMAC-SHA256 under the purpose's key, as 43 characters of base64url. */
  sign(purpose: string, data: string | Uint8Array): string;
  /** Whether `signature` is that of `data`; takes the same time wherever they differ. */
  verify(purpose: string, data: string | Uint8Array, signature: string): boolean;
  /** Names the root key without telling anything about it, for the database to recognise it by. */
  fingerprint(): string;
  /** The same of the previous key, where there is one. */
  previousFingerprint(): string | undefined;
}

type RootKey = Uint8Array | string;

const VERSION = "v1";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** `previous` opens what it once sealed, and nothing else: nothing new is sealed or signed with it. */
export function createVault({ key, previous }: { key: RootKey; previous?: RootKey | undefined }): Vault {
  const currentKeys = createKeyRing(key);
  const previousKeys = previous === undefined ? undefined : createKeyRing(previous);
  const findKeyRing = (id: string) => [currentKeys, previousKeys].find((candidate) => candidate?.id === id);

  return {
    keyId: currentKeys.id,
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

/** A root key with all that comes from it. */
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
    throw new VaultError("A sealed text has no known form.");
  return { id, payload };
}

/**
 * The root key of an installation without SECRET_KEY: 64 hex characters in `<dataDir>/secret.key`, made at the first
 * start for its owner alone. The log is warned when others may read the file. Throws StartError when the file can't be
 * made or read, or holds something else.
 */
export function loadOrCreateSecretKey(dataDir: string, log: Pick<Log, "warn">): string {
  const path = join(dataDir, "secret.key");
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    return createKeyFile(path) ?? readKeyFile(path, log);
  } catch (error) {
    if (error instanceof StartError) throw error;
    const code = error instanceof Error && "code" in error ? ` (${error.code})` : "";
    throw new StartError(`${path} can't be read or made${code}.`, { cause: error });
  }
}

/** Undefined when the file is there already; `wx` lets only one of two starts make it. */
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
    fsyncSync(file); // Nothing may be sealed under a key that a power cut takes away.
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
