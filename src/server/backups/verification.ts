// Reads a stored backup back and compares it with what was sent; with a key, or where none is needed, it also unpacks it.

import type { Verification } from "../../../plugins/fleet/backups/backup-work.ts";
import { StartError } from "../../kernel/errors.ts";
import { readEntries, toDamaged } from "./archive.ts";
import type { BackupStorage } from "./place/storage.ts";

export interface Expected {
  bytes: number;
  sha256: string;
  /** The checksum of each database by its name in the archive; those are of copies that SQLite has checked. */
  databases: ReadonlyMap<string, string>;
}

/**
 * Throws StartError if the backup is not the one that was sent.
 *
 * @param identities undefined: it can't be decrypted here
 */
export async function verifyBackup(
  storage: BackupStorage,
  name: string,
  expected: Expected,
  identities: readonly string[] | undefined,
): Promise<Verification> {
  const address = storage.addressOf(name);
  const stored = await storage.read(name);
  if (!stored) throw new StartError(`${address} is missing right after it was written.`);
  const hash = new Bun.CryptoHasher("sha256");
  const bytes = hashed(stored.body, hash);
  try {
    if (identities !== undefined) await compareDatabases(bytes, identities, expected.databases);
    for await (const _ of bytes);
  } catch (error) {
    throw toDamaged(address, error);
  }
  if (stored.bytes !== expected.bytes || hash.digest("hex") !== expected.sha256)
    throw new StartError(`${address} is not what was written to it. Check the disk or the service that keeps it.`);
  return identities === undefined ? "checksum" : "opened";
}

async function compareDatabases(
  bytes: ReadableStream<Uint8Array>,
  identities: readonly string[],
  databases: Expected["databases"],
): Promise<void> {
  const missing = new Map(databases);
  for await (const { name, body } of readEntries(bytes, identities)) {
    const wanted = databases.get(name);
    const hash = new Bun.CryptoHasher("sha256");
    for await (const chunk of body) if (wanted !== undefined) hash.update(chunk);
    if (wanted === undefined) continue;
    if (hash.digest("hex") !== wanted) throw new Error(`${name} is not the copy that was packed`);
    missing.delete(name);
  }
  if (missing.size > 0) throw new Error(`${[...missing.keys()].join(", ")} is not in it`);
}

/** Passes the bytes on, which may be read by one reader after another. */
function hashed(source: ReadableStream<Uint8Array>, hash: Bun.CryptoHasher): ReadableStream<Uint8Array> {
  const reader = source.getReader();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await reader.read();
        if (done) return controller.close();
        hash.update(value);
        controller.enqueue(value);
      },
      cancel: () => reader.cancel(),
    },
    { highWaterMark: 0 },
  );
}
