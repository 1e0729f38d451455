// Live streams: an agent's video, published to Berth by RTMP and played from it as HLS.
import { plugin } from "../../src/plugin.ts";
import { off } from "./driver.ts";
import { createStreamRows } from "./rows.ts";
import { createStreams } from "./streams.ts";

export type { StreamAddresses, StreamStanding, StreamState, Streams } from "./streams.ts";

export const streams = plugin("streams", (host) => {
  const { kernel } = host;
  const rows = createStreamRows(kernel);
  const driver = off;
  return { service: createStreams({ driver, rows, isServing: () => false }) };
});
