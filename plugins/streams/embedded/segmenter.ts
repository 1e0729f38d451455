// Cuts a publisher's media into segments of about two seconds, each of which begins with a key frame.
import { SECOND } from "../../../src/kernel/util/time.ts";
import { type AudioConfig, type Frame, type Media, UnusableMediaError, type VideoConfig } from "./flv-media.ts";

/** The frames of one segment, in the order of arrival. Times in milliseconds since the publisher's first frame. */
export interface SegmentFrames {
  readonly video: VideoConfig | undefined;
  readonly audio: AudioConfig | undefined;
  /** Whether players need a new initialization segment: for the first segment, and after a configuration change. */
  readonly hasNewInit: boolean;
  readonly frames: readonly Frame[];
  readonly start: number;
  readonly end: number;
}

export interface Segmenter {
  /** Takes one message and returns the segment that it completes, if any. Throws UnusableMediaError. */
  add(media: Media): SegmentFrames | undefined;
  /** The remaining frames as a last segment; undefined if there are none. */
  flush(): SegmentFrames | undefined;
}

/** A key frame begins a new segment after this time. It is under two seconds because encoders' intervals are not exact. */
const MIN_SEGMENT_MS = 1_800;
const AUDIO_SEGMENT_MS = 2 * SECOND;
/** If no video arrives for this time, the stream counts as audio-only. */
const AUDIO_ONLY_AFTER_MS = 1 * SECOND;
/** Encoders' defaults go up to ten seconds between key frames. */
const MAX_SEGMENT_MS = 15 * SECOND;
/** Both are above 15 seconds at the maximum bit rate and at 240 pictures per second. */
const MAX_BYTES = 16 * 1024 * 1024;
const MAX_FRAMES = 6_000;
/** Smaller steps backward are corrected; larger ones, and jumps ahead, end the stream. */
const MAX_CLOCK_BACKWARD_MS = 1 * SECOND;
const MAX_CLOCK_JUMP_MS = 10 * SECOND;

export function createSegmenter(): Segmenter {
  let video: VideoConfig | undefined;
  let audio: AudioConfig | undefined;
  /** Configurations that were received since; they apply from the next segment on. */
  let pendingVideo: VideoConfig | undefined;
  let pendingAudio: AudioConfig | undefined;

  let frames: Frame[] = [];
  let bytes = 0;
  let start: number | undefined;
  let hasNewInit = true;
  /** The presentation time of the segment's key frame. */
  let keyFramePts = 0;

  /** The decoding time of the first frame, by the publisher's clock. */
  let firstDts: number | undefined;
  const lastDts: { video?: number; audio?: number } = {};
  let audioOnlySince: number | undefined;

  /** Makes decoding times start at 0 and never decrease within a track. */
  function normalizeTimestamp(frame: Frame): Frame {
    firstDts ??= frame.dts;
    let dts = frame.dts - firstDts;
    const latestDts = Math.max(lastDts.video ?? lastDts.audio ?? dts, lastDts.audio ?? lastDts.video ?? dts);
    const previousDts = lastDts[frame.kind] ?? latestDts - MAX_CLOCK_BACKWARD_MS;
    if (dts < previousDts - MAX_CLOCK_BACKWARD_MS || dts > latestDts + MAX_CLOCK_JUMP_MS) {
      throw new UnusableMediaError("its clock jumped. Restart the encoder.");
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

  /** Whether the first segment can begin with this frame. */
  function canStartFirstSegment({ kind, isKey, dts }: Frame): boolean {
    if (pendingVideo ?? video) return kind === "video" && isKey;
    audioOnlySince ??= dts;
    return dts - audioOnlySince >= AUDIO_ONLY_AFTER_MS;
  }

  function appendFrame(frame: Frame): void {
    if (frame.kind === "video") {
      const pts = frame.dts + frame.offset;
      if (frames.length === 0) keyFramePts = pts;
      // A picture shown before the key frame also depends on earlier ones (open GOP): a player that starts here can't decode it.
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
    if (!config)
      throw new UnusableMediaError("its media arrived before the decoder configuration. Restart the encoder.");
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
    // The frame needs the new configuration, which only applies from the next segment on: leave it out.
    if (frame.kind === "video" ? pendingVideo : pendingAudio) return segment;
    appendFrame(frame);
    return segment;
  }

  return {
    add(media) {
      switch (media.kind) {
        case "video-config":
          if (!isSameConfig(media.config, pendingVideo ?? video)) pendingVideo = media.config;
          return undefined;
        case "audio-config":
          if (!isSameConfig(media.config, pendingAudio ?? audio)) pendingAudio = media.config;
          return undefined;
        case "frame":
          return addFrame(media.frame);
        case "ignored":
          return undefined;
      }
    },
    flush: () => closeSegment(Math.max(lastDts.video ?? 0, lastDts.audio ?? 0)),
  };
}

const isSameConfig = (a: { description: Uint8Array }, b: { description: Uint8Array } | undefined) =>
  b !== undefined && Buffer.compare(a.description, b.description) === 0;
