// The service of streams: each agent can have one, with a key for its publisher and addresses for its viewers.
import type { Statement } from "../../src/database.ts";
import { AppError, notFound } from "../../src/errors.ts";
import { noSuchAgent } from "../agents/index.ts";
import type { Places, StreamDriver } from "./driver.ts";
import type { StreamRow, StreamRows } from "./rows.ts";

/** An agent's stream, key included: for its owner alone. Every field is null with `STREAM_DRIVER=off`. */
export interface StreamAddresses extends Places {
  liveStreamId: string | null;
  streamKey: string | null;
}

/** `active`: somebody publishes. `unavailable`: nobody can, since the port is taken or there are no streams here. */
export type StreamState = "idle" | "active" | "unavailable";

export interface StreamStanding extends StreamAddresses {
  state: StreamState;
  /** Since when it is on the air, or is not; epoch ms. Null where there are no streams. */
  since: number | null;
  /** Bits in a second; null while nobody publishes. */
  bitrate: number | null;
}

export interface Streams {
  /** For `metadata.streaming`: which driver, and how long pictures take, in a word; both null with `STREAM_DRIVER=off`. */
  readonly streaming: { readonly provider: string | null; readonly latency: string | null };
  /** The stream of an agent that is being made, for the batch that makes it. */
  creating(agentId: string): { addresses: StreamAddresses; statements: Statement[] };
  /** The agent's stream, made when it has none. 404 when there is no such agent. */
  create(agentId: string): Promise<StreamAddresses>;
  /** Undefined: the agent has none. */
  of(agentId: string): Promise<StreamStanding | undefined>;
  /** Another key, and the end of whoever publishes with the one before. 404 `STREAM_NOT_FOUND`. */
  rotateKey(agentId: string): Promise<StreamAddresses>;
  /** The same whatever the driver; false when the agent has no stream. */
  changeKey(agentId: string): Promise<boolean>;
  /** False when there was none. */
  remove(agentId: string): Promise<boolean>;
}

const NONE: StreamAddresses = {
  liveStreamId: null,
  streamKey: null,
  rtmpServer: null,
  rtmp: null,
  hls: null,
  playbackUrl: null,
};

export const streamsOff = () => new AppError(409, "STREAMS_OFF", "Live streams are switched off on this host.");
export const noStream = () => notFound("This agent has no live stream. PUT …/stream gives it one.", "STREAM_NOT_FOUND");

interface Deps {
  driver: StreamDriver;
  rows: StreamRows;
  /** Whether publishers are let in as soon as there is a stream: only where background work runs. */
  isServing: () => boolean;
}

export function createStreams({ driver, rows, isServing }: Deps): Streams {
  const isOff = driver.name === "off";

  const addressesOf = ({ id, key }: StreamRow): StreamAddresses => ({
    liveStreamId: id,
    streamKey: key,
    ...driver.places({ id, key }),
  });

  async function changeKey(agentId: string): Promise<StreamRow | undefined> {
    const row = (await rows.rotate(agentId)) ? await rows.of(agentId) : undefined;
    if (row) await driver.end(row.id, "its key was changed.");
    return row;
  }

  return {
    streaming: isOff ? { provider: null, latency: null } : { provider: driver.name, latency: driver.latency },

    creating(agentId) {
      if (isOff) return { addresses: NONE, statements: [] };
      const { row, statement } = rows.making(agentId);
      const after = () => {
        // What keeps publishers out is the driver's to tell; the stream is there in any case.
        if (isServing()) driver.open().catch(() => undefined);
      };
      return { addresses: addressesOf(row), statements: [{ ...statement, after }] };
    },

    async create(agentId) {
      if (isOff) return NONE;
      const row = await rows.make(agentId);
      if (!row) throw noSuchAgent();
      // Here and not at each start: who has no stream pays for none.
      if (isServing()) await driver.open();
      return addressesOf(row);
    },

    async of(agentId) {
      const row = await rows.of(agentId);
      if (!row) return undefined;
      if (isOff) return { ...NONE, state: "unavailable", since: null, bitrate: null };
      const live = driver.onAir(row.id);
      if (live) return { ...addressesOf(row), state: "active", since: live.since, bitrate: live.bitrate };
      return { ...addressesOf(row), state: driver.ready() ? "idle" : "unavailable", since: row.since, bitrate: null };
    },

    async rotateKey(agentId) {
      if (isOff) throw streamsOff();
      const row = await changeKey(agentId);
      if (!row) throw noStream();
      return addressesOf(row);
    },

    changeKey: async (agentId) => (await changeKey(agentId)) !== undefined,

    async remove(agentId) {
      const id = await rows.remove(agentId);
      if (id === undefined) return false;
      await driver.end(id, "it was removed.");
      return true;
    },
  };
}
