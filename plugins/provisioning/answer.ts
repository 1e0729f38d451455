// The answer to provisioning: every field of the interface, secrets masked but for those that are shown this once.
import type { NewRow } from "../agents/index.ts";
import type { ChannelId } from "../channels/index.ts";
import type { StreamAddresses, Streams } from "../streams/index.ts";
import type { Provisioned } from "./model.ts";
import type { Wanted } from "./request.ts";

interface Told {
  userId: string;
  made: NewRow;
  /** The agent's public address. */
  url: string;
  wanted: Wanted;
  provider: Provisioned["aiProviderConfig"];
  stream: StreamAddresses;
  streaming: Streams["streaming"];
  /** Undefined: it is somebody's already. */
  claimUrl: string | undefined;
}

export function toProvisioned({ userId, made, url, wanted, provider, stream, streaming, claimUrl }: Told): Provisioned {
  const tokenOf = (id: ChannelId) => wanted.tokens.find(({ channel }) => channel === id)?.token;
  const shown = (id: ChannelId) => maskedOf(tokenOf(id));
  const state = (id: ChannelId) => (tokenOf(id) === undefined ? ("disabled" as const) : ("enabled" as const));
  return {
    success: true,
    userId,
    agentId: made.id,
    id: made.id,
    channelAToken: shown("channel_a"),
    channelBBotToken: shown("channel_b"),
    channelCToken: shown("channel_c"),
    aiProvider: wanted.aiProvider,
    aiProviderConfig: provider,
    plan: wanted.plan,
    streamKey: stream.streamKey,
    liveStreamId: stream.liveStreamId,
    rtmpServer: stream.rtmpServer,
    playbackUrl: stream.playbackUrl,
    subdomain: made.subdomain,
    url,
    hls: stream.hls,
    rtmp: stream.rtmp,
    status: made.status,
    createdAt: new Date(made.createdAt).toISOString(),
    metadata: {
      channels: { channel_a: state("channel_a"), channel_b: state("channel_b"), channel_c: state("channel_c") },
      streaming: { provider: streaming.provider, latency: streaming.latency },
      ...(claimUrl === undefined ? {} : { claimUrl }),
    },
  };
}

/** All but the last four characters hidden, and how many there are; of a short one everything. */
export function maskedOf(token: string | undefined): string | null {
  if (token === undefined) return null;
  const secret = token.trim();
  return `********${secret.length < 12 ? "****" : secret.slice(-4)}`;
}
