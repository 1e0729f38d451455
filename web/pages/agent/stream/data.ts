// The live stream of an agent, as the API has it.

import { path } from "../../../api/api.ts";

/** `GET /api/agents/:id/stream`. */
export interface Stream {
  liveStreamId: string | null;
  streamKey: string | null;
  rtmpServer: string | null;
  hls: string | null;
  playbackUrl: string | null;
  state: "idle" | "active" | "unavailable" | "none";
  since: string | null;
  bitrate: number | null;
}

export const streamKeyOf = (agentId: string) => ["agent", agentId, "stream"] as const;
export const streamPath = (agentId: string) => path`/api/agents/${agentId}/stream`;
