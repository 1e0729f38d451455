// Gets a new program from a file or an address, and checks that the project has signed it: Ed25519 over the list of SHA-256 sums.
import { createHash, createPublicKey, verify } from "node:crypto";
import { chmodSync, createReadStream, createWriteStream, existsSync, readFileSync, statSync } from "node:fs";
import { basename } from "node:path";
import { Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { StartError } from "../../kernel/errors.ts";

/** The project's public key, put in by the build; empty in a build without one. */
declare const BERTH_RELEASE_PUBLIC_KEY: string;
export const builtInKey = (): string =>
  typeof BERTH_RELEASE_PUBLIC_KEY === "undefined" ? "" : BERTH_RELEASE_PUBLIC_KEY;

const isAddress = (source: string) => /^https?:\/\//.test(source);
const nameOf = (source: string) => (isAddress(source) ? basename(new URL(source).pathname) : basename(source));

/** Writes the program to a file that only becomes the program later. Returns its SHA-256. Throws StartError. */
export async function getProgram(
  source: string,
  target: string,
  onProgress: (bytes: number, total: number | undefined) => void,
): Promise<string> {
  const { stream, total } = await open(source);
  const hash = createHash("sha256");
  let bytes = 0;
  const watch = new Transform({
    transform(chunk: Buffer, _, done) {
      hash.update(chunk);
      bytes += chunk.length;
      onProgress(bytes, total);
      done(null, chunk);
    },
  });
  await pipeline(stream, watch, createWriteStream(target, { mode: 0o755, flush: true }));
  chmodSync(target, 0o755);
  return hash.digest("hex");
}

/** Throws StartError unless the source is a file, or an address, which is not asked. */
export function requireFile(source: string): void {
  if (isAddress(source)) return;
  const found = statSync(source, { throwIfNoEntry: false });
  if (!found) throw new StartError(`There is no file ${source}. Name the new program.`);
  if (!found.isFile()) throw new StartError(`${source} is no file. Name the new program.`);
}

async function open(source: string): Promise<{ stream: Readable; total: number | undefined }> {
  if (!isAddress(source)) {
    requireFile(source);
    return { stream: createReadStream(source), total: Bun.file(source).size };
  }
  const response = await fetch(source).catch((error: Error) => {
    throw new StartError(`${source} can't be reached (${error.message}).`, { cause: error });
  });
  if (!response.ok || !response.body) throw new StartError(`${source} answers ${response.status}.`);
  const length = Number(response.headers.get("content-length"));
  return { stream: Readable.fromWeb(response.body), total: length > 0 ? length : undefined };
}

/** Checks the sum of a program against the signed list beside it: `<source>.sha256` and `<source>.sha256.sig`. Throws StartError. */
export async function requireSigned(source: string, sha256: string, publicKey: string): Promise<void> {
  const [sums, signature] = [await readBeside(source, ".sha256"), await readBeside(source, ".sha256.sig")];
  if (!isSignedBy(publicKey, sums, signature))
    throw new StartError(`The signature of ${nameOf(source)}.sha256 is not one of this key. Nothing was changed.`);
  requireSum(source, sums.toString("utf8"), sha256);
}

/** Checks the sum alone, if there is a list. */
export async function requireSumIfListed(source: string, sha256: string): Promise<void> {
  const sums = await readBeside(source, ".sha256").catch(() => undefined);
  if (sums) requireSum(source, sums.toString("utf8"), sha256);
}

function requireSum(source: string, sums: string, sha256: string): void {
  const listed = sums.split("\n").map((line) => line.split(/\s+\*?/, 2));
  const sum = listed.find(([, name]) => name === nameOf(source))?.[0];
  if (sum === sha256) return;
  throw new StartError(
    sum === undefined
      ? `The list of checksums does not name ${nameOf(source)}. Nothing was changed.`
      : `${nameOf(source)} has another checksum than the list says: it was damaged or changed on the way. Nothing was changed.`,
  );
}

function isSignedBy(publicKey: string, sums: Buffer, signature: Buffer): boolean {
  try {
    const key = createPublicKey(publicKey);
    return key.asymmetricKeyType === "ed25519" && verify(null, sums, key, signature);
  } catch (cause) {
    throw new StartError("The public key is not an Ed25519 key in PEM.", { cause });
  }
}

async function readBeside(source: string, suffix: string): Promise<Buffer> {
  if (isAddress(source)) {
    const url = new URL(source);
    url.pathname += suffix;
    const response = await fetch(url).catch(() => undefined);
    if (response?.ok) return Buffer.from(await response.arrayBuffer());
  } else if (existsSync(source + suffix)) return readFileSync(source + suffix);
  throw new StartError(
    `${nameOf(source)}${suffix} is missing beside the program, so it can't be checked. Get it too, or give --unsigned if you trust the file. Nothing was changed.`,
  );
}
