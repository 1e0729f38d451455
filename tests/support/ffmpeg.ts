// ffmpeg, as the independent publisher and player of live streams. From the system; `npm test` installs it where it is missing.

import { type Child, launch, run } from "./process.ts";

/** Whether a program is on the path. */
export const isThere = (program: string) => Bun.which(program) !== null;

const ENV = { PATH: process.env.PATH ?? "/usr/bin:/bin", HOME: "/tmp" };

export interface Picture {
  /** Default 30 s; what is left out of it ends with `signal`. */
  seconds?: number;
  size?: string;
  rate?: number;
  /** Between key frames. Default 2. */
  keySeconds?: number;
  /** In place of H.264 and AAC as an encoder would set them. */
  codecs?: string[];
  /** In place of a test picture with a tone. */
  sources?: string[];
}

/** Publishes a test picture with a tone, at the pace of a camera. */
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

/** What ffprobe finds at an address, and how many packets it could read within `seconds` of the stream. */
export async function probe(url: string, seconds = 3): Promise<Probed> {
  const command = [
    ...["ffprobe", "-v", "error", "-count_packets", "-read_intervals", `%+${seconds}`],
    ...["-show_entries", "stream=codec_name,codec_type,width,height,nb_read_packets", "-of", "json", url],
  ];
  const { exitCode, stdout, stderr } = await run(command, ENV, "/tmp", 30_000);
  if (exitCode !== 0) throw new Error(`ffprobe ended with ${exitCode}: ${stderr.slice(0, 500)}`);
  return JSON.parse(stdout) as Probed;
}
