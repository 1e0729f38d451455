// Makes the answer to `POST /api/provision`: tokens are masked, and the stream's key is shown only in this answer.
import type { ChannelId } from "../../channels/port.ts";
import { provisionedChannels } from "../../channels/registry.ts";
import { type NewAgentRow, warningsMember } from "../agents/index.ts";
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
  /** Undefined if the agent belongs to the caller. */
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
  const maskedTokens = provisionedChannels().map(
    ({ id, provisioning }) => [provisioning.token.field, maskToken(tokenOf(id))] as const,
  );
  return {
    success: true,
    userId,
    agentId: agentRow.id,
    id: agentRow.id,
    ...Object.fromEntries(maskedTokens),
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
      channels: Object.fromEntries(
        provisionedChannels().map(({ id }) => [id, tokenOf(id) === undefined ? "disabled" : "enabled"] as const),
      ),
      streaming: { provider: streaming.provider, latency: streaming.latency },
      ...(claimUrl === undefined ? {} : { claimUrl }),
    },
    ...warningsMember(provisionRequest.warnings),
  };
}

/** Hides all but the last four characters, and all of a short token; the length is hidden too. */
export function maskToken(token: string | undefined): string | null {
  if (token === undefined) return null;
  const secret = token.trim();
  return `********${secret.length < 12 ? "****" : secret.slice(-4)}`;
}
