// One segment as a file: CMAF, ISO 23000-19, which browsers and players of HLS read alike.
import {
  BufferTarget,
  CmafOutputFormat,
  EncodedAudioPacketSource,
  EncodedPacket,
  EncodedVideoPacketSource,
  Output,
} from "mediabunny";
import type { Cut } from "./cutter.ts";
import { type AudioSetup, type Frame, UnusableMedia, type VideoSetup } from "./media.ts";

export interface Segment {
  /** What players need before any segment of this set-up. */
  readonly init: Uint8Array;
  readonly data: Uint8Array;
}

/** Samples in a frame of AAC, ISO 14496-3 §4.5.1.1. */
const AAC_SAMPLES = 1024;

const videoConfig = ({ codec, width, height, description }: VideoSetup) => ({
  decoderConfig: { codec, codedWidth: width, codedHeight: height, description },
});
const audioConfig = ({ codec, sampleRate, channels, description }: AudioSetup) => ({
  decoderConfig: { codec, sampleRate, numberOfChannels: channels, description },
});

/** Throws UnusableMedia for what can't be written. */
export async function segmentOf(cut: Cut): Promise<Segment> {
  const { video, audio, frames, end } = cut;
  const [target, initTarget] = [new BufferTarget(), new BufferTarget()];
  const output = new Output({ format: new CmafOutputFormat(), target, initTarget });
  const pictures = new EncodedVideoPacketSource("avc");
  const sound = new EncodedAudioPacketSource("aac");
  if (video) output.addVideoTrack(pictures, videoConfig(video));
  if (audio) output.addAudioTrack(sound, audioConfig(audio));
  try {
    await output.start();
    if (video) {
      const meta = videoConfig(video);
      for (const packet of packetsOf(frames, "video", (frame, next) => ((next?.dts ?? end) - frame.dts) / 1000)) {
        await pictures.add(packet, meta);
      }
    }
    if (audio) {
      const meta = audioConfig(audio);
      const seconds = AAC_SAMPLES / audio.sampleRate;
      for (const packet of packetsOf(frames, "audio", () => seconds)) await sound.add(packet, meta);
    }
    await output.finalize();
  } catch (cause) {
    await output.cancel().catch(() => undefined);
    throw new UnusableMedia("its pictures or sound could not be put into a file. Start the encoder anew.", { cause });
  }
  if (!target.buffer || !initTarget.buffer) throw new Error("A segment was not written.");
  return { init: new Uint8Array(initTarget.buffer), data: new Uint8Array(target.buffer) };
}

function* packetsOf(
  frames: readonly Frame[],
  kind: Frame["kind"],
  lasts: (frame: Frame, next: Frame | undefined) => number,
): Iterable<EncodedPacket> {
  const own = frames.filter((frame) => frame.kind === kind);
  for (const [at, frame] of own.entries()) {
    const { data, isKey, dts, offset } = frame;
    yield new EncodedPacket(data, isKey ? "key" : "delta", (dts + offset) / 1000, lasts(frame, own[at + 1]));
  }
}
