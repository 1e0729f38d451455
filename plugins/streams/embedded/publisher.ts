// One connection of a publisher: let in by its key, kept within its bounds, its media made into segments.
import type { Admission } from "../driver.ts";
import { type Cut, createCutter } from "./cutter.ts";
import { readMedia, UnusableMedia } from "./media.ts";
import { createRtmpReader, type RtmpReader } from "./rtmp.ts";
import { type Segment, segmentOf } from "./segment.ts";

/** The other side of the wire. */
export interface Wire {
  /** False when not all of it could be sent. */
  send(bytes: Uint8Array): boolean;
  /** No more is read until `resume`. */
  pause(): void;
  resume(): void;
  /** After what was sent. */
  end(): void;
  /** At once. */
  cut(): void;
}

/** A segment that is ready for viewers. */
export interface Ready extends Segment {
  readonly cut: Cut;
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
  end(why: string): void;
  /** The connection is gone. */
  gone(): void;
  /** Bits in a second, over the last ten. */
  bitrate(): number;
  /** Whether it was let in. */
  readonly isLive: boolean;
}

export interface PublisherEvents {
  /** Whose key it is. Called once. */
  admit(key: string): Promise<Admission>;
  segment(ready: Ready): Promise<void>;
  /** Called once. `why` undefined: it ended by itself; `said`: it said so before. */
  over(why: string | undefined, said: boolean): void;
  /** A stranger was sent away, for the log. */
  refused(why: string): void;
}

/** Bytes of the first part of the handshake, RTMP 1.0 §5.2; until then nothing is made for a connection. */
const GREETING = 1 + 1536;
const VERSION = 3;
/** From the connection to being let in. */
const WITHIN_MS = 10_000;
/** Without a byte. */
const SILENT_MS = 15_000;
export const MAX_BITRATE = 8_000_000;
const WINDOW_SECONDS = 10;
const MAX_WINDOW_BYTES = (MAX_BITRATE / 8) * WINDOW_SECONDS;
/** Segments that wait to be written; more means that the disk is slower than the stream. */
const MAX_WAITING = 4;

const reasonOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

