// Defines the port that a stream driver implements. A driver receives video from publishers and serves it to viewers.

/** A stream with the agent and the user that it belongs to. */
export interface OwnedStream {
  readonly id: string;
  readonly agentId: string;
  readonly userId: string;
}

/** Addresses of a stream; all are null with `STREAM_DRIVER=off`. */
export interface StreamUrls {
  /** The RTMP address for publishers, without the key. */
  rtmpServer: string | null;
  /** The RTMP address with the key: a secret. */
  rtmp: string | null;
  /** The HLS playlist, for players. */
  hls: string | null;
  /** The page that plays the stream in a browser. */
  playbackUrl: string | null;
}

/** The status of a stream that is on the air. */
export interface LiveStatus {
  /** When its first segment was ready; epoch ms. */
  since: number;
  /** Bits per second, averaged over the last ten seconds. */
  bitrate: number;
}

/** Why Berth disconnected the publisher, as text for the agent's log; undefined if the publisher ended the stream. */
export type EndReason = string | undefined;

/**
 * The answer to a stream key: its stream, the number of streams that the owner may publish at once, and whether the agent
 * is still unclaimed (its owner is a placeholder account); or a refusal, as text for the publisher.
 */
export type Admission = { stream: OwnedStream; maxStreams: number; isUnclaimed: boolean } | { refusal: string };

/** What a driver calls: `admit` decides who may publish; the others report, and return at once. */
export interface StreamHooks {
  admit(key: string): Promise<Admission>;
  /** Called when the first segment of a publisher is ready. */
  onStarted(stream: OwnedStream): void;
  /** Called when a stream that `onStarted` has reported ends. */
  onEnded(stream: OwnedStream, reason: EndReason): void;
  /** Writes a line into the agent's log. */
  logForAgent(stream: OwnedStream, text: string): void;
}

export interface StreamDriver {
  /** The value of `STREAM_DRIVER`. */
  readonly name: "embedded" | "off";
  /** The latency class that the API reports; null with `off`. */
  readonly latency: "standard" | null;
  urlsOf(stream: { id: string; key: string }): StreamUrls;
  /** Removes the files that a killed process has left. Call it once, at the start. */
  removeLeftovers(): void;
  /** Accepts publishers until `close`. Resolves after the first attempt, also a failed one, which is then retried. */
  open(): Promise<void>;
  /** Whether publishers can connect now. */
  isReady(): boolean;
  /** Undefined unless the stream is on the air. */
  liveStatusOf(id: string): LiveStatus | undefined;
  /** The streams that have an admitted publisher. */
  publishedStreams(): readonly OwnedStream[];
  /** Disconnects the publisher, if there is one, and removes all segments. `reason` goes into the agent's log. */
  end(id: string, reason: string): Promise<void>;
  /** A file for players, such as `index.m3u8`; undefined if there is none. */
  fileResponse(id: string, name: string): Response | undefined;
  close(): Promise<void>;
}

const NO_URLS: StreamUrls = { rtmpServer: null, rtmp: null, hls: null, playbackUrl: null };

/** The driver for `STREAM_DRIVER=off`: it accepts no publisher and serves no file. */
export const disabledDriver: StreamDriver = {
  name: "off",
  latency: null,
  urlsOf: () => NO_URLS,
  removeLeftovers: () => undefined,
  open: () => Promise.resolve(),
  isReady: () => false,
  liveStatusOf: () => undefined,
  publishedStreams: () => [],
  end: () => Promise.resolve(),
  fileResponse: () => undefined,
  close: () => Promise.resolve(),
};
