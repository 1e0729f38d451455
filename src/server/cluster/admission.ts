// Says at the start of a machine whether it may join the cluster: with the cluster's key, and an address that no other one has.
import type { Engine } from "../../cluster/engine.ts";
import { keyOf, LEASE_TIMES } from "../../cluster/ownership/lease.ts";
import { StartError } from "../../kernel/errors.ts";
import type { Vault } from "../../kernel/security/vault.ts";

/** The key of SECRET_KEY's fingerprint in the table of cells. */
const FINGERPRINT_KEY = "key";

/** Throws `StartError` for a SECRET_KEY that is not the cluster's: with it, the machine could own cells, but not open them. */
export async function requireClusterKey(engine: Engine, vault: Vault): Promise<void> {
  const table = await engine.table("cells");
  const own = vault.fingerprint();
  for (;;) {
    const found = await table.find(FINGERPRINT_KEY);
    if (found?.value === own) return;
    if (found?.value !== undefined && found.value !== vault.previousFingerprint()) {
      throw new StartError(
        "SECRET_KEY is not the one of this cluster. Give this machine the same as the others; with a new one, SECRET_KEY_PREVIOUS as well.",
      );
    }
    // The first machine, or the first with a new key.
    if ((await table.swap(FINGERPRINT_KEY, own, found?.revision ?? 0)) !== undefined) return;
  }
}

/** Throws `StartError` if another machine is alive with this address: both would take each other's cells. */
export async function requireOwnAddress(engine: Engine, address: string): Promise<void> {
  const table = await engine.table("nodes");
  const before = await table.find(keyOf(address));
  if (before?.value === undefined) return;
  // A machine that ended without giving its lease back does not renew it. Its clock, or this one's, may be wrong.
  await Bun.sleep(LEASE_TIMES.renewMs * 1.3);
  const after = await table.find(keyOf(address));
  if (after === undefined || after.revision === before.revision) return;
  throw new StartError(
    `Another machine of the cluster has the address ${address} and is alive. Give each machine its own NODE_ADDRESS.`,
  );
}
