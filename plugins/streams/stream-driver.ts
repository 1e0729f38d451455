// The port behind which video comes in and goes out: in this process, nowhere, or one day at somebody else's service.

/** Who a stream belongs to. */
export interface OwnedStream {
  readonly id: string;
  readonly agentId: string;
  readonly userId: string;
}

/** Addresses of a stream; each is null where there are no streams. */
export interface StreamUrls {
  /** Where publishers send to, without the key. */
  rtmpServer: string | null;
  /** The same with the key: a secret. */
  rtmp: string | null;
  /** The playlist, for players. */
  hls: string | null;
  /** The page, for people. */
  playbackUrl: string | null;
}

/** How a stream is that somebody publishes right now. */
export interface LiveStatus {
  /** Epoch ms. */
  since: number;
  /** Bits in a second, over the last ten. */
  bitrate: number;
}

/** Why a publisher was sent away, in words for the agent's log; undefined: it ended by itself. */
export type EndReason = string | undefined;

/**
 * Whose key it is, how many streams its owner may have on the air at once, and whether the agent is nobody's so far; or
 * why it is refused, in words.
 */
export type Admission = { stream: OwnedStream; maxStreams: number; isUnclaimed: boolean } | { refusal: string };

/** Who may publish, and whom a driver tells what happens. What is told returns at once. */
export interface StreamHooks {
  admit(key: string): Promise<Admission>;
  /** Called when a publisher's first picture is there. */
  onStarted(stream: OwnedStream): void;
  /** Called when it is off the air. */
  onEnded(stream: OwnedStream, reason: EndReason): void;
  /** A line in the agent's log. */
  logForAgent(stream: OwnedStream, text: string): void;
}

export interface StreamDriver {
  /** As answers name it. */
  readonly name: "embedded" | "off";
  /** How long what is published takes to be seen, in a word; null where nothing is. */
  readonly latency: "standard" | null;
  urlsOf(stream: { id: string; key: string }): StreamUrls;
  /** At the start: removes what a process that was killed has left. */
  removeLeftovers(): void;
  /** From now on publishers can come, until `close`. Returns when the first try is over, whatever came of it. */
  open(): Promise<void>;
  /** Whether publishers can come. */
  isReady(): boolean;
  liveStatusOf(id: string): LiveStatus | undefined;
  /** The streams of publishers that were let in. */
  publishedStreams(): readonly OwnedStream[];
  /** Sends the publisher away, if there is one, and removes what viewers could still see. `why`: for the agent's log. */
  end(id: string, reason: string): Promise<void>;
  /** A file that players ask for, such as `index.m3u8`; undefined when there is none. */
  fileResponse(id: string, name: string): Response | undefined;
  close(): Promise<void>;
}

const NO_URLS: StreamUrls = { rtmpServer: null, rtmp: null, hls: null, playbackUrl: null };

/** `STREAM_DRIVER=off`. */
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
