// The port behind which video comes in and goes out: in this process, nowhere, or one day at somebody else's service.

/** Who a stream belongs to. */
export interface Owned {
  readonly id: string;
  readonly agentId: string;
  readonly userId: string;
}

/** Addresses of a stream; each is null where there are no streams. */
export interface Places {
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
export interface OnAir {
  /** Epoch ms. */
  since: number;
  /** Bits in a second, over the last ten. */
  bitrate: number;
}

/** Why a publisher was sent away, in words for the agent's log; undefined: it ended by itself. */
export type Ending = string | undefined;

/**
 * Whose key it is, how many streams its owner may have on the air at once, and whether the agent is nobody's so far; or
 * why it is refused, in words.
 */
export type Admission = { stream: Owned; most: number; isUnclaimed: boolean } | { refusal: string };

/** Who may publish, and whom a driver tells what happens. What is told returns at once. */
export interface Desk {
  admit(key: string): Promise<Admission>;
  /** Called when a publisher's first picture is there. */
  began(stream: Owned): void;
  /** Called when it is off the air. */
  ended(stream: Owned, why: Ending): void;
  /** A line in the agent's log. */
  note(stream: Owned, text: string): void;
}

export interface StreamDriver {
  /** As answers name it. */
  readonly name: "embedded" | "off";
  /** How long what is published takes to be seen, in a word; null where nothing is. */
  readonly latency: "standard" | null;
  places(stream: { id: string; key: string }): Places;
  /** At the start: removes what a process that was killed has left. */
  sweep(): void;
  /** From now on publishers can come, until `close`. Returns when the first try is over, whatever came of it. */
  open(): Promise<void>;
  /** Whether publishers can come. */
  ready(): boolean;
  onAir(id: string): OnAir | undefined;
  /** The streams of publishers that were let in. */
  published(): readonly Owned[];
  /** Sends the publisher away, if there is one, and removes what viewers could still see. `why`: for the agent's log. */
  end(id: string, why: string): Promise<void>;
  /** A file that players ask for, such as `index.m3u8`; undefined when there is none. */
  file(id: string, name: string): Response | undefined;
  close(): Promise<void>;
}

const NOWHERE: Places = { rtmpServer: null, rtmp: null, hls: null, playbackUrl: null };

/** `STREAM_DRIVER=off`. */
export const off: StreamDriver = {
  name: "off",
  latency: null,
  places: () => NOWHERE,
  sweep: () => undefined,
  open: () => Promise.resolve(),
  ready: () => false,
  onAir: () => undefined,
  published: () => [],
  end: () => Promise.resolve(),
  file: () => undefined,
  close: () => Promise.resolve(),
};
