// Keeps whom the service was asked to forget in a file beside the database, which a restored backup does not replace: hashes only.

import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import {
  appendFileSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import type { KeyRotationResult } from "../../../src/kernel/security/key-rotation.ts";
import { ERASURES_FILE } from "../settings.ts";
import type { Subject } from "./subject.ts";

/** One erasure. Who it was can be found only by trying everybody whom the database knows. */
export interface ListedErasure {
  person: string;
  channel: string;
  /** Undefined: erased from all agents. */
  agentId?: string | undefined;
  /** Epoch ms. */
  at: number;
}

const CONTEXT = "erasures:key";
const HEADER = "berth.erasures/1";

export type ErasureList = ReturnType<typeof createErasureList>;

export function createErasureList({ config, vault }: Pick<Kernel, "config" | "vault">) {
  const path = join(config.dataDir, ERASURES_FILE);
  let key: Buffer | undefined;

  const lines = (): string[] => (existsSync(path) ? readFileSync(path, "utf8").split("\n").filter(Boolean) : []);
  const sealedKey = () => {
    const [first] = lines();
    return first === undefined ? undefined : String((JSON.parse(first) as { key: string }).key);
  };
  const headerOf = (secret: Buffer) =>
    JSON.stringify({ format: HEADER, key: vault.seal(secret.toString("base64url"), CONTEXT) });

  /** Writes all lines anew, as a whole. */
  function replace(all: readonly string[]): void {
    mkdirSync(config.dataDir, { recursive: true, mode: 0o700 });
    writeFileSync(`${path}.unfinished`, `${all.join("\n")}\n`, { mode: 0o600, flush: true });
    renameSync(`${path}.unfinished`, path);
  }

  function openKey(): Buffer {
    if (key) return key;
    const sealed = sealedKey();
    if (sealed !== undefined) {
      key = Buffer.from(vault.open(sealed, CONTEXT), "base64url");
      return key;
    }
    key = randomBytes(32);
    replace([headerOf(key)]);
    return key;
  }

  const hmac = (purpose: string, text: string) =>
    createHmac("sha256", openKey()).update(`${purpose}\n${text}`).digest();

  return {
    /** For the rotation of the root key. */
    async reseal(): Promise<KeyRotationResult> {
      const sealed = sealedKey();
      if (sealed === undefined || !vault.isStale(sealed)) return { resealed: 0, unreadable: 0 };
      try {
        replace([headerOf(openKey()), ...lines().slice(1)]);
        return { resealed: 1, unreadable: 0 };
      } catch {
        return { resealed: 0, unreadable: 1 };
      }
    },
    /** What stands for a person where nobody may be named. */
    hashOf: ({ channel, id }: Pick<Subject, "channel" | "id">) =>
      hmac("person", `${channel}\n${id}`).toString("base64url"),
    sign: (text: string) => hmac("receipt", text).toString("base64url"),
    verify(text: string, signature: string): boolean {
      // As texts, since several of them decode to the same bytes.
      const [expected, given] = [Buffer.from(hmac("receipt", text).toString("base64url")), Buffer.from(signature)];
      return expected.length === given.length && timingSafeEqual(expected, given);
    },
    /** It is on the disk when this returns. A repeated one does no harm. */
    add(erasure: ListedErasure): void {
      openKey();
      appendFileSync(path, `${JSON.stringify(erasure)}\n`, { mode: 0o600 });
      const descriptor = openSync(path, "r");
      fsyncSync(descriptor);
      closeSync(descriptor);
    },
    all: (): ListedErasure[] =>
      lines()
        .slice(1)
        .flatMap((line) => {
          try {
            return [JSON.parse(line) as ListedErasure];
          } catch {
            return []; // A kill has cut the last line; its erasure has not ended, and adds it again.
          }
        }),
  };
}
