// Packs a folder into the bytes of a backup, a gzipped tar that may be encrypted, and reads such bytes again. Both are streams.

import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pipeline, Readable } from "node:stream";
import { pipeline as finished } from "node:stream/promises";
import { createGunzip, createGzip, gunzipSync } from "node:zlib";
import { StartError } from "../../kernel/errors.ts";
import { AGE_HEADER, decryptBytes, decryptWith, encryptTo } from "./encryption.ts";

/** What the backup is of. */
export const DESCRIPTION_FILE = "berth-backup.json";
export const DATABASE_FILE = "berth.db";
const BUFFER_BYTES = 256 * 1024;
/** What is larger when it is unzipped goes through the disk. */
const MAX_IN_MEMORY_BYTES = 64 * 1024 * 1024;

export async function* packFolder(folder: string, recipients: readonly string[]): AsyncGenerator<Uint8Array, void> {
  const { packTar } = await import("modern-tar/fs");
  // The fastest level: at the next ones a backup takes twice as long and is a third smaller.
  const gzip = createGzip({ level: 1, chunkSize: BUFFER_BYTES });
  // The reader of `gzip` gets the errors of both.
  const packed = pipeline(packTar(folder), gzip, () => undefined);
  try {
    if (recipients.length === 0) yield* gzip;
    else yield* await encryptTo(recipients, streamOf(gzip));
  } finally {
    packed.destroy();
  }
}

export type ContentKind = "database" | "archive" | "encrypted" | "other";

/** What a file is, by its first bytes. */
export function kindOf(start: Uint8Array): ContentKind {
  const text = Buffer.from(start.subarray(0, 32)).toString("latin1");
  if (text.startsWith("SQLite format 3\0")) return "database";
  if (text.startsWith(AGE_HEADER)) return "encrypted";
  return start[0] === 0x1f && start[1] === 0x8b ? "archive" : "other";
}

/** Other entries are left out: an archive may have been changed on its way. */
const isOurs = (name: string) =>
  /^(?:cells\/\d+\/)?(?:berth\.db|berth-backup\.json|segment\.json|pages|(?:uploads|knowledge|backups)\/.*)$/.test(
    name,
  );

/** The entries of an archive, to be read one after the other. Throws StartError if it is damaged. */
export async function* readEntries(bytes: ReadableStream<Uint8Array>, identities: readonly string[]) {
  const { createTarDecoder } = await import("modern-tar");
  for await (const { header, body } of (await unzipped(bytes, identities)).pipeThrough(
    createTarDecoder({ strict: true }),
  ))
    yield { name: header.name, body };
}

/** Unpacks an archive into a new folder. Throws StartError if it is damaged. */
export async function unpackInto(folder: string, bytes: ReadableStream<Uint8Array>, identities: readonly string[]) {
  const { unpackTar } = await import("modern-tar/fs");
  const target = unpackTar(folder, {
    strict: true,
    fmode: 0o600,
    dmode: 0o700,
    filter: ({ name, type }) => (type === "file" && isOurs(name)) || type === "directory",
  });
  await finished(Readable.fromWeb(await unzipped(bytes, identities)), target);
}

/**
 * The same for an archive that is in memory. Each part of it that leaves this thread, for the disk or for zlib, waits for its turn on a busy
 * machine, and a restore unpacks thousands of small archives.
 */
export async function unpackBytesInto(folder: string, bytes: Uint8Array, identities: readonly string[]): Promise<void> {
  const zipped = identities.length === 0 ? bytes : await decryptBytes(identities, bytes);
  // RFC 1952, section 2.3.1: the last four bytes are the size of what was zipped.
  const size =
    zipped.length < 4
      ? 0
      : Buffer.from(zipped.buffer, zipped.byteOffset, zipped.length).readUInt32LE(zipped.length - 4);
  if (size > MAX_IN_MEMORY_BYTES) return unpackInto(folder, new Blob([zipped]).stream(), []);
  const { unpackTar } = await import("modern-tar");
  const tar = gunzipSync(zipped, { maxOutputLength: MAX_IN_MEMORY_BYTES });
  for (const { header, data } of await unpackTar(tar, { strict: true })) {
    const { name, type } = header;
    if (type !== "file" || !isOurs(name) || !data) continue;
    if (name.split("/").includes("..")) throw new Error(`${name} is outside of the archive`);
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(path, data, { mode: 0o600 });
  }
}

async function unzipped(
  bytes: ReadableStream<Uint8Array>,
  identities: readonly string[],
): Promise<ReadableStream<Uint8Array>> {
  const plain = identities.length === 0 ? bytes : await decryptWith(identities, bytes);
  return streamOf(pipeline(Readable.fromWeb(plain), createGunzip({ chunkSize: BUFFER_BYTES }), () => undefined));
}

/** Bun's `Readable.toWeb` reads ahead without a limit if the reader is slow; this reads what is asked for. */
function streamOf(source: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  const iterator = source[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await iterator.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      async cancel() {
        await iterator.return?.();
      },
    },
    { highWaterMark: 0 },
  );
}

/** Errors of unpacking are sentences; those of the system and our own stay. */
export function toDamaged(what: string, error: unknown): unknown {
  if (error instanceof StartError) return error;
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (/^E[A-Z0-9]+$/.test(code)) return error;
  const reason = error instanceof Error ? error.message.replace(/\s+/g, " ") : String(error);
  return new StartError(`${what} is damaged (${reason}). Choose another one.`, { cause: error });
}
