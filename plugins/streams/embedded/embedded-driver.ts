// The stream driver that receives and serves video in this process. It opens the port, and loads its code, with the first stream.

import { rmSync } from "node:fs";
import { join } from "node:path";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import { MINUTE, SECOND } from "../../../src/kernel/util/time.ts";
import { streamSettings } from "../settings.ts";
import type { StreamDriver, StreamHooks } from "../stream-driver.ts";
import type { Broadcasts } from "./broadcasts.ts";
import type { Ingest } from "./ingest.ts";

const FIRST_RETRY_MS = 5 * SECOND;
const MAX_RETRY_MS = MINUTE;

/** The folder for segments, inside the data folder. */
const STREAMS_FOLDER = "streams";

export function createEmbeddedDriver(
  { config, log }: Pick<Kernel, "config" | "log">,
  hooks: StreamHooks,
): StreamDriver {
  const { rtmpUrl, rtmpPort, playbackUrl, hasCustomRtmpUrl } = config.of(streamSettings);
  const { host } = config.web;
  const folder = join(config.dataDir, STREAMS_FOLDER);
  let broadcasts: Broadcasts | undefined;
  let ingest: Ingest | undefined;
  let openAttempt: Promise<void> | undefined;
  let retryTimer: Timer | undefined;
  let retryMs = FIRST_RETRY_MS;
  let isClosed = false;

  async function loadBroadcasts(): Promise<{ broadcasts: Broadcasts; listen: typeof import("./ingest.ts").listen }> {
    const [{ createBroadcasts }, { listen }] = await Promise.all([import("./broadcasts.ts"), import("./ingest.ts")]);
    broadcasts ??= createBroadcasts(folder, hooks);
    return { broadcasts, listen };
  }

  async function openPort(): Promise<void> {
    const { broadcasts, listen } = await loadBroadcasts();
    if (isClosed || ingest) return;
    try {
      ingest = listen({ host, port: rtmpPort, broadcasts, log });
      if (retryMs > FIRST_RETRY_MS) log.info("The RTMP port is free now: live streams can be published.");
      retryMs = FIRST_RETRY_MS;
    } catch (error) {
      // Logged once; the retries fail for the same reason.
      if (retryMs === FIRST_RETRY_MS) {
        const text = `RTMP_PORT: port ${rtmpPort} can't be opened, so no live stream can be published. Free it, or set another port.`;
        log.warn(text, { host, error });
      }
      retryTimer = setTimeout(() => {
        retryTimer = undefined;
        openAttempt = openPort();
      }, retryMs).unref();
      retryMs = Math.min(retryMs * 2, MAX_RETRY_MS);
    }
  }

  /** With port 0 the address is known once the system has chosen a port. */
  function serverAddress(): string {
    if (rtmpPort !== 0 || !ingest || hasCustomRtmpUrl) return rtmpUrl;
    return rtmpUrl.replace(/:0\//, `:${ingest.port}/`);
  }

  return {
    name: "embedded",
    latency: "standard",
    urlsOf({ id, key }) {
      const rtmpServer = serverAddress();
      const page = `${playbackUrl.replace(/\/+$/, "")}/${id}`;
      return { rtmpServer, rtmp: `${rtmpServer}/${key}`, hls: `${page}/index.m3u8`, playbackUrl: page };
    },
    async open() {
      openAttempt ??= openPort();
      await openAttempt;
    },
    isReady: () => ingest !== undefined,
    liveStatusOf: (id) => broadcasts?.liveStatusOf(id),
    publishedStreams: () => broadcasts?.publishedStreams() ?? [],
    end: async (id, reason) => broadcasts?.end(id, reason),
    fileResponse: (id, name) => broadcasts?.fileResponse(id, name),
    removeLeftovers: () => rmSync(folder, { recursive: true, force: true }),
    async close() {
      isClosed = true;
      clearTimeout(retryTimer);
      ingest?.close();
      ingest = undefined;
      await broadcasts?.close("Berth was stopped.");
    },
  };
}