export function createPublisher(wire: Wire, events: PublisherEvents): Publisher {
  const began = Date.now();
  let state: "greeting" | "talking" | "asking" | "live" | "over" = "greeting";
  let greeting: Buffer[] = [];
  let greeted = 0;
  let reader: RtmpReader | undefined;
  let heardAt = began;
  /** Bytes by second, the newest last. */
  const seconds = [0];
  let inWindow = 0;
  let liveSince = 0;
  let hasSaidGoodbye = false;

  const cutter = createCutter();
  let firstFrameAt: number | undefined;
  let waiting = 0;
  let last: Promise<void> = Promise.resolve();

  function isOver(): boolean {
    return state === "over";
  }

  /** What was sent until now still becomes a segment, unless it is taken away from the publisher. */
  function finish(why: string | undefined): void {
    if (state === "over") return;
    const wasLive = state === "live";
    state = "over";
    greeting = [];
    if (!wasLive) return;
    if (why === undefined) queue(cutter.rest());
    // After its last segment.
    void last.finally(() => events.over(why, hasSaidGoodbye));
  }

  /** Tells it, if it listens; whether it does changes nothing. */
  function tell(code: "NetStream.Publish.BadName" | "NetStream.Publish.Failed", text: string): void {
    try {
      reader?.refuse(code, text);
    } catch {
      wire.cut();
    }
  }

  /** For strangers, who are owed nothing. */
  function cutOff(why: string): void {
    if (isOver()) return;
    const wasLive = state === "live";
    finish(wasLive ? why : undefined);
    wire.cut();
    if (!wasLive) events.refused(why);
  }

  function endWith(why: string): void {
    if (isOver()) return;
    if (state === "live") tell("NetStream.Publish.Failed", why);
    finish(why);
    wire.end();
  }

  function queue(cut: Cut | undefined): void {
    if (!cut) return;
    if (++waiting > MAX_WAITING) endWith("this host's disk is slower than the stream.");
    last = last
      .then(() => deliver(cut))
      .catch((error: unknown) => endWith(error instanceof UnusableMedia ? error.message : "it could not be written."))
      .finally(() => void waiting--);
  }

  async function deliver(cut: Cut): Promise<void> {
    const { init, data } = await segmentOf(cut);
    const codecs = [cut.video?.codec, cut.audio?.codec].filter((codec) => codec !== undefined).join(",");
    await events.segment({ init, data, cut, codecs, at: (firstFrameAt ?? Date.now()) + cut.start });
  }

  function media(type: number, clock: number, body: Uint8Array): void {
    if (state !== "live") return;
    try {
      const read = readMedia(type, clock, body);
      if (read.kind === "frame") firstFrameAt ??= Date.now();
      queue(cutter.add(read));
    } catch (error) {
      if (!(error instanceof UnusableMedia)) throw error;
      endWith(error.message);
    }
  }

  async function ask(key: string): Promise<void> {
    wire.pause();
    let answer: Admission;
    try {
      answer = await events.admit(key);
    } catch {
      answer = { refusal: "Berth can't check keys right now." };
    }
    if (isOver()) {
      // It went while its key was looked up; whoever let it in has to know.
      if (!("refusal" in answer)) events.over(undefined, false);
      return;
    }
    if ("refusal" in answer) {
      tell("NetStream.Publish.BadName", answer.refusal);
      finish(undefined);
      events.refused(answer.refusal);
      return wire.end();
    }
    state = "live";
    liveSince = Date.now();
    heardAt = liveSince;
    try {
      reader?.accept();
      wire.resume();
    } catch (error) {
      cutOff(reasonOf(error));
    }
  }

  function publish(key: string): void {
    if (state !== "talking") throw new Error("published twice");
    state = "asking";
    void ask(key);
  }

  const handler = {
    send: (bytes: Uint8Array) => {
      if (!wire.send(bytes)) throw new Error("it does not read what it is sent");
    },
    publish,
    media,
    over: () => {
      hasSaidGoodbye = true;
      finish(undefined);
      wire.end();
    },
  };

  /** Collects the greeting; gives all of it once it is there. */
  function greet(bytes: Buffer): Buffer | undefined {
    if (greeted === 0 && bytes[0] !== VERSION) throw new Error("this is not RTMP");
    greeted += bytes.length;
    const all = Buffer.concat([...greeting, bytes]);
    if (greeted < GREETING) {
      greeting = [all];
      return undefined;
    }
    greeting = [];
    state = "talking";
    reader = createRtmpReader(handler);
    return all;
  }

  function count(bytes: number): void {
    inWindow += bytes;
    seconds[seconds.length - 1] = (seconds.at(-1) ?? 0) + bytes;
    if (inWindow > MAX_WINDOW_BYTES) {
      const megabits = MAX_BITRATE / 1_000_000;
      endWith(`it sent more than ${megabits} Mbit/s over ${WINDOW_SECONDS} seconds. Lower the encoder's bit rate.`);
    }
  }

  return {
    read(bytes) {
      if (isOver()) return;
      heardAt = Date.now();
      try {
        const taken = state === "greeting" ? greet(bytes) : bytes;
        if (!taken) return;
        if (state === "live") count(taken.length);
        if (!isOver()) reader?.read(taken);
      } catch (error) {
        cutOff(reasonOf(error));
      }
    },

    tick(now) {
      if (isOver()) return;
      if (state !== "live") {
        if (now - began > WITHIN_MS) cutOff("it took too long to say what it wants");
        return;
      }
      if (now - heardAt > SILENT_MS) return cutOff(`nothing came for ${SILENT_MS / 1000} seconds.`);
      seconds.push(0);
      while (seconds.length > WINDOW_SECONDS) inWindow -= seconds.shift() ?? 0;
    },

    end: endWith,
    gone: () => finish(undefined),
    bitrate: () => {
      const measured = Math.min(WINDOW_SECONDS, Math.max(1, (Date.now() - liveSince) / 1000));
      return Math.round((inWindow * 8) / measured);
    },
    get isLive() {
      return state === "live";
    },
  };
}
