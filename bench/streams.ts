// Measures live streams: the delay from camera to screen, and the cost of a stream. Needs ffmpeg and Chromium.

import { join } from "node:path";
import { startBerth } from "../tests/support/berth.ts";
import { openChromium, type Page } from "../tests/support/chromium.ts";
import { eventually } from "../tests/support/eventually.ts";
import { isThere, publish } from "../tests/support/ffmpeg.ts";
import { member } from "../tests/support/members.ts";
import { type Child, run, temporaryDir } from "../tests/support/process.ts";
import { type AgentStream, createStream } from "../tests/support/streams.ts";
import { type Benchmark, median, mib } from "./support/figures.ts";
import { cpuOf, memoryOf } from "./support/process-usage.ts";
import { binary } from "./support/service.ts";

/** Parallel streams of about 2 Mbit/s each, encoded in advance, since an encoder needs more CPU than Berth. */
const STREAMS = 10;
const SECONDS = 20;
const SEGMENT_SECONDS = 2;
const GOAL_SECONDS = 4;
const GOAL_BYTES = 8 * 1024 * 1024;

export const streams: Benchmark = {
  name: "streams",
  summary: `a live stream from camera to screen; ${STREAMS} at once: memory and processor of each`,
  async run() {
    for (const program of ["ffmpeg", "chromium"]) {
      if (!isThere(program)) throw new Error(`${program} is not installed: apt-get install ffmpeg chromium.`);
    }
    const folder = temporaryDir();
    try {
      const film = join(folder.path, "film.flv");
      await encode(film);
      await using berth = await startBerth({ binary });
      const owner = await member(berth, "enterprise");
      await Bun.sleep(3_000);
      const idle = memoryOf(berth.pid).rss;
      const airs: AgentStream[] = [];
      for (let n = 0; n < STREAMS; n++) airs.push(await createStream(berth, owner, `Camera ${n}`));
      await Bun.sleep(1_000);
      const loaded = memoryOf(berth.pid).rss;

      const [first] = airs;
      if (!first) throw new Error("There is no stream.");
      const seen = await watch(first);

      const cameras = airs.map(({ stream }) => replay(film, stream.rtmp));
      await Promise.all(airs.map(({ waitForState }) => waitForState("active")));
      // Wait until the segment window and the garbage collector's heap have reached their steady size.
      await Bun.sleep(SECONDS * 1000);
      const since = performance.now();
      const before = cpuOf(berth.pid);
      await Bun.sleep(10_000);
      const busy = (cpuOf(berth.pid) - before) / (performance.now() - since);
      const after = memoryOf(berth.pid).rss;
      const states = await Promise.all(airs.map(({ read }) => read()));
      const bitrate = states.reduce((sum, state) => sum + (state.bitrate ?? 0), 0) / STREAMS;
      for (const camera of cameras) camera.signal("SIGKILL");
      if (states.some(({ state }) => state !== "active")) throw new Error("A stream has ended during the measurement.");
      const perStream = (after - loaded) / STREAMS;
      const segment = `${SEGMENT_SECONDS} s, a segment`;
      return [
        {
          what: "first frame published to first piece in the playlist",
          ratio: seen.playable / SEGMENT_SECONDS,
          figure: `${seen.playable.toFixed(2)} s`,
          baseline: segment,
          goal: "",
        },
        {
          what: "glass to glass, Chromium, median of 20",
          ratio: seen.behind / SEGMENT_SECONDS,
          figure: `${seen.behind.toFixed(2)} s`,
          baseline: segment,
          goal: `≤ ${GOAL_SECONDS} s`,
          met: seen.behind <= GOAL_SECONDS,
        },
        {
          what: `RSS per stream, ${STREAMS} of ${(bitrate / 1e6).toFixed(1)} Mbit/s`,
          ratio: perStream / GOAL_BYTES,
          figure: mib(perStream),
          baseline: `${mib(after)} in all`,
          goal: `≤ ${mib(GOAL_BYTES)}`,
          met: perStream <= GOAL_BYTES,
        },
        {
          what: "RSS of the port and what carries streams, once there is one",
          figure: mib(loaded - idle),
          baseline: `${mib(idle)} without`,
          goal: "",
        },
        {
          what: "processor per stream",
          figure: `${((busy / STREAMS) * 100).toFixed(2)} % of a core`,
          baseline: "",
          goal: "",
        },
      ];
    } finally {
      folder.remove();
    }
  },
};

async function encode(film: string): Promise<void> {
  const picture = ["-f", "lavfi", "-i", "testsrc2=size=1280x720:rate=30", "-f", "lavfi", "-i", "sine"];
  const video = ["-c:v", "libx264", "-preset", "ultrafast", "-b:v", "2M", "-maxrate", "2M", "-bufsize", "2M"];
  const command = ["ffmpeg", "-loglevel", "error", "-nostdin", ...picture, "-t", "10", ...video];
  const rest = ["-pix_fmt", "yuv420p", "-g", "60", "-c:a", "aac", "-b:a", "128k", "-f", "flv", film];
  const env = { PATH: process.env.PATH ?? "/usr/bin:/bin" };
  const { exitCode, stderr } = await run([...command, ...rest], env, "/tmp", 120_000);
  if (exitCode !== 0) throw new Error(`ffmpeg could not encode the film: ${stderr}`);
}

/** Publishes the film in a loop in real time, without encoding. */
const replay = (film: string, url: string): Child =>
  publish(url, { seconds: 600, sources: ["-stream_loop", "-1", "-i", film], codecs: ["-c", "copy"] });

/** Publishes a test picture and plays it in a browser; returns the delays in seconds. */
async function watch({ stream, base, waitForState }: AgentStream): Promise<{ playable: number; behind: number }> {
  await using page = await openChromium();
  await page.goto(base);
  await Bun.sleep(2_000);
  const camera = publish(stream.rtmp, { seconds: 120 });
  try {
    await waitForState("active");
    const list = await (await fetch(`${base}/index.m3u8`)).text();
    const filmed = Date.parse(/PROGRAM-DATE-TIME:(\S+)/.exec(list)?.[1] ?? "");
    const playable = (Date.now() - filmed) / 1000;
    await eventually(async () => (await behindOf(page)) > 0, { timeoutMs: 30_000, everyMs: 100, what: "it plays" });
    await Bun.sleep(5_000);
    const seen: number[] = [];
    for (let n = 0; n < 20; n++) {
      seen.push(await behindOf(page));
      await Bun.sleep(250);
    }
    return { playable, behind: median(seen) };
  } finally {
    camera.signal("SIGKILL");
  }
}

/** Age of the frame on the screen, by the time of each segment in the playlist. */
const behindOf = (page: Page) =>
  page.evaluate<number>(`(() => {
    const video = document.getElementById("video");
    return video.readyState < 3 ? 0 : Date.now() / 1000 - (Number(video.dataset.origin) + video.currentTime);
  })()`);
