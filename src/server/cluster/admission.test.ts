// Tests which machines may join a cluster.
import { expect, test } from "bun:test";
import { createMemoryEngine } from "../../cluster/memory-engine.ts";
import { keyOf } from "../../cluster/ownership/lease.ts";
import { createVault } from "../../kernel/security/vault.ts";
import { HOUR } from "../../kernel/util/time.ts";
import { requireClusterKey, requireOwnAddress } from "./admission.ts";

const [OLD, NEW] = ["the key of the cluster, as it was", "the key of the cluster, as it is now"];

test("a machine with another SECRET_KEY is refused, also while the cluster takes a new one", async () => {
  const engine = createMemoryEngine().connect();
  await requireClusterKey(engine, createVault({ key: OLD }));
  await requireClusterKey(engine, createVault({ key: OLD }));
  await expect(requireClusterKey(engine, createVault({ key: NEW }))).rejects.toThrow("SECRET_KEY is not the one");
  await requireClusterKey(engine, createVault({ key: NEW, previous: OLD }));
  await requireClusterKey(engine, createVault({ key: NEW }));
  await expect(requireClusterKey(engine, createVault({ key: OLD }))).rejects.toThrow("SECRET_KEY is not the one");
});

test("machines that have both keys start in any order while a new one is rolled out", async () => {
  const engine = createMemoryEngine().connect();
  await requireClusterKey(engine, createVault({ key: OLD }));
  for (const isNew of [false, true, false, true, true, false, true]) {
    const [key, previous] = isNew ? [NEW, OLD] : [OLD, NEW];
    await requireClusterKey(engine, createVault({ key, previous }));
  }
  await requireClusterKey(engine, createVault({ key: NEW }));
});

test.each([0, HOUR, -HOUR])(
  "an address that a living machine has is refused, one of a machine that has ended is not (its clock: %d ms)",
  async (difference) => {
    const engine = createMemoryEngine().connect();
    const address = "http://10.0.0.5:3001";
    await requireOwnAddress(engine, address);
    const table = await engine.table("nodes");
    const renew = () => table.put(keyOf(address), JSON.stringify({ address, at: Date.now() + difference }));
    await renew();
    const renewing = setInterval(renew, 200);
    await expect(requireOwnAddress(engine, address)).rejects.toThrow("Give each machine its own NODE_ADDRESS");
    clearInterval(renewing);
    await requireOwnAddress(engine, address);
  },
);
