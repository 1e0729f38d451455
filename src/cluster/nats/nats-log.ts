// A cell's log as a stream of JetStream.
import { type JetStreamClient, type JetStreamManager, StorageType } from "@nats-io/jetstream";
import { EngineUnavailable, type LogEngine, Moved } from "../engine.ts";
import { addReplicas, inBackground, inCluster, isWrongLast, messageOf, orUndefined, unavailableOn } from "./calls.ts";

export interface LogDeps {
  client: JetStreamClient;
  manager: JetStreamManager;
  cell: number;
  replicas: number;
  /** Bytes of the largest message that the server takes, with its headers. */
  maxPayload(): number;
}

/** Milliseconds until an append counts as unanswered. */
const APPEND_TIMEOUT_MS = 2_000;
/** Nanoseconds in which NATS knows a message that is sent again. */
const DUPLICATE_WINDOW_NS = 120 * 1e9;
const LOOK_MS = 3_000;
/** Messages that may wait until those before them are applied, of up to 512 KiB each. */
const MAX_WAITING = 64;
/** What an append says in its headers. */
const HEADER_BYTES = 1_024;

export async function openLog({ client, manager, cell, replicas, maxPayload }: LogDeps): Promise<LogEngine> {
  const [name, subject] = [streamOf(cell), `berth.cell.${cell}`];
  const create = () =>
    manager.streams.add({
      name,
      subjects: [subject],
      num_replicas: replicas,
      storage: StorageType.File,
      duplicate_window: DUPLICATE_WINDOW_NS,
    });
  /** An empty log in place of one that NATS has lost: whoever has a file with more entries notices, and goes on behind them. */
  async function createIfMissing(): Promise<boolean> {
    const isMissing = (await orUndefined(() => manager.streams.info(name))) === undefined;
    if (isMissing) await create();
    return isMissing;
  }
  const mend = inBackground(createIfMissing);
  await inCluster(async () => {
    if (!(await createIfMissing())) await addReplicas(manager, name, replicas);
  });

  return {
    get maxBytes() {
      return maxPayload() - HEADER_BYTES;
    },
    async append(last, bytes) {
      try {
        const { seq } = await client.publish(subject, bytes, {
          expect: { streamName: name, lastSequence: last },
          timeout: APPEND_TIMEOUT_MS,
        });
        return seq;
      } catch (error) {
        if (isWrongLast(error)) throw new Moved(messageOf(error), { cause: error });
        mend();
        throw new EngineUnavailable(messageOf(error), { cause: error });
      }
    },
    async bounds() {
      const { state } = await unavailableOn(() => manager.streams.info(name), mend);
      return { first: Math.max(1, state.first_seq), last: state.last_seq, bytes: state.bytes };
    },
    async *follow(after, signal) {
      const consumer = await unavailableOn(() => client.consumers.get(name, { opt_start_seq: after + 1 }));
      const messages = await unavailableOn(() => consumer.consume({ max_messages: MAX_WAITING }));
      const stop = () => messages.stop();
      signal.addEventListener("abort", stop, { once: true });
      let timer: Timer | undefined;
      try {
        const { created } = await unavailableOn(() => manager.streams.info(name));
        let seen = after;
        /** Not while the one before is applied. */
        let isWaiting = true;
        let missing = 0;
        // Of a log that was made anew, nothing would come any more; nor, sometimes, after the network was silent for some seconds.
        const look = inBackground(async () => {
          const found = await orUndefined(() => manager.streams.info(name));
          if (found?.created !== created || (isWaiting && seen < missing)) stop();
          missing = isWaiting ? (found?.state.last_seq ?? 0) : 0;
        });
        timer = setInterval(look, LOOK_MS);
        if (signal.aborted) return;
        for await (const { seq, data } of messages) {
          seen = seq;
          isWaiting = false;
          yield { number: seq, bytes: data };
          isWaiting = true;
        }
      } finally {
        clearInterval(timer);
        signal.removeEventListener("abort", stop);
        messages.stop();
      }
    },
    async read(number) {
      const found = await unavailableOn(() => manager.streams.getMessage(name, { seq: number }));
      return found?.data;
    },
    async trim(upTo) {
      await unavailableOn(() => manager.streams.purge(name, { seq: upTo + 1 }));
    },
  };
}

export const removeLog = async (manager: JetStreamManager, cell: number) =>
  void (await unavailableOn(() => orUndefined(() => manager.streams.delete(streamOf(cell)))));

const streamOf = (cell: number) => `berth-cell-${cell}`;
