// Keeps backups in an S3-compatible bucket, over Bun's client. Large files are sent in parts; the object exists once all are there.

import type { BackupPlace } from "../../../../plugins/fleet/settings.ts";
import { StartError } from "../../../kernel/errors.ts";
import type { BackupStorage, StoredFile } from "./storage.ts";

export interface S3Access {
  readonly endpoint?: string | undefined;
  readonly region: string;
  readonly accessKeyId?: string | undefined;
  readonly secretAccessKey?: string | undefined;
}

const MIB = 1024 * 1024;
/** S3 takes 10,000 parts at most; one of them is held in memory for each request at a time. */
const MAX_PARTS = 9_000;
const PART_BYTES = 8 * MIB;
const QUEUED_PARTS = 2;
/** The largest part that S3 takes. */
const MAX_PART_BYTES = 4096 * MIB;

/** What the common refusals of a service mean for the operator. */
const ADVICE: Readonly<Record<string, string>> = {
  NoSuchBucket: "There is no such bucket. Create it, or correct BACKUP_TO.",
  AccessDenied: "The key may not do this. It needs to list, get, put and delete objects of the bucket.",
  InvalidAccessKeyId: "The service does not know BACKUP_S3_ACCESS_KEY_ID.",
  SignatureDoesNotMatch: "BACKUP_S3_SECRET_ACCESS_KEY does not belong to BACKUP_S3_ACCESS_KEY_ID.",
  ConnectionRefused: "Nothing answers there. Check BACKUP_S3_ENDPOINT and the network.",
  FailedToOpenSocket: "The address can't be reached. Check BACKUP_S3_ENDPOINT and the network.",
  ERR_S3_MISSING_CREDENTIALS: "Set BACKUP_S3_ACCESS_KEY_ID and BACKUP_S3_SECRET_ACCESS_KEY.",
};

export function createS3Storage(
  { bucket, prefix }: Pick<Extract<BackupPlace, { kind: "s3" }>, "bucket" | "prefix">,
  { endpoint, region, accessKeyId, secretAccessKey }: S3Access,
): BackupStorage {
  const place = `s3://${bucket}${prefix === "" ? "" : `/${prefix}`}`;
  if (accessKeyId === undefined || secretAccessKey === undefined)
    throw refusal(place, "ERR_S3_MISSING_CREDENTIALS", "");
  const client = new Bun.S3Client({ bucket, region, accessKeyId, secretAccessKey, ...(endpoint && { endpoint }) });
  const start = prefix === "" ? "" : `${prefix}/`;
  const saying = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    try {
      return await work();
    } catch (error) {
      throw error instanceof SourceFailure ? error.cause : toStartError(place, error);
    }
  };

  async function upload(name: string, chunks: AsyncIterable<Uint8Array>, expectedBytes: number): Promise<void> {
    const partSize = Math.min(MAX_PART_BYTES, Math.max(PART_BYTES, Math.ceil(expectedBytes / MAX_PARTS / MIB) * MIB));
    const writer = client.file(start + name).writer({ partSize, queueSize: QUEUED_PARTS, retry: 3 });
    // After a failure the writer is left as it is: its end, even with an error, would complete the object with a part of the bytes.
    for await (const chunk of namingFailures(chunks)) {
      await writer.write(chunk);
      // Waits until the parts that are full have left the memory.
      await writer.flush();
    }
    await writer.end();
  }

  return {
    addressOf: (name) => `${place}/${name}`,
    write: (name, chunks, expectedBytes) => saying(() => upload(name, chunks, expectedBytes)),
    read: (name) =>
      saying(async () => {
        // The answer to a list says why it is refused; the one to HEAD can't.
        const { contents = [] } = await client.list({ prefix: start + name });
        const found = contents.find(({ key }) => key === start + name);
        return found && { body: client.file(found.key).stream(), bytes: found.size ?? 0 };
      }),
    readListed: (name) => saying(() => client.file(start + name).bytes()),
    list: () =>
      saying(async () => {
        const files: StoredFile[] = [];
        let startAfter: string | undefined;
        for (;;) {
          const page = await client.list({ prefix: start, ...(startAfter !== undefined && { startAfter }) });
          for (const { key, size = 0 } of page.contents ?? [])
            files.push({ name: key.slice(start.length), bytes: size });
          startAfter = page.contents?.at(-1)?.key;
          if (!page.isTruncated || startAfter === undefined) return files;
        }
      }),
    remove: (name) => saying(() => client.file(start + name).delete()),
  };
}

const codeOf = (error: unknown) => (error instanceof Error && "code" in error ? String(error.code) : "");

/** A failure of what is sent, such as a full disk, is no failure of the service that takes it. */
class SourceFailure extends Error {}

async function* namingFailures(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  try {
    yield* chunks;
  } catch (cause) {
    throw new SourceFailure("", { cause });
  }
}

function toStartError(place: string, error: unknown): unknown {
  if (error instanceof StartError || !(error instanceof Error)) return error;
  return refusal(place, codeOf(error), error.message);
}

const refusal = (place: string, code: string, message: string) =>
  new StartError(`${place} can't be used: ${ADVICE[code] ?? `${message.replace(/\s+/g, " ")} (${code || "no code"})`}`);
