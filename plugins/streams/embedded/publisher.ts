// One connection of a publisher: let in by its key, kept within its bounds, its media made into segments.
import type { Admission } from "../stream-driver.ts";
import { type CmafSegment, muxSegment } from "./cmaf-muxer.ts";
import { readMedia, UnusableMediaError } from "./flv-media.ts";
import { createRtmpReader, type RtmpReader } from "./rtmp-reader.ts";
import { createSegmenter, type SegmentFrames } from "./segmenter.ts";

/** The other side of the wire. */
export interface Transport {
  /** False when not all of it could be sent. */
  send(bytes: Uint8Array): boolean;
  /** No more is read until `resume`. */
  pause(): void;
  resume(): void;
  /** After what was sent. */
  end(): void;
  /** At once. */
  terminate(): void;
}

/** A segment that is ready for viewers. */
export interface ReadySegment extends CmafSegment {
  readonly segment: SegmentFrames;
  readonly codecs: string;
  /** When its first frame came in; epoch ms. */
  readonly at: number;
}

export interface Publisher {
  /** Takes bytes as they come. */
  read(bytes: Buffer): void;
  /** Once a second: what takes too long ends here. */
  tick(now: number): void;
  /** Sends it away. `why`: for its owner. */
  end(reason: string): void;
  /** The connection is gone. */
  onDisconnected(): void;
  /** Bits in a second, over the last ten. */
  bitrate(): number;
  /** Whether it was let in. */
  readonly isLive: boolean;
}

export interface PublisherEvents {
  /** Whose key it is. Called once. */
  admit(key: string): Promise<Admission>;
  onSegment(segment: ReadySegment): Promise<void>;
  /** Called once. `why` undefined: it ended by itself; `said`: it said so before. */
  onEnded(reason: string | undefined, isClean: boolean): void;
  /** A stranger was sent away, for the log. */
  onRefused(reason: string): void;
}

/** Bytes of the first part of the handshake, RTMP 1.0 §5.2; until then nothing is made for a connection. */
const HANDSHAKE_BYTES = 1 + 1536;
const RTMP_VERSION = 3;
/** From the connection to being let in. */
const ADMISSION_TIMEOUT_MS = 10_000;
/** Without a byte. */
const IDLE_TIMEOUT_MS = 15_000;
export const MAX_BITRATE = 8_000_000;
const WINDOW_SECONDS = 10;
const MAX_WINDOW_BYTES = (MAX_BITRATE / 8) * WINDOW_SECONDS;
/** Segments that wait to be written; more means that the disk is slower than the stream. */
const MAX_QUEUED_SEGMENTS = 4;

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

