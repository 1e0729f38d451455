// Creates an agent with a live stream, and reads the stream's state and log.

import type { Berth } from "./berth.ts";
import type { Client } from "./client.ts";
import { eventually } from "./eventually.ts";
import { type AgentItem, provision } from "./scene.ts";

export interface StreamBody {
  liveStreamId: string;
  streamKey: string;
  rtmpServer: string;
  rtmp: string;
  hls: string;
  playbackUrl: string;
  state: string;
  since: string;
  bitrate: number | null;
}

export interface OnAir {
  agent: AgentItem;
  stream: StreamBody;
  /** Address of the stream on the web surface, without a trailing slash; the playlist is `/index.m3u8`. */
  base: string;
  port: number;
  /** The stream as its owner sees it now. */
  now(): Promise<StreamBody>;
  /** Waits for a state. */
  becomes(state: string, timeoutMs?: number): Promise<StreamBody>;
  /** Lines of the agent's log about its stream, newest first. */
  lines(): Promise<string[]>;
}

export async function withStream(berth: Pick<Berth, "web">, owner: Client, name = "Harbour"): Promise<OnAir> {
  const agent = await provision(owner, name);
  const { status, body, text } = await owner.put<StreamBody>(`/api/agents/${agent.id}/stream`, {});
  if (status !== 200) throw new Error(`stream: ${status} ${text}`);
  const now = async () => (await owner.get<StreamBody>(`/api/agents/${agent.id}/stream`)).body;
  return {
    agent,
    stream: body,
    base: `${berth.web}/live/${body.liveStreamId}`,
    port: Number(new URL(body.rtmpServer).port),
    now,
    becomes: (state, timeoutMs = 20_000) =>
      eventually(
        async () => {
          const found = await now();
          if (found.state === undefined) throw new Error(JSON.stringify(found));
          return found.state === state ? found : undefined;
        },
        { timeoutMs, everyMs: 100, what: `the stream is ${state}` },
      ),
    async lines() {
      const logs = await owner.get<{ logs: { message: string; source: string }[] }>(`/api/agents/${agent.id}/logs`);
      return logs.body.logs.filter(({ source }) => source === "stream").map(({ message }) => message);
    },
  };
}
