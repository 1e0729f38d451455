// Publishes and reads live streams with the system's ffmpeg, an independent implementation; `npm test` installs it if it is missing.

import { type Child, launch, run } from "./process.ts";

/** Whether a program is on the PATH. */
export const isThere = (program: string) => Bun.which(program) !== null;

const ENV = { PATH: process.env.PATH ?? "/usr/bin:/bin", HOME: "/tmp" };

export interface Picture {
  /** Length of the stream. Default: 30 s. */
  seconds?: number;
  size?: string;
  rate?: number;
  /** Seconds between key frames. Default: 2. */
  keySeconds?: number;
  /** Encoder arguments in place of H.264 and AAC. */
  codecs?: string[];
  /** Input arguments in place of a test picture with a tone. */
  sources?: string[];
}

/** Publishes a test picture with a tone in real time. */
export function publish(url: string, picture: Picture = {}): Child {
  const { seconds = 30, size = "320x240", rate = 25, keySeconds = 2 } = picture;
  const {
    sources = ["-f", "lavfi", "-i", `testsrc=size=${size}:rate=${rate}`, "-f", "lavfi", "-i", "sine=frequency=440"],
    codecs = [
      ...["-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-g", String(rate * keySeconds)],
      ...["-c:a", "aac", "-b:a", "64k", "-ar", "44100"],
    ],
  } = picture;
  const command = ["ffmpeg", "-hide_banner", "-loglevel", "warning", "-nostdin", "-re", ...sources];
  return launch({
    command: [...command, "-t", String(seconds), ...codecs, "-f", "flv", url],
    env: ENV,
    dir: "/tmp",
  });
}

export interface Probed {
  streams: { codec_name: string; codec_type: string; width?: number; height?: number; nb_read_packets?: string }[];
}

/** Runs ffprobe on an address: its streams, and the number of packets in the first `seconds`. */
export async function probe(url: string, seconds = 3): Promise<Probed> {
  const command = [
    ...["ffprobe", "-v", "error", "-count_packets", "-read_intervals", `%+${seconds}`],
    ...["-show_entries", "stream=codec_name,codec_type,width,height,nb_read_packets", "-of", "json", url],
  ];
  const { exitCode, stdout, stderr } = await run(command, ENV, "/tmp", 30_000);
  if (exitCode !== 0) throw new Error(`ffprobe ended with ${exitCode}: ${stderr.slice(0, 500)}`);
  return JSON.parse(stdout) as Probed;
}
