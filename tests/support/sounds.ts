// Makes real recordings with the system's ffmpeg: a tone in the formats in which people and models record.

import { join } from "node:path";
import { run, temporaryDir } from "./process.ts";

const ENV = { PATH: process.env.PATH ?? "/usr/bin:/bin", HOME: "/tmp" };

/** Encoder arguments by the end of the file's name. */
const CODECS = {
  ogg: ["-c:a", "libopus", "-b:a", "24k", "-application", "voip"],
  wav: ["-c:a", "pcm_s16le", "-ar", "16000"],
  mp3: ["-c:a", "libmp3lame", "-b:a", "64k"],
  m4a: ["-c:a", "aac", "-b:a", "64k"],
  webm: ["-c:a", "libopus", "-b:a", "24k"],
  flac: ["-c:a", "flac"],
} as const;
export type SoundFormat = keyof typeof CODECS;

/** A tone of this length. */
export async function sound(
  format: SoundFormat,
  seconds = 2,
  more: readonly string[] = [],
): Promise<Buffer<ArrayBuffer>> {
  using dir = temporarySound(format);
  const source = ["-f", "lavfi", "-i", `sine=frequency=300:sample_rate=48000:duration=${seconds}`];
  const command = ["ffmpeg", "-v", "error", "-nostdin", ...source, "-ac", "1", ...CODECS[format], ...more, dir.path];
  const { exitCode, stderr } = await run(command, ENV, "/tmp", 60_000);
  if (exitCode !== 0) throw new Error(`ffmpeg ended with ${exitCode}: ${stderr.slice(0, 500)}`);
  return Buffer.from(await Bun.file(dir.path).arrayBuffer());
}

/** Length in seconds and codec of a recording, by ffprobe. */
export async function probeSound(bytes: Uint8Array, format: SoundFormat): Promise<{ seconds: number; codec: string }> {
  using file = temporarySound(format);
  await Bun.write(file.path, bytes);
  const entries = ["-show_entries", "format=duration:stream=codec_name", "-of", "json"];
  const { exitCode, stdout, stderr } = await run(
    ["ffprobe", "-v", "error", ...entries, file.path],
    ENV,
    "/tmp",
    30_000,
  );
  if (exitCode !== 0) throw new Error(`ffprobe ended with ${exitCode}: ${stderr.slice(0, 500)}`);
  const probed = JSON.parse(stdout) as { format: { duration: string }; streams: { codec_name: string }[] };
  return { seconds: Number(probed.format.duration), codec: probed.streams[0]?.codec_name ?? "" };
}

function temporarySound(format: SoundFormat) {
  const dir = temporaryDir();
  return { path: join(dir.path, `sound.${format}`), [Symbol.dispose]: () => dir.remove() };
}
