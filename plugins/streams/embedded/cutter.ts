// Cuts what a publisher sends into segments of about two seconds, each beginning with a key frame.
import { type AudioSetup, type Frame, type Media, UnusableMedia, type VideoSetup } from "./media.ts";

/** The frames of one segment, in the order they came in. Times in milliseconds from the publisher's first frame. */
export interface Cut {
  readonly video: VideoSetup | undefined;
  readonly audio: AudioSetup | undefined;
  /** Whether players have to be set up anew for it: for the first, and after a change. */
  readonly isFresh: boolean;
  readonly frames: readonly Frame[];
  readonly start: number;
  readonly end: number;
}

export interface Cutter {
  /** Takes one message. Gives the segment that it completes. Throws UnusableMedia. */
  add(media: Media): Cut | undefined;
  /** What is left at the end. */
  rest(): Cut | undefined;
}

/** A key frame cuts when so much has come before it: encoders that send one every two seconds are not exact. */
const LONG_ENOUGH_MS = 1_800;
const AUDIO_SEGMENT_MS = 2_000;
/** Sound alone for so long is a stream without pictures. */
const SOUND_ALONE_MS = 1_000;
/** Encoders' own defaults go up to ten seconds between key frames. */
const MAX_SEGMENT_MS = 15_000;
/** Above what 15 seconds of the bit rate and of 240 pictures a second come to. */
const MAX_BYTES = 16 * 1024 * 1024;
const MAX_FRAMES = 6_000;
/** A clock that stands back so far is set right; one that is off by more is another clock. */
const MAX_BACK_MS = 1_000;
const MAX_JUMP_MS = 10_000;

export function createCutter(): Cutter {
  let video: VideoSetup | undefined;
  let audio: AudioSetup | undefined;
  /** What was announced since, good from the next cut on. */
  let nextVideo: VideoSetup | undefined;
  let nextAudio: AudioSetup | undefined;

  let frames: Frame[] = [];
  let bytes = 0;
  let start: number | undefined;
  let isFresh = true;
  /** When the key frame that begins the segment is shown. */
  let shownFrom = 0;

  /** The publisher's clock at its first frame. */
  let origin: number | undefined;
  const last: { video?: number; audio?: number } = {};
  let soundSince: number | undefined;

  /** On our own clock, which never goes back. */
  function timed(frame: Frame): Frame {
    origin ??= frame.dts;
    let dts = frame.dts - origin;
    const latest = Math.max(last.video ?? last.audio ?? dts, last.audio ?? last.video ?? dts);
    const before = last[frame.kind] ?? latest - MAX_BACK_MS;
    if (dts < before - MAX_BACK_MS || dts > latest + MAX_JUMP_MS) {
      throw new UnusableMedia("its clock jumped. Start the encoder anew.");
    }
    dts = Math.max(dts, before, 0);
    last[frame.kind] = dts;
    return { ...frame, dts };
  }

  function cutAt(end: number): Cut | undefined {
    const cut: Cut | undefined =
      start === undefined || frames.length === 0 ? undefined : { video, audio, isFresh, frames, start, end };
    if (cut) isFresh = false;
    frames = [];
    bytes = 0;
    start = undefined;
    if (nextVideo || nextAudio) {
      video = nextVideo ?? video;
      audio = nextAudio ?? audio;
      nextVideo = undefined;
      nextAudio = undefined;
      isFresh = true;
    }
    return cut;
  }

  function isPlaceToCut({ kind, isKey, dts }: Frame, since: number): boolean {
    if (video || nextVideo) return kind === "video" && isKey && (dts - since >= LONG_ENOUGH_MS || changes());
    return dts - since >= AUDIO_SEGMENT_MS || changes();
  }
  const changes = () => nextVideo !== undefined || nextAudio !== undefined;

  /** Whether a first segment can begin here. */
  function isBeginning({ kind, isKey, dts }: Frame): boolean {
    if (nextVideo ?? video) return kind === "video" && isKey;
    soundSince ??= dts;
    return dts - soundSince >= SOUND_ALONE_MS;
  }

  function hold(frame: Frame): void {
    if (frame.kind === "video") {
      const shown = frame.dts + frame.offset;
      if (frames.length === 0) shownFrom = shown;
      // Made of the pictures before the key frame too (an open group of pictures): who begins here can't decode it.
      else if (shown < shownFrom) return;
    }
    frames.push(frame);
    bytes += frame.data.length;
    const since = start ?? frame.dts;
    if (frame.dts - since > MAX_SEGMENT_MS || frames.length > MAX_FRAMES || bytes > MAX_BYTES) {
      const seconds = MAX_SEGMENT_MS / 1000;
      throw new UnusableMedia(
        `it had no key frame for ${seconds} seconds. Set the encoder's key frame interval to 2 seconds.`,
      );
    }
  }

  function take(given: Frame): Cut | undefined {
    const isKnown = given.kind === "video" ? (nextVideo ?? video) : (nextAudio ?? audio);
    if (!isKnown) throw new UnusableMedia("its media came before their set-up. Start the encoder anew.");
    const frame = timed(given);
    let cut: Cut | undefined;
    if (start === undefined) {
      if (!isBeginning(frame)) return undefined;
      cutAt(frame.dts);
      start = frame.dts;
    } else if (isPlaceToCut(frame, start)) {
      cut = cutAt(frame.dts);
      start = frame.dts;
    }
    // Decoded in another way than the segment under way says: until the next one begins, it is left out.
    if (frame.kind === "video" ? nextVideo : nextAudio) return cut;
    hold(frame);
    return cut;
  }

  return {
    add(media) {
      switch (media.kind) {
        case "video-setup":
          if (!isSame(media.setup, nextVideo ?? video)) nextVideo = media.setup;
          return undefined;
        case "audio-setup":
          if (!isSame(media.setup, nextAudio ?? audio)) nextAudio = media.setup;
          return undefined;
        case "frame":
          return take(media.frame);
        case "nothing":
          return undefined;
      }
    },
    rest: () => cutAt(Math.max(last.video ?? 0, last.audio ?? 0)),
  };
}

const isSame = (a: { description: Uint8Array }, b: { description: Uint8Array } | undefined) =>
  b !== undefined && Buffer.compare(a.description, b.description) === 0;
