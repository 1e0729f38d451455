// Reads an object of a store as fast as it is taken. The library's own way holds in memory what the reader has not taken yet.
import type { JetStreamClient, JsMsg } from "@nats-io/jetstream";
import type { ObjectInfo } from "@nats-io/obj";
import { EngineUnavailable } from "../engine.ts";

/** Chunks of 128 KiB that may wait for the reader. */
const MAX_WAITING = 16;
/** Milliseconds until the next chunk is given up, such as one of an object that is deleted meanwhile. */
const QUIET_MS = 30_000;
/** The same if the server has no more of them: the one that was asked may be behind the others. */
const BEHIND_MS = 5_000;
const DIGEST = "SHA-256=";

export async function readObject(
  client: JetStreamClient,
  stream: string,
  { bucket, nuid, name, chunks, digest }: ObjectInfo,
): Promise<ReadableStream<Uint8Array>> {
  if (chunks === 0) return new Blob([]).stream();
  const consumer = await client.consumers.get(stream, { filter_subjects: [`$O.${bucket}.C.${nuid}`] });
  const messages = await consumer.consume({ max_messages: MAX_WAITING });
  const iterator = messages[Symbol.asyncIterator]();
  const hash = new Bun.CryptoHasher("sha256");
  let missing = chunks;
  let quietMs = QUIET_MS;

  function stop(): void {
    messages.stop();
    void consumer.delete().catch(() => undefined);
  }

  async function next(): Promise<Uint8Array> {
    const found = await within(quietMs, iterator.next());
    if (!found || found.done) throw new EngineUnavailable(`NATS sends no more of ${name}, which is not whole.`);
    const { data, info } = found.value;
    missing--;
    hash.update(data);
    if (missing === 0 && !isDigest(digest, hash.digest())) throw new Error(`${name} is damaged in NATS.`);
    quietMs = info.pending === 0 ? BEHIND_MS : QUIET_MS;
    return data;
  }

  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          controller.enqueue(await next());
          if (missing > 0) return;
          controller.close();
        } catch (error) {
          controller.error(error);
        }
        stop();
      },
      cancel: stop,
    },
    { highWaterMark: 0 },
  );
}

const isDigest = (digest: string, found: Buffer) =>
  digest.startsWith(DIGEST) && Buffer.from(digest.slice(DIGEST.length), "base64url").equals(found);

/** Undefined if it takes too long. */
async function within(
  quietMs: number,
  next: Promise<IteratorResult<JsMsg>>,
): Promise<IteratorResult<JsMsg> | undefined> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(resolve, quietMs);
  try {
    return await Promise.race([next, promise]);
  } finally {
    clearTimeout(timer);
  }
}
