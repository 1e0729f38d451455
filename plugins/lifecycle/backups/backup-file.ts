// The file format of backups: a gzipped JSON array with one element per line, written and read as a stream.
import { createReadStream, createWriteStream } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { setImmediate as yieldToEventLoop } from "node:timers/promises";

/** The file is not a complete, unchanged backup. */
export class DamagedFile extends Error {
  override readonly name = "DamagedFile";
}

/** Loaded with the first file: together they take about 10 ms. */
async function loadStreams() {
  const [{ createGunzip, createGzip }, { pipeline: pipe, Readable }, { pipeline }] = await Promise.all([
    import("node:zlib"),
    import("node:stream"),
    import("node:stream/promises"),
  ]);
  return { createGunzip, createGzip, pipe, pipeline, Readable };
}

/**
 * Writes the elements (each JSON text on one line) and their SHA-256 checksum to a file that only its owner can read.
 * The file appears when it is complete and synced to disk, or not at all.
 */
export async function writeElements(path: string, elements: AsyncIterable<string>): Promise<void> {
  const unfinished = `${path}.unfinished`;
  try {
    const { createGzip, pipeline, Readable } = await loadStreams();
    const target = createWriteStream(unfinished, { mode: 0o600 });
    await pipeline(Readable.from(linesOf(elements)), createGzip(), target);
    await flush(unfinished, "r+");
    await rename(unfinished, path);
    await flush(dirname(path), "r");
  } catch (error) {
    await rm(unfinished, { force: true }).catch(() => undefined);
    throw error;
  }
}

/** Bytes that are hashed at once. */
const STEP_BYTES = 1024 * 1024;

async function* linesOf(elements: AsyncIterable<string>): AsyncGenerator<string | Buffer, void> {
  const hash = new Bun.CryptoHasher("sha256");
  let prefix = "[";
  for await (const element of elements) {
    for (const bytes of steps(Buffer.from(`${prefix}${element}\n`))) {
      hash.update(bytes);
      yield bytes;
      await yieldToEventLoop();
    }
    prefix = ",";
  }
  yield `${prefix}${JSON.stringify({ sha256: hash.digest("hex") })}\n]\n`;
}

function* steps(bytes: Buffer): Generator<Buffer, void> {
  for (let at = 0; at < bytes.length; at += STEP_BYTES) yield bytes.subarray(at, at + STEP_BYTES);
}

async function flush(path: string, flags: "r" | "r+"): Promise<void> {
  const file = await open(path, flags);
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

/**
 * Yields the JSON text of each element in order. Throws `DamagedFile`, at the end for a wrong checksum: don't act on
 * elements before.
 */
export async function* readElements(path: string): AsyncGenerator<string, void> {
  const { createGunzip, pipe } = await loadStreams();
  const hash = new Bun.CryptoHasher("sha256");
  const unzip = createGunzip();
  let state: "open" | "sealed" | "closed" = "open";
  // Errors destroy `unzip`, whose reader below throws them.
  pipe(createReadStream(path), unzip, () => undefined);
  try {
    for await (const bytes of splitLines(unzip)) {
      const line = bytes.toString("utf8");
      if (state === "closed" || (state === "sealed" && line !== "]"))
        throw new DamagedFile("There is more after the end.");
      if (state === "sealed") {
        state = "closed";
        continue;
      }
      const element = line.slice(1);
      const checksum = checksumOf(element);
      if (checksum === undefined) {
        for (const step of steps(bytes)) {
          hash.update(step);
          await yieldToEventLoop();
        }
        hash.update("\n");
        yield element;
      } else if (checksum === hash.digest("hex")) state = "sealed";
      else throw new DamagedFile("The checksum is wrong.");
    }
  } catch (error) {
    if (!(error instanceof Error && "code" in error && String(error.code).startsWith("Z_"))) throw error;
    throw new DamagedFile("It can't be unpacked.", { cause: error });
  } finally {
    unzip.destroy();
  }
  if (state !== "closed") throw new DamagedFile("It ends too early.");
}

async function* splitLines(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
  let partial: Buffer[] = [];
  for await (const chunk of bytes) {
    let from = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
      partial.push(chunk.subarray(from, end));
      yield Buffer.concat(partial);
      partial = [];
      from = end + 1;
    }
    if (from < chunk.length) partial.push(chunk.subarray(from));
  }
  if (partial.length > 0) throw new DamagedFile("The last line is cut off.");
}

const checksumOf = (element: string): string | undefined => /^\{"sha256":"([^"]*)"\}$/.exec(element)?.[1];
