// The driver inside this process. Until there is a stream it opens no port, and loads nothing that it takes to carry one.
import { rmSync } from "node:fs";
import { join } from "node:path";
import type { Kernel } from "../../../src/plugin.ts";
import type { Desk, StreamDriver } from "../driver.ts";
import type { Ingest } from "./ingest.ts";
import type { Studio } from "./studio.ts";

const FIRST_RETRY_MS = 5_000;
const MAX_RETRY_MS = 60_000;

/** The files of streams, in the data folder. */
const FOLDER = "streams";

export function createEmbedded({ config, log }: Pick<Kernel, "config" | "log">, desk: Desk): StreamDriver {
  const { rtmpUrl, rtmpPort, playbackUrl } = config.streams;
  const { host } = config.web;
  const folder = join(config.dataDir, FOLDER);
  let studio: Studio | undefined;
  let ingest: Ingest | undefined;
  let opening: Promise<void> | undefined;
  let retry: Timer | undefined;
  let retryMs = FIRST_RETRY_MS;
  let isClosed = false;

  async function load(): Promise<{ studio: Studio; listen: typeof import("./ingest.ts").listen }> {
    const [{ createStudio }, { listen }] = await Promise.all([import("./studio.ts"), import("./ingest.ts")]);
    studio ??= createStudio(folder, desk);
    return { studio, listen };
  }

  async function tryToListen(): Promise<void> {
    const { studio, listen } = await load();
    if (isClosed || ingest) return;
    try {
      ingest = listen({ host, port: rtmpPort, studio, log });
      if (retryMs > FIRST_RETRY_MS) log.info("The RTMP port is free now: live streams can be published.");
      retryMs = FIRST_RETRY_MS;
    } catch (error) {
      // Said once; what follows is the same trouble.
      if (retryMs === FIRST_RETRY_MS) {
        const text = `RTMP_PORT: port ${rtmpPort} can't be had, so no live stream can be published. Free it, or set another port.`;
        log.warn(text, { host, error });
      }
      retry = setTimeout(() => {
        retry = undefined;
        opening = tryToListen();
      }, retryMs).unref();
      retryMs = Math.min(retryMs * 2, MAX_RETRY_MS);
    }
  }

  /** With port 0 the address is only known once there is a port. */
  function serverAddress(): string {
    if (rtmpPort !== 0 || !ingest || config.origins.STREAM_RTMP_URL !== "default") return rtmpUrl;
    return rtmpUrl.replace(/:0\//, `:${ingest.port}/`);
  }

  return {
    name: "embedded",
    latency: "standard",
    places({ id, key }) {
      const rtmpServer = serverAddress();
      const page = `${playbackUrl.replace(/\/+$/, "")}/${id}`;
      return { rtmpServer, rtmp: `${rtmpServer}/${key}`, hls: `${page}/index.m3u8`, playbackUrl: page };
    },
    async open() {
      opening ??= tryToListen();
      await opening;
    },
    ready: () => ingest !== undefined,
    onAir: (id) => studio?.onAir(id),
    published: () => studio?.published() ?? [],
    end: async (id, why) => studio?.end(id, why),
    file: (id, name) => studio?.file(id, name),
    sweep: () => rmSync(folder, { recursive: true, force: true }),
    async close() {
      isClosed = true;
      clearTimeout(retry);
      ingest?.close();
      ingest = undefined;
      await studio?.close("Berth was stopped.");
    },
  };
}
