// Records the microphone, and makes a WAV file of it: models of all makers read that, unlike what browsers record.

/** Hertz; enough for speech. */
const RATE = 16_000;
const HEADER = 44;

export interface Recording {
  /** Ends it; the file, or undefined if nothing was heard. */
  finish(): Promise<File | undefined>;
  cancel(): void;
}

export const canRecord = (): boolean =>
  typeof MediaRecorder !== "undefined" &&
  navigator.mediaDevices !== undefined &&
  typeof OfflineAudioContext !== "undefined";

/** Begins at once; rejects when the person or the browser does not allow it. */
export async function startRecording(): Promise<Recording> {
  const stream = await navigator.mediaDevices.getUserMedia({ audio: { channelCount: 1, noiseSuppression: true } });
  const recorder = new MediaRecorder(stream);
  const parts: Blob[] = [];
  recorder.ondataavailable = ({ data }) => parts.push(data);
  const stopped = new Promise<void>((resolve) => {
    recorder.onstop = () => resolve();
  });
  const stop = () => {
    if (recorder.state !== "inactive") recorder.stop();
    for (const track of stream.getTracks()) track.stop();
  };
  recorder.start();
  return {
    async finish() {
      stop();
      await stopped;
      const recorded = new Blob(parts);
      return recorded.size === 0 ? undefined : toWav(await recorded.arrayBuffer());
    },
    cancel: stop,
  };
}

async function toWav(recorded: ArrayBuffer): Promise<File> {
  const decoder = new OfflineAudioContext(1, 1, RATE);
  // Decoding brings it to the rate of the context.
  const sound = await decoder.decodeAudioData(recorded);
  const samples = sound.getChannelData(0);
  const bytes = new DataView(new ArrayBuffer(HEADER + 2 * samples.length));
  const write = (at: number, letters: string) => {
    for (let n = 0; n < letters.length; n++) bytes.setUint8(at + n, letters.charCodeAt(n));
  };
  // RIFF/WAVE, 16-bit PCM, one channel.
  write(0, "RIFF");
  bytes.setUint32(4, bytes.byteLength - 8, true);
  write(8, "WAVEfmt ");
  bytes.setUint32(16, 16, true);
  bytes.setUint16(20, 1, true);
  bytes.setUint16(22, 1, true);
  bytes.setUint32(24, RATE, true);
  bytes.setUint32(28, RATE * 2, true);
  bytes.setUint16(32, 2, true);
  bytes.setUint16(34, 16, true);
  write(36, "data");
  bytes.setUint32(40, 2 * samples.length, true);
  samples.forEach((sample, n) => {
    bytes.setInt16(HEADER + 2 * n, Math.round(Math.max(-1, Math.min(1, sample)) * 0x7fff), true);
  });
  return new File([bytes.buffer], "voice.wav", { type: "audio/wav" });
}
