// Handles one publisher's connection: admits it by its stream key, enforces its limits, and turns its media into segments.
import { createKeyedQueue } from "../../../src/kernel/util/keyed-queue.ts";
import { SECOND } from "../../../src/kernel/util/time.ts";
import type { Admission } from "../stream-driver.ts";
import { createBitrateWindow, WINDOW_SECONDS } from "./bitrate-window.ts";
import { type CmafSegment, muxSegment } from "./cmaf-muxer.ts";
import { readMedia, UnusableMediaError } from "./flv-media.ts";
import { createHandshakeCollector } from "./rtmp-handshake.ts";
import { createRtmpReader, type RtmpReader } from "./rtmp-reader.ts";
import { createSegmenter, type SegmentFrames } from "./segmenter.ts";

/** The socket, as far as a publisher uses it. */
export interface Transport {
  /** False if not all bytes could be sent. */
  send(bytes: Uint8Array): boolean;
  /** Stops reading until `resume`. */
  pause(): void;
  resume(): void;
  /** Closes the connection after the bytes that were sent. */
  end(): void;
  /** Closes the connection at once. */
  terminate(): void;
}

/** A segment that viewers can load. */
export interface ReadySegment extends CmafSegment {
  readonly segment: SegmentFrames;
  readonly codecs: string;
  /** When its first frame arrived; epoch ms. */
  readonly at: number;
}

export interface Publisher {
  /** Takes bytes as they arrive. */
  read(bytes: Buffer): void;
  /** Enforces the time limits. Call it once a second, with the time in epoch ms. */
  tick(now: number): void;
  /** Disconnects the publisher. `reason` goes to the publisher and to the agent's log. */
  end(reason: string): void;
  /** Call it when the connection is closed. */
  onDisconnected(): void;
  /** Bits per second, averaged over the last ten seconds. */
  bitrate(): number;
  /** Whether the publisher is admitted and still publishes. */
  readonly isLive: boolean;
}

export interface PublisherEvents {
  /** Looks up the stream key. Called once. */
  admit(key: string): Promise<Admission>;
  onSegment(segment: ReadySegment): Promise<void>;
  /**
   * Called once for an admitted publisher, after its last segment. `reason` is undefined if the publisher ended the stream;
   * `isClean`: it announced the end by RTMP.
   */
  onEnded(reason: string | undefined, isClean: boolean): void;
  /** Called when a connection is closed before it was admitted; `reason` is for the service's log. */
  onRefused(reason: string): void;
}

/** From the connection to the admission. */
const ADMISSION_TIMEOUT_MS = 10 * SECOND;
/** Between two reads of an admitted publisher. */
const IDLE_TIMEOUT_MS = 15 * SECOND;
export const MAX_BITRATE = 8_000_000;
const MAX_WINDOW_BYTES = (MAX_BITRATE / 8) * WINDOW_SECONDS;
/** Segments waiting to be written; more of them mean that the disk is slower than the stream. */
const MAX_QUEUED_SEGMENTS = 4;
/** A connection's segments are written in order: they share one queue. */
const QUEUE_KEY = "segments";

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

