// Large files as an object store of JetStream.
import type { JetStreamClient, JetStreamManager } from "@nats-io/jetstream";
import { type ObjectInfo, type Objm, StorageType } from "@nats-io/obj";
import { MINUTE } from "../../kernel/util/time.ts";
import type { BlobStore } from "../engine.ts";
import { addReplicas, inBackground, inCluster, lastOfEach, orUndefined, unavailableOn } from "./calls.ts";
import { readObject } from "./read-object.ts";

export interface BlobsDeps {
  client: JetStreamClient;
  stores: Objm;
  manager: JetStreamManager;
  name: string;
  replicas: number;
}

/** A put that goes on writes a chunk every few seconds. */
const INTERRUPTED_MS = 10 * MINUTE;

export async function openBlobs({ client, stores, manager, name, replicas }: BlobsDeps): Promise<BlobStore> {
  const stream = `OBJ_${name}`;
  const isMissing = async () => (await orUndefined(() => manager.streams.info(stream))) === undefined;
  const create = () => stores.create(name, { replicas, storage: StorageType.File });
  let store = await inCluster(async () => {
    if (await isMissing()) return create();
    await addReplicas(manager, stream, replicas);
    return stores.open(name);
  });
  const mend = inBackground(async () => {
    if (await isMissing()) store = await create();
  });
  const call = <Result>(work: () => Promise<Result>) => unavailableOn(work, mend);

  async function list(): Promise<ObjectInfo[]> {
    const entries = await lastOfEach(manager, stream, `$O.${name}.M.>`);
    return entries.map((entry) => entry.json<ObjectInfo>()).filter(({ deleted }) => !deleted);
  }

  /** Chunks come before the entry that names them, so a process that ends between them leaves chunks without a name. */
  async function sweep(olderThanMs: number): Promise<number> {
    const { state, ts } = await manager.streams.info(stream, { subjects_filter: `$O.${name}.C.>` });
    const subjects = Object.keys(state.subjects ?? {});
    if (subjects.length === 0) return 0;
    // After the chunks: one that got its name meanwhile is among them.
    const named = (await list()).map(({ nuid }) => `$O.${name}.C.${nuid}`);
    const nameless = new Set(subjects).difference(new Set(named));
    // By the server's clock, which the times of messages are of.
    const now = ts === undefined ? Date.now() : Date.parse(ts);
    let swept = 0;
    for (const subject of nameless) {
      const last = await manager.streams.getMessage(stream, { last_by_subj: subject });
      if (!last || now - last.time.getTime() < olderThanMs) continue;
      await manager.streams.purge(stream, { filter: subject });
      swept++;
    }
    return swept;
  }

  return {
    put: async (blob, content) => void (await call(() => store.put({ name: blob }, content))),
    get: (blob) =>
      call(async () => {
        const found = await store.info(blob);
        return found && !found.deleted ? readObject(client, stream, found) : undefined;
      }),
    remove: async (blob) => void (await call(() => store.delete(blob))),
    list: () => call(async () => (await list()).map(({ name: blob, size }) => ({ name: blob, size }))),
    sweep: (olderThanMs = INTERRUPTED_MS) => call(() => sweep(olderThanMs)),
  };
}