export function createPublisher(transport: Transport, events: PublisherEvents): Publisher {
  const connectedAt = Date.now();
  let state: "greeting" | "talking" | "asking" | "live" | "over" = "greeting";
  let handshake: Buffer[] = [];
  let handshakeBytes = 0;
  let reader: RtmpReader | undefined;
  let lastReadAt = connectedAt;
  /** Bytes by second, the newest last. */
  const bytesPerSecond = [0];
  let windowBytes = 0;
  let liveSince = 0;
  let hasEndedCleanly = false;

  const segmenter = createSegmenter();
  let firstFrameAt: number | undefined;
  let queuedSegments = 0;
  let lastWrite: Promise<void> = Promise.resolve();

  function isOver(): boolean {
    return state === "over";
  }

  /** What was sent until now still becomes a segment, unless it is taken away from the publisher. */
  function finish(reason: string | undefined): void {
    if (state === "over") return;
    const wasLive = state === "live";
    state = "over";
    handshake = [];
    if (!wasLive) return;
    if (reason === undefined) enqueueSegment(segmenter.flush());
    // After its last segment.
    void lastWrite.finally(() => events.onEnded(reason, hasEndedCleanly));
  }

  /** Tells it, if it listens; whether it does changes nothing. */
  function sendStatus(code: "NetStream.Publish.BadName" | "NetStream.Publish.Failed", text: string): void {
    try {
      reader?.refuse(code, text);
    } catch {
      transport.terminate();
    }
  }

  /** For strangers, who are owed nothing. */
  function disconnect(reason: string): void {
    if (isOver()) return;
    const wasLive = state === "live";
    finish(wasLive ? reason : undefined);
    transport.terminate();
    if (!wasLive) events.onRefused(reason);
  }

  function endWithReason(reason: string): void {
    if (isOver()) return;
    if (state === "live") sendStatus("NetStream.Publish.Failed", reason);
    finish(reason);
    transport.end();
  }

  function enqueueSegment(segment: SegmentFrames | undefined): void {
    if (!segment) return;
    if (++queuedSegments > MAX_QUEUED_SEGMENTS) endWithReason("this host's disk is slower than the stream.");
    lastWrite = lastWrite
      .then(() => muxAndDeliver(segment))
      .catch((error: unknown) =>
        endWithReason(error instanceof UnusableMediaError ? error.message : "it could not be written."),
      )
      .finally(() => void queuedSegments--);
  }

  async function muxAndDeliver(segment: SegmentFrames): Promise<void> {
    const { init, data } = await muxSegment(segment);
    const codecs = [segment.video?.codec, segment.audio?.codec].filter((codec) => codec !== undefined).join(",");
    await events.onSegment({ init, data, segment, codecs, at: (firstFrameAt ?? Date.now()) + segment.start });
  }

  function onMedia(type: number, clock: number, body: Uint8Array): void {
    if (state !== "live") return;
    try {
      const read = readMedia(type, clock, body);
      if (read.kind === "frame") firstFrameAt ??= Date.now();
      enqueueSegment(segmenter.add(read));
    } catch (error) {
      if (!(error instanceof UnusableMediaError)) throw error;
      endWithReason(error.message);
    }
  }

  async function requestAdmission(key: string): Promise<void> {
    transport.pause();
    let admission: Admission;
    try {
      admission = await events.admit(key);
    } catch {
      admission = { refusal: "Berth can't check keys right now." };
    }
    if (isOver()) {
      // It went while its key was looked up; whoever let it in has to know.
      if (!("refusal" in admission)) events.onEnded(undefined, false);
      return;
    }
    if ("refusal" in admission) {
      sendStatus("NetStream.Publish.BadName", admission.refusal);
      finish(undefined);
      events.onRefused(admission.refusal);
      return transport.end();
    }
    state = "live";
    liveSince = Date.now();
    lastReadAt = liveSince;
    try {
      reader?.accept();
      transport.resume();
    } catch (error) {
      disconnect(messageOf(error));
    }
  }

  function onPublish(key: string): void {
    if (state !== "talking") throw new Error("published twice");
    state = "asking";
    void requestAdmission(key);
  }

  const handler = {
    send: (bytes: Uint8Array) => {
      if (!transport.send(bytes)) throw new Error("it does not read what it is sent");
    },
    onPublish,
    onMedia,
    onEnded: () => {
      hasEndedCleanly = true;
      finish(undefined);
      transport.end();
    },
  };

  /** Collects the greeting; gives all of it once it is there. */
  function readHandshake(bytes: Buffer): Buffer | undefined {
    if (handshakeBytes === 0 && bytes[0] !== RTMP_VERSION) throw new Error("this is not RTMP");
    handshakeBytes += bytes.length;
    const all = Buffer.concat([...handshake, bytes]);
    if (handshakeBytes < HANDSHAKE_BYTES) {
      handshake = [all];
      return undefined;
    }
    handshake = [];
    state = "talking";
    reader = createRtmpReader(handler);
    return all;
  }

  function countBytes(bytes: number): void {
    windowBytes += bytes;
    bytesPerSecond[bytesPerSecond.length - 1] = (bytesPerSecond.at(-1) ?? 0) + bytes;
    if (windowBytes > MAX_WINDOW_BYTES) {
      const megabits = MAX_BITRATE / 1_000_000;
      endWithReason(
        `it sent more than ${megabits} Mbit/s over ${WINDOW_SECONDS} seconds. Lower the encoder's bit rate.`,
      );
    }
  }

  return {
    read(bytes) {
      if (isOver()) return;
      lastReadAt = Date.now();
      try {
        const payload = state === "greeting" ? readHandshake(bytes) : bytes;
        if (!payload) return;
        if (state === "live") countBytes(payload.length);
        if (!isOver()) reader?.read(payload);
      } catch (error) {
        disconnect(messageOf(error));
      }
    },

    tick(now) {
      if (isOver()) return;
      if (state !== "live") {
        if (now - connectedAt > ADMISSION_TIMEOUT_MS) disconnect("it took too long to say what it wants");
        return;
      }
      if (now - lastReadAt > IDLE_TIMEOUT_MS) return disconnect(`nothing came for ${IDLE_TIMEOUT_MS / 1000} seconds.`);
      bytesPerSecond.push(0);
      while (bytesPerSecond.length > WINDOW_SECONDS) windowBytes -= bytesPerSecond.shift() ?? 0;
    },

    end: endWithReason,
    onDisconnected: () => finish(undefined),
    bitrate: () => {
      const measured = Math.min(WINDOW_SECONDS, Math.max(1, (Date.now() - liveSince) / 1000));
      return Math.round((windowBytes * 8) / measured);
    },
    get isLive() {
      return state === "live";
    },
  };
}
