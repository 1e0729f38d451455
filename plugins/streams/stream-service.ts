// The service of streams: each agent can have one, with a key for its publisher and addresses for its viewers.
import type { Statement } from "../../src/kernel/database/database.ts";
import { AppError, notFound } from "../../src/kernel/errors.ts";
import { agentNotFound } from "../agents/index.ts";
import type { StreamDriver, StreamUrls } from "./stream-driver.ts";
import type { StreamRow, StreamStore } from "./stream-store.ts";

/** An agent's stream, key included: for its owner alone. Every field is null with `STREAM_DRIVER=off`. */
export interface StreamAddresses extends StreamUrls {
  liveStreamId: string | null;
  streamKey: string | null;
}

/** `active`: somebody publishes. `unavailable`: nobody can, since the port is taken or there are no streams here. */
export type StreamState = "idle" | "active" | "unavailable";

export interface StreamStatus extends StreamAddresses {
  state: StreamState;
  /** Since when it is on the air, or is not; epoch ms. Null where there are no streams. */
  since: number | null;
  /** Bits in a second; null while nobody publishes. */
  bitrate: number | null;
}

export interface StreamService {
  /** For `metadata.streaming`: which driver, and how long pictures take, in a word; both null with `STREAM_DRIVER=off`. */
  readonly streaming: { readonly provider: string | null; readonly latency: string | null };
  /** The stream of an agent that is being made, for the batch that makes it. */
  createStatements(agentId: string): { addresses: StreamAddresses; statements: Statement[] };
  /** The agent's stream, made when it has none. 404 when there is no such agent. */
  create(agentId: string): Promise<StreamAddresses>;
  /** Undefined: the agent has none. */
  statusOf(agentId: string): Promise<StreamStatus | undefined>;
  /** Another key, and the end of whoever publishes with the one before. 404 `STREAM_NOT_FOUND`. */
  rotateKey(agentId: string): Promise<StreamAddresses>;
  /** The same whatever the driver; false when the agent has no stream. */
  rotateKeyIfPresent(agentId: string): Promise<boolean>;
  /** False when there was none. */
  remove(agentId: string): Promise<boolean>;
}

const NO_ADDRESSES: StreamAddresses = {
  liveStreamId: null,
  streamKey: null,
  rtmpServer: null,
  rtmp: null,
  hls: null,
  playbackUrl: null,
};

export const streamsDisabled = () => new AppError(409, "STREAMS_OFF", "Live streams are switched off on this host.");
export const streamNotFound = () =>
  notFound("This agent has no live stream. PUT …/stream gives it one.", "STREAM_NOT_FOUND");

interface Deps {
  driver: StreamDriver;
  rows: StreamStore;
  /** Whether publishers are let in as soon as there is a stream: only where background work runs. */
  acceptsPublishers: () => boolean;
}

export function createStreamService({ driver, rows, acceptsPublishers }: Deps): StreamService {
  const isOff = driver.name === "off";

  const addressesOf = ({ id, key }: StreamRow): StreamAddresses => ({
    liveStreamId: id,
    streamKey: key,
    ...driver.urlsOf({ id, key }),
  });

  async function rotateKeyIfPresent(agentId: string): Promise<StreamRow | undefined> {
    const row = (await rows.rotateKey(agentId)) ? await rows.findByAgent(agentId) : undefined;
    if (row) await driver.end(row.id, "its key was changed.");
    return row;
  }

  return {
    streaming: isOff ? { provider: null, latency: null } : { provider: driver.name, latency: driver.latency },

    createStatements(agentId) {
      if (isOff) return { addresses: NO_ADDRESSES, statements: [] };
      const { row, statement } = rows.insertStatement(agentId);
      const after = () => {
        // What keeps publishers out is the driver's to tell; the stream is there in any case.
        if (acceptsPublishers()) driver.open().catch(() => undefined);
      };
      return { addresses: addressesOf(row), statements: [{ ...statement, after }] };
    },

    async create(agentId) {
      if (isOff) return NO_ADDRESSES;
      const row = await rows.findOrCreate(agentId);
      if (!row) throw agentNotFound();
      // Here and not at each start: who has no stream pays for none.
      if (acceptsPublishers()) await driver.open();
      return addressesOf(row);
    },

    async statusOf(agentId) {
      const row = await rows.findByAgent(agentId);
      if (!row) return undefined;
      if (isOff) return { ...NO_ADDRESSES, state: "unavailable", since: null, bitrate: null };
      const liveStatus = driver.liveStatusOf(row.id);
      if (liveStatus)
        return { ...addressesOf(row), state: "active", since: liveStatus.since, bitrate: liveStatus.bitrate };
      return { ...addressesOf(row), state: driver.isReady() ? "idle" : "unavailable", since: row.since, bitrate: null };
    },

    async rotateKey(agentId) {
      if (isOff) throw streamsDisabled();
      const row = await rotateKeyIfPresent(agentId);
      if (!row) throw streamNotFound();
      return addressesOf(row);
    },

    rotateKeyIfPresent: async (agentId) => (await rotateKeyIfPresent(agentId)) !== undefined,

    async remove(agentId) {
      const id = await rows.remove(agentId);
      if (id === undefined) return false;
      await driver.end(id, "it was removed.");
      return true;
    },
  };
}
