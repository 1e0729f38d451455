// Says whether the engine of a cluster can be used, for `berth doctor`.

import type { NatsAddress } from "../../cluster/nats/nats-address.ts";
import { openNatsEngine } from "../../cluster/nats/nats-engine.ts";
import type { DeepReadonly } from "../../kernel/config/section.ts";
import { StartError } from "../../kernel/errors.ts";

export async function engineReport(address: DeepReadonly<NatsAddress>): Promise<{ text: string; isUsable: boolean }> {
  try {
    const engine = await openNatsEngine({ address, name: "berth doctor" });
    await engine.close();
    const few =
      engine.servers < 3
        ? `! CLUSTER_URL: NATS has ${engine.servers === 1 ? "one server" : "two servers"}; with three, one may fail.\n`
        : "";
    return { text: `${few}The cluster's engine answers: ${engine.describe()}.\n`, isUsable: true };
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    return { text: `✗ ${error.message}\n`, isUsable: false };
  }
}
