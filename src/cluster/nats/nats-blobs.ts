// Large files as an object store of JetStream.
import type { JetStreamManager } from "@nats-io/jetstream";
import { type Objm, StorageType } from "@nats-io/obj";
import type { BlobStore } from "../engine.ts";
import { addReplicas, inBackground, inCluster, orUndefined, unavailableOn } from "./calls.ts";

export interface BlobsDeps {
  stores: Objm;
  manager: JetStreamManager;
  name: string;
  replicas: number;
}

export async function openBlobs({ stores, manager, name, replicas }: BlobsDeps): Promise<BlobStore> {
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

  return {
    put: async (blob, content) => void (await call(() => store.put({ name: blob }, content))),
    get: async (blob) => (await call(() => store.get(blob)))?.data,
    remove: async (blob) => void (await call(() => store.delete(blob))),
    list: () =>
      call(async () =>
        (await store.list()).filter(({ deleted }) => !deleted).map(({ name: blob, size }) => ({ name: blob, size })),
      ),
  };
}
