// Manages live streams: each agent can have one, with a key for its publisher and addresses for its viewers.
import type { Statement } from "../../src/kernel/database/database.ts";
import { AppError, notFound } from "../../src/kernel/errors.ts";
import { agentNotFound } from "../agents/index.ts";
import type { StreamDriver, StreamUrls } from "./stream-driver.ts";
import type { StreamRow, StreamStore } from "./stream-store.ts";

/** An agent's stream, including its key: only for its owner. Every field is null with `STREAM_DRIVER=off`. */
export interface StreamAddresses extends StreamUrls {
  liveStreamId: string | null;
  streamKey: string | null;
}

/** `active`: it is published. `unavailable`: it can't be, since the RTMP port is taken or streams are switched off. */
export type StreamState = "idle" | "active" | "unavailable";

export interface StreamStatus extends StreamAddresses {
  state: StreamState;
  /** When it last went on or off the air, or was created; epoch ms. Null with `STREAM_DRIVER=off`. */
  since: number | null;
  /** Bits per second; null unless active. */
  bitrate: number | null;
}

export interface StreamService {
  /** For `metadata.streaming`: the driver and its latency class; both null with `STREAM_DRIVER=off`. */
  readonly streaming: { readonly provider: string | null; readonly latency: string | null };
  /** The stream of a new agent, to be inserted in the batch that creates the agent. */
  createStatements(agentId: string): { addresses: StreamAddresses; statements: Statement[] };
  /** The agent's stream, created if it has none. 404 `AGENT_NOT_FOUND`. */
  create(agentId: string): Promise<StreamAddresses>;
  /** Undefined if the agent has no stream. */
  statusOf(agentId: string): Promise<StreamStatus | undefined>;
  /** Replaces the key and disconnects the publisher that used the old one. 404 `STREAM_NOT_FOUND`, 409 `STREAMS_OFF`. */
  rotateKey(agentId: string): Promise<StreamAddresses>;
  /** Rotates the key also while streams are switched off; false if the agent has no stream. */
  rotateKeyIfPresent(agentId: string): Promise<boolean>;
  /** Removes the stream and disconnects its publisher; false if the agent had none. */
  remove(agentId: string): Promise<boolean>;
  /** A file for players, by the stream's id: the playlist or a segment. 404 `STREAM_OFF_AIR`. */
  mediaResponse(id: string, file: string): Response;
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

/** Players on other origins may read the refusal too, and no cache keeps it: the stream can start at any moment. */
const OFF_AIR_HEADERS = { "access-control-allow-origin": "*", "cache-control": "no-store" };
const streamOffAir = () => {
  const text = "Nothing is on the air here right now. Try again later.";
  return new AppError(404, "STREAM_OFF_AIR", text, {}, { headers: OFF_AIR_HEADERS });
};

interface Deps {
  driver: StreamDriver;
  rows: StreamStore;
  /** Whether the RTMP port is opened for the first stream: true only in the process that runs background work. */
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
        // The driver itself logs a port that it can't open, and retries; the stream exists in any case.
        if (acceptsPublishers()) driver.open().catch(() => undefined);
      };
      return { addresses: addressesOf(row), statements: [{ ...statement, after }] };
    },

    async create(agentId) {
      if (isOff) return NO_ADDRESSES;
      const row = await rows.findOrCreate(agentId);
      if (!row) throw agentNotFound();
      // Opened here and not at every start, so that a host without streams opens no port.
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

    mediaResponse(id, file) {
      const response = driver.fileResponse(id, file);
      if (!response) throw streamOffAir();
      return response;
    },
  };
}
