// A small table as a key-value bucket of JetStream.
import type { JetStreamManager } from "@nats-io/jetstream";
import type { Kvm } from "@nats-io/kv";
import { EngineUnavailable, type Table } from "../engine.ts";
import {
  addReplicas,
  inBackground,
  inCluster,
  isWrongLast,
  lastOfEach,
  messageOf,
  orUndefined,
  unavailableOn,
} from "./calls.ts";

export interface TableDeps {
  buckets: Kvm;
  manager: JetStreamManager;
  name: string;
  replicas: number;
  /** What the keys begin with. */
  under: string | undefined;
}

/** Shorter than the time for which a lease is trusted, so that a lost renewal is sent again in time. */
const PUT_TIMEOUT_MS = 900;
const LOOK_MS = 3_000;

export async function openTable({ buckets, manager, name, replicas, under = "" }: TableDeps): Promise<Table> {
  const stream = `KV_${name}`;
  const every = under === "" ? ">" : `${under}*`;
  const subjects = `$KV.${name}.${every}`;
  /** When the bucket was made, which tells it from one that was made after NATS has lost it; undefined if it is missing. */
  const madeAt = async () => (await orUndefined(() => manager.streams.info(stream)))?.created;
  const open = async () => {
    if ((await madeAt()) === undefined) await buckets.create(name, { replicas, history: 1 });
    else await addReplicas(manager, stream, replicas);
    return { bucket: await buckets.open(name), made: await madeAt() };
  };
  let current = await inCluster(open);
  /** Those that watch a bucket which NATS has lost would wait for ever. */
  const watchers = new Set<() => void>();

  const mend = inBackground(async () => {
    if ((await madeAt()) === current.made) return;
    current = await open();
    for (const stop of watchers) stop();
  });
  const call = <Result>(work: () => Promise<Result>) => unavailableOn(work, mend);

  return {
    // The bucket itself would ask any server, which may be behind; this asks the one that leads.
    async find(key) {
      const found = await call(() =>
        manager.streams.getMessage(stream, { last_by_subj: `$KV.${name}.${under}${key}` }),
      );
      const isThere = found && !found.header?.get("KV-Operation");
      return isThere ? { key, value: found.string(), revision: found.seq } : undefined;
    },
    put: async (key, value) =>
      void (await call(() => current.bucket.put(under + key, value, { timeout: PUT_TIMEOUT_MS }))),
    async swap(key, value, revision) {
      try {
        return revision === 0
          ? await current.bucket.create(under + key, value)
          : await current.bucket.update(under + key, value, revision);
      } catch (error) {
        if (isWrongLast(error)) return undefined;
        mend();
        throw new EngineUnavailable(messageOf(error), { cause: error });
      }
    },
    remove: async (key) => void (await call(() => current.bucket.delete(under + key))),
    list: () =>
      call(async () => {
        const prefix = `$KV.${name}.${under}`;
        return (await lastOfEach(manager, stream, subjects)).flatMap((message) =>
          message.header?.get("KV-Operation")
            ? []
            : [{ key: message.subject.slice(prefix.length), value: message.string(), revision: message.seq }],
        );
      }),
    async *watch(signal) {
      const changes = await call(() => current.bucket.watch({ key: every }));
      const stop = () => changes.stop();
      signal.addEventListener("abort", stop, { once: true });
      watchers.add(stop);
      let seen = 0;
      let missing = 0;
      /** After the network was silent for some seconds, a watch may get nothing any more and say nothing of it. */
      const requireNewest = inBackground(async () => {
        const newest = await orUndefined(() => manager.streams.getMessage(stream, { last_by_subj: subjects }));
        if (seen < missing) stop();
        missing = newest?.seq ?? 0;
      });
      const timer = setInterval(() => {
        // Another node may have made it anew, so that no call of this one fails.
        mend();
        requireNewest();
      }, LOOK_MS);
      if (signal.aborted) stop();
      try {
        for await (const change of changes) {
          seen = change.revision;
          const value = change.operation === "PUT" ? change.string() : undefined;
          yield { key: change.key.slice(under.length), revision: change.revision, value };
        }
      } finally {
        signal.removeEventListener("abort", stop);
        watchers.delete(stop);
        clearInterval(timer);
      }
    },
  };
}
