// Asks other machines of the cluster whether they can be reached, and says in the log what comes of it.
import type { ReachDeps } from "../../cluster/ownership/reach.ts";
import type { RelayGrants } from "../../cluster/relay/grants.ts";
import { isMoved, prepareRelay } from "../../cluster/relay/relay.ts";
import type { Log } from "../../kernel/telemetry/log.ts";

const TIMEOUT_MS = 2_000;
/** No machine has it, so each answers that it has done nothing, and no other server does. */
const NO_CELL = -1;

/** Returns what throws unless this very machine takes at its address what others send on to it. */
export function createProbe(grants: RelayGrants): ReachDeps["probe"] {
  return async (address) => {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const request = new Request(`${address}/cluster/call`, { method: "POST", body: "", signal });
    const grant = { surface: "call", cell: NO_CELL, clientAddress: "" } as const;
    const outcome = await prepareRelay(request, grants, "").send(address, grant);
    if (outcome === "again") throw new Error("The connection was refused.");
    if (outcome === "broken") throw new Error("The connection broke off.");
    await outcome.body?.cancel();
    if (!isMoved(outcome)) throw new Error(`Another server answers there: ${outcome.status}.`);
  };
}

export const reachReports = (log: Log, address: string): Pick<ReachDeps, "onReach" | "onReached"> => ({
  onReach(node, error) {
    if (error === undefined) log.info("this machine reaches another one again", { node });
    else log.warn("this machine can't reach another one at its NODE_ADDRESS", { node, error });
  },
  onReached(isReached) {
    if (isReached) log.info("another machine reaches this one again", { address });
    else
      log.error(
        "no other machine reaches this one at its NODE_ADDRESS, so it gives its cells away; check NODE_ADDRESS, BACKEND_HOST and the firewall",
        { address },
      );
  },
});
