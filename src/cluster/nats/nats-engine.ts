// The engine of a cluster on NATS with JetStream: streams are logs, buckets are tables, object stores are blobs.
//
// The only importer of NATS' packages. It is loaded when CLUSTER_URL is set.
import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import { Kvm } from "@nats-io/kv";
import { Objm } from "@nats-io/obj";
import { connect, type NatsConnection } from "@nats-io/transport-node";
import type { DeepReadonly } from "../../kernel/config/section.ts";
import { StartError } from "../../kernel/errors.ts";
import type { Engine } from "../engine.ts";
import { inCluster, messageOf, RECONNECT_MS } from "./calls.ts";
import { closeHangingSockets } from "./hanging-socket.ts";
import type { NatsAddress } from "./nats-address.ts";
import { openBlobs } from "./nats-blobs.ts";
import { openLog, removeLog } from "./nats-log.ts";
import { openTable } from "./nats-table.ts";
import { createServerChoice } from "./server-choice.ts";

export interface NatsOptions {
  address: DeepReadonly<NatsAddress>;
  /** Of this node, for NATS' own lists. */
  name: string;
  /** Called when the library has given the connection up for good. Nothing works from then on. No reason for it is known. */
  onEnded?(error: unknown): void;
}

const CALL_TIMEOUT_MS = 3_000;
const CONNECT_TIMEOUT_MS = 5_000;
const MAX_REPLICAS = 3;
const LEAST_PAYLOAD = 64 * 1024;
const DEFAULT_PAYLOAD = 1024 * 1024;
const OLDEST_SERVER = "2.11";

/** Throws `StartError` if NATS can't be reached, has no JetStream, is too old or takes too small messages. */
export async function openNatsEngine({ address, name, onEnded }: NatsOptions): Promise<Engine> {
  const connection = await connectTo(address, name);
  const replicas = Math.min(MAX_REPLICAS, serversOf(connection, address.servers.length));
  const client = jetstream(connection, { timeout: CALL_TIMEOUT_MS });
  const manager = await jetstreamManager(connection, { timeout: CALL_TIMEOUT_MS, checkAPI: false });
  await inCluster(() => manager.getAccountInfo()).catch(async (error: unknown) => {
    await connection.close();
    throw new StartError(
      `JetStream does not answer (${messageOf(error)}). NATS needs jetstream { } in its configuration, and most of its servers up.`,
    );
  });
  const maxPayload = createMaxPayload(connection);
  const watched = createServerChoice(connection);
  void closeHangingSockets(connection);
  let isClosing = false;
  void connection.closed().then((error) => {
    if (!isClosing) onEnded?.(error);
  });
  return {
    servers: replicas,
    describe: () => `nats ${connection.info?.version}, ${replicas === 1 ? "1 server" : `R${replicas}`}`,
    log: (cell) => openLog({ client, manager, cell, replicas, maxPayload }),
    removeLog: (cell) => removeLog(manager, cell),
    async table(name, under) {
      const table = await openTable({ buckets: new Kvm(client), manager, name: `berth-${name}`, replicas, under });
      // Leases are renewed so.
      return replicas === 1 ? table : { ...table, put: (key, value) => watched(table.put(key, value)) };
    },
    blobs: (store) => openBlobs({ client, stores: new Objm(client), manager, name: `berth-${store}`, replicas }),
    close() {
      isClosing = true;
      return connection.close();
    },
  };
}

async function connectTo({ servers, user, pass }: NatsOptions["address"], name: string): Promise<NatsConnection> {
  let connection: NatsConnection;
  try {
    connection = await connect({
      servers: [...servers],
      // A server without TLS is refused then.
      ...(servers.some((server) => server.startsWith("tls:")) && { tls: {} }),
      ...(user !== undefined && { user, pass: pass ?? "" }),
      name,
      timeout: CONNECT_TIMEOUT_MS,
      // It is never given up: what can't be written meanwhile waits or is refused by the leases.
      maxReconnectAttempts: -1,
      // Otherwise two sign-ins in a row that NATS has not got in time, on a network that is away, end the connection for good.
      ignoreAuthErrorAbort: true,
      reconnectTimeWait: RECONNECT_MS,
      pingInterval: 2_000,
      maxPingOut: 2,
    });
  } catch (error) {
    throw new StartError(`NATS can't be reached at ${servers.join(", ")} (${messageOf(error)}). Check CLUSTER_URL.`);
  }
  const version = connection.info?.version ?? "0";
  if (Bun.semver.order(version, `${OLDEST_SERVER}.0`) < 0) {
    await connection.close();
    throw new StartError(`NATS ${version} is too old: Berth needs ${OLDEST_SERVER} or newer.`);
  }
  // Of a cluster, other servers may have it.
  if (connection.info?.cluster === undefined && connection.info?.jetstream !== true) {
    await connection.close();
    throw new StartError("NATS runs without JetStream. It needs jetstream { } in its configuration.");
  }
  const maxPayload = maxPayloadOf(connection);
  if (maxPayload < LEAST_PAYLOAD) {
    await connection.close();
    throw new StartError(
      `NATS takes too small messages: max_payload is ${maxPayload} bytes; Berth needs ${LEAST_PAYLOAD} or more, and 1 MiB is the default.`,
    );
  }
  return connection;
}

const maxPayloadOf = ({ info }: NatsConnection) => info?.max_payload ?? DEFAULT_PAYLOAD;

/** It may be changed while the server runs, and is not known while none is connected: then it is what it was. */
function createMaxPayload(connection: NatsConnection): () => number {
  let known = maxPayloadOf(connection);
  return () => {
    known = connection.info?.max_payload ?? known;
    return known;
  };
}

/** How many servers the cluster has: as NATS tells, or, if it is set up to tell none (`no_advertise`), as CLUSTER_URL lists. 1 for one alone. */
function serversOf({ info }: NatsConnection, listed: number): number {
  if (info?.cluster === undefined) return 1;
  const told = new Set(info.connect_urls ?? []).size;
  return told > 0 ? told : listed;
}
