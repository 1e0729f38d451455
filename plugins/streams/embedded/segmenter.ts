// Cuts what a publisher sends into segments of about two seconds, each beginning with a key frame.
import { type AudioConfig, type Frame, type Media, UnusableMediaError, type VideoConfig } from "./flv-media.ts";

/** The frames of one segment, in the order they came in. Times in milliseconds from the publisher's first frame. */
export interface SegmentFrames {
  readonly video: VideoConfig | undefined;
  readonly audio: AudioConfig | undefined;
  /** Whether players have to be set up anew for it: for the first, and after a change. */
  readonly hasNewInit: boolean;
  readonly frames: readonly Frame[];
  readonly start: number;
  readonly end: number;
}

export interface Segmenter {
  /** Takes one message. Gives the segment that it completes. Throws UnusableMedia. */
  add(media: Media): SegmentFrames | undefined;
  /** What is left at the end. */
  flush(): SegmentFrames | undefined;
}

/** A key frame cuts when so much has come before it: encoders that send one every two seconds are not exact. */
const MIN_SEGMENT_MS = 1_800;
const AUDIO_SEGMENT_MS = 2_000;
/** Sound alone for so long is a stream without pictures. */
const AUDIO_ONLY_AFTER_MS = 1_000;
/** Encoders' own defaults go up to ten seconds between key frames. */
const MAX_SEGMENT_MS = 15_000;
/** Above what 15 seconds of the bit rate and of 240 pictures a second come to. */
const MAX_BYTES = 16 * 1024 * 1024;
const MAX_FRAMES = 6_000;
/** A clock that stands back so far is set right; one that is off by more is another clock. */
const MAX_CLOCK_BACKWARD_MS = 1_000;
const MAX_CLOCK_JUMP_MS = 10_000;

export function createSegmenter(): Segmenter {
  let video: VideoConfig | undefined;
  let audio: AudioConfig | undefined;
  /** What was announced since, good from the next cut on. */
  let pendingVideo: VideoConfig | undefined;
  let pendingAudio: AudioConfig | undefined;

  let frames: Frame[] = [];
  let bytes = 0;
  let start: number | undefined;
  let hasNewInit = true;
  /** When the key frame that begins the segment is shown. */
  let keyFramePts = 0;

  /** The publisher's clock at its first frame. */
  let firstDts: number | undefined;
  const lastDts: { video?: number; audio?: number } = {};
  let audioOnlySince: number | undefined;

  /** On our own clock, which never goes back. */
  function normalizeTimestamp(frame: Frame): Frame {
    firstDts ??= frame.dts;
    let dts = frame.dts - firstDts;
    const latestDts = Math.max(lastDts.video ?? lastDts.audio ?? dts, lastDts.audio ?? lastDts.video ?? dts);
    const previousDts = lastDts[frame.kind] ?? latestDts - MAX_CLOCK_BACKWARD_MS;
    if (dts < previousDts - MAX_CLOCK_BACKWARD_MS || dts > latestDts + MAX_CLOCK_JUMP_MS) {
      throw new UnusableMediaError("its clock jumped. Start the encoder anew.");
    }
    dts = Math.max(dts, previousDts, 0);
    lastDts[frame.kind] = dts;
    return { ...frame, dts };
  }

  function closeSegment(end: number): SegmentFrames | undefined {
    const segment: SegmentFrames | undefined =
      start === undefined || frames.length === 0 ? undefined : { video, audio, hasNewInit, frames, start, end };
    if (segment) hasNewInit = false;
    frames = [];
    bytes = 0;
    start = undefined;
    if (pendingVideo || pendingAudio) {
      video = pendingVideo ?? video;
      audio = pendingAudio ?? audio;
      pendingVideo = undefined;
      pendingAudio = undefined;
      hasNewInit = true;
    }
    return segment;
  }

  function isSegmentBoundary({ kind, isKey, dts }: Frame, segmentStart: number): boolean {
    if (video || pendingVideo)
      return kind === "video" && isKey && (dts - segmentStart >= MIN_SEGMENT_MS || hasConfigChange());
    return dts - segmentStart >= AUDIO_SEGMENT_MS || hasConfigChange();
  }
  const hasConfigChange = () => pendingVideo !== undefined || pendingAudio !== undefined;

  /** Whether a first segment can begin here. */
  function canStartFirstSegment({ kind, isKey, dts }: Frame): boolean {
    if (pendingVideo ?? video) return kind === "video" && isKey;
    audioOnlySince ??= dts;
    return dts - audioOnlySince >= AUDIO_ONLY_AFTER_MS;
  }

  function appendFrame(frame: Frame): void {
    if (frame.kind === "video") {
      const pts = frame.dts + frame.offset;
      if (frames.length === 0) keyFramePts = pts;
      // Made of the pictures before the key frame too (an open group of pictures): who begins here can't decode it.
      else if (pts < keyFramePts) return;
    }
    frames.push(frame);
    bytes += frame.data.length;
    const segmentStart = start ?? frame.dts;
    if (frame.dts - segmentStart > MAX_SEGMENT_MS || frames.length > MAX_FRAMES || bytes > MAX_BYTES) {
      const seconds = MAX_SEGMENT_MS / 1000;
      throw new UnusableMediaError(
        `it had no key frame for ${seconds} seconds. Set the encoder's key frame interval to 2 seconds.`,
      );
    }
  }

  function addFrame(input: Frame): SegmentFrames | undefined {
    const config = input.kind === "video" ? (pendingVideo ?? video) : (pendingAudio ?? audio);
    if (!config) throw new UnusableMediaError("its media came before their set-up. Start the encoder anew.");
    const frame = normalizeTimestamp(input);
    let segment: SegmentFrames | undefined;
    if (start === undefined) {
      if (!canStartFirstSegment(frame)) return undefined;
      closeSegment(frame.dts);
      start = frame.dts;
    } else if (isSegmentBoundary(frame, start)) {
      segment = closeSegment(frame.dts);
      start = frame.dts;
    }
    // Decoded in another way than the segment under way says: until the next one begins, it is left out.
    if (frame.kind === "video" ? pendingVideo : pendingAudio) return segment;
    appendFrame(frame);
    return segment;
  }

  return {
    add(media) {
      switch (media.kind) {
        case "video-setup":
          if (!isSameConfig(media.config, pendingVideo ?? video)) pendingVideo = media.config;
          return undefined;
        case "audio-setup":
          if (!isSameConfig(media.config, pendingAudio ?? audio)) pendingAudio = media.config;
          return undefined;
        case "frame":
          return addFrame(media.frame);
        case "nothing":
          return undefined;
      }
    },
    flush: () => closeSegment(Math.max(lastDts.video ?? 0, lastDts.audio ?? 0)),
  };
}

const isSameConfig = (a: { description: Uint8Array }, b: { description: Uint8Array } | undefined) =>
  b !== undefined && Buffer.compare(a.description, b.description) === 0;
