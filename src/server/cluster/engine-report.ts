// Says whether the engine of a cluster can be used, for `berth doctor`.

import { connect } from "node:net";
import type { NatsAddress } from "../../cluster/nats/nats-address.ts";
import { openNatsEngine } from "../../cluster/nats/nats-engine.ts";
import type { DeepReadonly } from "../../kernel/config/section.ts";
import { StartError } from "../../kernel/errors.ts";

const TIMEOUT_MS = 2_000;
const DEFAULT_PORT = 4222;

/** Those of these servers to which no connection can be opened. */
async function silentServers(servers: readonly string[]): Promise<string[]> {
  const answers = await Promise.all(servers.map(isListening));
  return servers.filter((_, n) => !answers[n]).map((server) => new URL(server).host);
}

function isListening(server: string): Promise<boolean> {
  const { hostname, port } = new URL(server);
  const host = hostname.replace(/^\[|\]$/g, "");
  return new Promise((resolve) => {
    const socket = connect({ host, port: Number(port || DEFAULT_PORT), timeout: TIMEOUT_MS });
    const end = (isUp: boolean) => {
      socket.destroy();
      resolve(isUp);
    };
    socket.once("connect", () => end(true));
    for (const event of ["error", "timeout"]) socket.once(event, () => end(false));
  });
}

export async function engineReport(address: DeepReadonly<NatsAddress>): Promise<{ text: string; isUsable: boolean }> {
  try {
    const silent = await silentServers(address.servers);
    const engine = await openNatsEngine({ address, name: "berth doctor" });
    const answers = `The cluster's engine answers: ${engine.describe()}.\n`;
    await engine.close();
    const few =
      silent.length === 0 && engine.servers < 3
        ? `! CLUSTER_URL: NATS has ${engine.servers === 1 ? "one server" : "two servers"}; with three, one may fail.\n`
        : silent.map((server) => `! CLUSTER_URL: the server of NATS at ${server} does not answer.\n`).join("");
    return { text: `${few}${answers}`, isUsable: true };
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    return { text: `✗ ${error.message}\n`, isUsable: false };
  }
}
