// Formats the text of a challenge, which the wallet shows to the person before signing.
import type { Agent } from "../agents/index.ts";
import type { VerificationType } from "./schema.ts";

const TYPE_LABELS: Readonly<Record<VerificationType, string>> = {
  attestation: "attestation",
  exchange: "exchange account",
  name_service: "name service",
  webauthn: "authenticator",
};

export interface ChallengeMessage {
  agent: Pick<Agent, "id" | "name">;
  type: VerificationType;
  baseUrl: string;
  nonce: string;
  /** Epoch ms. */
  issuedAt: number;
  /** Epoch ms. */
  expiresAt: number;
}

/**
 * Its first line differs from that of a Sign-In with Ethereum message (ERC-4361), so neither can be used as the other.
 */
export function formatChallengeMessage({ agent, type, baseUrl, nonce, issuedAt, expiresAt }: ChallengeMessage): string {
  const { host, origin } = new URL(baseUrl);
  return [
    `${host} asks you to confirm that you stand behind an AI agent.`,
    "",
    `Agent: ${JSON.stringify(agent.name)}`,
    `Agent ID: ${agent.id}`,
    `Verification: ${TYPE_LABELS[type]}`,
    `URI: ${origin}`,
    `Nonce: ${nonce}`,
    `Issued At: ${new Date(issuedAt).toISOString()}`,
    `Expires At: ${new Date(expiresAt).toISOString()}`,
    "",
    "Sign this only if the agent is your own. It moves no money and costs nothing.",
  ].join("\n");
}
