// The answer to provisioning: every field of the interface, secrets masked but for those that are shown this once.
import type { NewAgentRow } from "../agents/index.ts";
import type { ChannelId } from "../channels/index.ts";
import type { StreamAddresses, StreamService } from "../streams/index.ts";
import type { ProvisionResponse } from "./model.ts";
import type { ProvisionRequest } from "./provision-request.ts";

interface ResponseParts {
  userId: string;
  agentRow: NewAgentRow;
  /** The agent's public address. */
  url: string;
  provisionRequest: ProvisionRequest;
  provider: ProvisionResponse["aiProviderConfig"];
  stream: StreamAddresses;
  streaming: StreamService["streaming"];
  /** Undefined: it is somebody's already. */
  claimUrl: string | undefined;
}

export function toProvisionResponse({
  userId,
  agentRow,
  url,
  provisionRequest,
  provider,
  stream,
  streaming,
  claimUrl,
}: ResponseParts): ProvisionResponse {
  const tokenOf = (id: ChannelId) => provisionRequest.tokens.find(({ channel }) => channel === id)?.token;
  const shown = (id: ChannelId) => maskToken(tokenOf(id));
  const state = (id: ChannelId) => (tokenOf(id) === undefined ? ("disabled" as const) : ("enabled" as const));
  return {
    success: true,
    userId,
    agentId: agentRow.id,
    id: agentRow.id,
    channelAToken: shown("channel_a"),
    channelBBotToken: shown("channel_b"),
    channelCToken: shown("channel_c"),
    aiProvider: provisionRequest.aiProvider,
    aiProviderConfig: provider,
    plan: provisionRequest.plan,
    streamKey: stream.streamKey,
    liveStreamId: stream.liveStreamId,
    rtmpServer: stream.rtmpServer,
    playbackUrl: stream.playbackUrl,
    subdomain: agentRow.subdomain,
    url,
    hls: stream.hls,
    rtmp: stream.rtmp,
    status: agentRow.status,
    createdAt: new Date(agentRow.createdAt).toISOString(),
    metadata: {
      channels: { channel_a: state("channel_a"), channel_b: state("channel_b"), channel_c: state("channel_c") },
      streaming: { provider: streaming.provider, latency: streaming.latency },
      ...(claimUrl === undefined ? {} : { claimUrl }),
    },
  };
}

/** All but the last four characters hidden, and how many there are; of a short one everything. */
export function maskToken(token: string | undefined): string | null {
  if (token === undefined) return null;
  const secret = token.trim();
  return `********${secret.length < 12 ? "****" : secret.slice(-4)}`;
}
