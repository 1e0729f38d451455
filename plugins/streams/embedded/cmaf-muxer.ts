// Writes a segment as a CMAF file (ISO 23000-19), a format that both browsers and HLS players read.
import {
  BufferTarget,
  CmafOutputFormat,
  EncodedAudioPacketSource,
  EncodedPacket,
  EncodedVideoPacketSource,
  Output,
} from "mediabunny";
import { type AudioConfig, type Frame, UnusableMediaError, type VideoConfig } from "./flv-media.ts";
import type { SegmentFrames } from "./segmenter.ts";

export interface CmafSegment {
  /** The initialization segment, which players load before the segments with the same configuration. */
  readonly init: Uint8Array;
  readonly data: Uint8Array;
}

/** Samples per AAC frame, ISO 14496-3 §4.5.1.1. */
const AAC_SAMPLES = 1024;

const videoTrackMetadata = ({ codec, width, height, description }: VideoConfig) => ({
  decoderConfig: { codec, codedWidth: width, codedHeight: height, description },
});
const audioTrackMetadata = ({ codec, sampleRate, channels, description }: AudioConfig) => ({
  decoderConfig: { codec, sampleRate, numberOfChannels: channels, description },
});

/** Throws UnusableMediaError if the library can't write the frames. */
export async function muxSegment(segment: SegmentFrames): Promise<CmafSegment> {
  const { video, audio, frames, end } = segment;
  const [target, initTarget] = [new BufferTarget(), new BufferTarget()];
  const output = new Output({ format: new CmafOutputFormat(), target, initTarget });
  const videoSource = new EncodedVideoPacketSource("avc");
  const audioSource = new EncodedAudioPacketSource("aac");
  if (video) output.addVideoTrack(videoSource, videoTrackMetadata(video));
  if (audio) output.addAudioTrack(audioSource, audioTrackMetadata(audio));
  try {
    await output.start();
    if (video) {
      const metadata = videoTrackMetadata(video);
      for (const packet of packetsOf(frames, "video", (frame, next) => ((next?.dts ?? end) - frame.dts) / 1000)) {
        await videoSource.add(packet, metadata);
      }
    }
    if (audio) {
      const metadata = audioTrackMetadata(audio);
      const seconds = AAC_SAMPLES / audio.sampleRate;
      for (const packet of packetsOf(frames, "audio", () => seconds)) await audioSource.add(packet, metadata);
    }
    await output.finalize();
  } catch (cause) {
    await output.cancel().catch(() => undefined);
    throw new UnusableMediaError("its pictures or sound could not be written to a file. Restart the encoder.", {
      cause,
    });
  }
  if (!target.buffer || !initTarget.buffer) throw new Error("A segment was not written.");
  return { init: new Uint8Array(initTarget.buffer), data: new Uint8Array(target.buffer) };
}

function* packetsOf(
  frames: readonly Frame[],
  kind: Frame["kind"],
  durationOf: (frame: Frame, next: Frame | undefined) => number,
): Iterable<EncodedPacket> {
  const trackFrames = frames.filter((frame) => frame.kind === kind);
  for (const [at, frame] of trackFrames.entries()) {
    const { data, isKey, dts, offset } = frame;
    yield new EncodedPacket(
      data,
      isKey ? "key" : "delta",
      (dts + offset) / 1000,
      durationOf(frame, trackFrames[at + 1]),
    );
  }
}
