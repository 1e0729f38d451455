// Creates an agent with a live stream, and reads the stream's state and log.

import type { Berth } from "./berth.ts";
import type { Client } from "./client.ts";
import { eventually } from "./eventually.ts";
import { type AgentItem, provision } from "./members.ts";

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

export interface AgentStream {
  agent: AgentItem;
  stream: StreamBody;
  /** Address of the stream on the web surface, without a trailing slash; the playlist is `/index.m3u8`. */
  base: string;
  port: number;
  /** The stream as its owner sees it now. */
  read(): Promise<StreamBody>;
  /** Waits for a state. */
  waitForState(state: string, timeoutMs?: number): Promise<StreamBody>;
  /** Lines of the agent's log about its stream, newest first. */
  logLines(): Promise<string[]>;
}

export async function createStream(berth: Pick<Berth, "web">, owner: Client, name = "Harbour"): Promise<AgentStream> {
  const agent = await provision(owner, name);
  const { status, body, text } = await owner.put<StreamBody>(`/api/agents/${agent.id}/stream`, {});
  if (status !== 200) throw new Error(`stream: ${status} ${text}`);
  const read = async () => (await owner.get<StreamBody>(`/api/agents/${agent.id}/stream`)).body;
  return {
    agent,
    stream: body,
    base: `${berth.web}/live/${body.liveStreamId}`,
    port: Number(new URL(body.rtmpServer).port),
    read,
    waitForState: (state, timeoutMs = 20_000) =>
      eventually(
        async () => {
          const found = await read();
          if (found.state === undefined) throw new Error(JSON.stringify(found));
          return found.state === state ? found : undefined;
        },
        { timeoutMs, everyMs: 100, what: `the stream is ${state}` },
      ),
    async logLines() {
      const logs = await owner.get<{ logs: { message: string; source: string }[] }>(`/api/agents/${agent.id}/logs`);
      return logs.body.logs.filter(({ source }) => source === "stream").map(({ message }) => message);
    },
  };
}