export function createPublisher(transport: Transport, events: PublisherEvents): Publisher {
  const connectedAt = Date.now();
  let state: "handshake" | "connected" | "admitting" | "live" | "closed" = "handshake";
  /** Until the handshake is complete; its bytes are freed then. */
  let handshake: ReturnType<typeof createHandshakeCollector> | undefined = createHandshakeCollector();
  let reader: RtmpReader | undefined;
  let lastReadAt = connectedAt;
  const bitrateWindow = createBitrateWindow();
  let liveSince = 0;
  let hasEndedCleanly = false;

  const segmenter = createSegmenter();
  let firstFrameAt: number | undefined;
  let queuedSegments = 0;
  const enqueue = createKeyedQueue();

  function isClosed(): boolean {
    return state === "closed";
  }

  /** The remaining frames become a last segment if the publisher ended the stream, and are dropped if Berth ended it. */
  function finish(reason: string | undefined): void {
    if (state === "closed") return;
    const wasLive = state === "live";
    state = "closed";
    handshake = undefined;
    if (!wasLive) return;
    if (reason === undefined) enqueueSegment(segmenter.flush());
    void enqueue(QUEUE_KEY, async () => events.onEnded(reason, hasEndedCleanly));
  }

  /** Sends the status if the publisher reads at all; the connection ends in either case. */
  function sendStatus(code: "NetStream.Publish.BadName" | "NetStream.Publish.Failed", text: string): void {
    try {
      reader?.refuse(code, text);
    } catch {
      transport.terminate();
    }
  }

  /** Closes the connection at once and sends no status: after a violation of the protocol or of a time limit. */
  function disconnect(reason: string): void {
    if (isClosed()) return;
    const wasLive = state === "live";
    finish(wasLive ? reason : undefined);
    transport.terminate();
    if (!wasLive) events.onRefused(reason);
  }

  function endWithReason(reason: string): void {
    if (isClosed()) return;
    if (state === "live") sendStatus("NetStream.Publish.Failed", reason);
    finish(reason);
    transport.end();
  }

  function enqueueSegment(segment: SegmentFrames | undefined): void {
    if (!segment) return;
    if (++queuedSegments > MAX_QUEUED_SEGMENTS) endWithReason("this host's disk is slower than the stream.");
    void enqueue(QUEUE_KEY, () => muxAndDeliver(segment))
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
      const media = readMedia(type, clock, body);
      if (media.kind === "frame") firstFrameAt ??= Date.now();
      enqueueSegment(segmenter.add(media));
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
    if (isClosed()) {
      // The connection closed during the lookup, but `admit` has registered this publisher: report its end.
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
    if (state !== "connected") throw new Error("published twice");
    state = "admitting";
    void requestAdmission(key);
  }

  const handler = {
    send: (bytes: Uint8Array) => {
      if (!transport.send(bytes)) throw new Error("it does not read the bytes that it is sent");
    },
    onPublish,
    onMedia,
    onEnded: () => {
      hasEndedCleanly = true;
      finish(undefined);
      transport.end();
    },
  };

  /** Returns all bytes received so far once the handshake's first part is complete, and creates the reader for them. */
  function readHandshake(bytes: Buffer): Buffer | undefined {
    const all = handshake?.(bytes);
    if (!all) return undefined;
    handshake = undefined;
    state = "connected";
    reader = createRtmpReader(handler);
    return all;
  }

  function countBytes(bytes: number): void {
    bitrateWindow.add(bytes);
    if (bitrateWindow.bytes <= MAX_WINDOW_BYTES) return;
    const megabits = MAX_BITRATE / 1_000_000;
    endWithReason(`it sent more than ${megabits} Mbit/s over ${WINDOW_SECONDS} seconds. Lower the encoder's bit rate.`);
  }

  return {
    read(bytes) {
      if (isClosed()) return;
      lastReadAt = Date.now();
      try {
        const payload = state === "handshake" ? readHandshake(bytes) : bytes;
        if (!payload) return;
        if (state === "live") countBytes(payload.length);
        if (!isClosed()) reader?.read(payload);
      } catch (error) {
        disconnect(messageOf(error));
      }
    },

    tick(now) {
      if (isClosed()) return;
      if (state !== "live") {
        if (now - connectedAt > ADMISSION_TIMEOUT_MS) disconnect("it did not publish in time");
        return;
      }
      if (now - lastReadAt > IDLE_TIMEOUT_MS)
        return disconnect(`it sent nothing for ${IDLE_TIMEOUT_MS / SECOND} seconds.`);
      bitrateWindow.advance();
    },

    end: endWithReason,
    onDisconnected: () => finish(undefined),
    bitrate: () => bitrateWindow.bitrateSince(liveSince),
    get isLive() {
      return state === "live";
    },
  };
}
