// Checks claims of four types about who stands behind an agent, and marks the agent as verified. The mark
// is written in one batch with the deletion of the challenge that was signed.

import { GuardFailed, type Statement } from "../../src/kernel/database/database.ts";
import { invalidInput } from "../../src/kernel/errors.ts";
import type { Kernel, ServiceOf } from "../../src/kernel/plugin.ts";
import { type Agent, agentNotFound, type agents as agentsPlugin } from "../agents/index.ts";
import type { auth } from "../auth/index.ts";
import type { Chain } from "../chains/index.ts";
import { createAttestations, isSameHex, toMetadata } from "./attestations.ts";
import { createAuthenticators } from "./authenticators/authenticators.ts";
import { type Challenge, createChallenges, noOpenChallenge } from "./challenges.ts";
import { requireSigner } from "./message-signer.ts";
import { createNameService } from "./name-service.ts";
import type { VerificationType } from "./schema.ts";
import { verificationSettings } from "./settings.ts";
import { verificationFailed } from "./verification-failed.ts";

/** A claim about an agent, as the request body gives it. Each type needs some of the fields. */
export interface Claim {
  verificationType: VerificationType;
  attestationUid?: string | null;
  signature?: string | null;
  walletAddress?: string | null;
}

/** The result of a claim that passed, and the statements to write with it: used challenges, credentials. */
interface Proof {
  attestationUid?: string;
  verifierAddress?: string;
  metadata: Record<string, unknown>;
  statements: Statement[];
}

export interface ChallengeRequest {
  verificationType: VerificationType;
  /** `webauthn`: register another authenticator even if the user has one. */
  register?: boolean;
}

export interface Verification {
  /**
   * Issues a challenge, valid for ten minutes; for `webauthn` with options for the browser. The caller must be the
   * agent's owner, since a proof by anyone else would be about that person.
   */
  issueChallenge(
    agent: Agent,
    callerId: string,
    request: ChallengeRequest,
  ): Promise<{ challenge: Challenge; options?: object }>;
  /**
   * Checks a claim and marks the agent as verified; `verifiedAt` is in epoch ms. Throws 400 for missing fields, 400
   * `VERIFICATION_FAILED` with the failed check, 500 `CHAIN_UNAVAILABLE`. On an error nothing has changed, and an open
   * challenge can still be used.
   */
  verify(agent: Agent, claim: Claim): Promise<{ verifiedAt: number; attestationUid: string | null }>;
  /** Removes the verification; authenticators that a user has registered stay. */
  remove(agent: Agent): Promise<void>;
}

type Deps = Pick<Kernel, "config" | "database"> & {
  chain: Chain;
  authService: Pick<ServiceOf<typeof auth>, "users" | "listWalletAddresses">;
  agentService: Pick<ServiceOf<typeof agentsPlugin>, "verification" | "log">;
};

export function createVerification({ authService, agentService, chain, config, database }: Deps): Verification {
  const challenges = createChallenges({ database, config });
  const settings = config.of(verificationSettings);
  const attestations = createAttestations(chain, settings);
  const nameService = createNameService(chain, settings);
  const authenticators = createAuthenticators({ database, config });
  const chainId = chain.id;

  async function verifySignature(agent: Agent, claim: Claim, wallet: string | undefined) {
    const signature = requireField(claim, "signature");
    const challenge = await challenges.requireOpen(agent, claim.verificationType);
    const address = await requireSigner(chain, { message: challenge.message, signature, wallet });
    return { address, statements: challenges.useStatements(challenge) };
  }

  /** Requires that the wallet is the owner's: one of their sign-in wallets, or the signer of the open challenge. */
  async function walletProofStatements(agent: Agent, claim: Claim, wallet: string): Promise<Statement[]> {
    const { walletAddress } = claim;
    if (walletAddress && !isSameHex(walletAddress, wallet))
      throw verificationFailed(`The attestation is of ${wallet}.`);
    if (claim.signature) return (await verifySignature(agent, claim, wallet)).statements;
    if ((await authService.listWalletAddresses(agent.userId)).some((own) => isSameHex(own, wallet))) return [];
    throw verificationFailed(`The attestation is of ${wallet}. Sign in with that wallet, or sign a challenge with it.`);
  }

  const verifiers: Record<VerificationType, (agent: Agent, claim: Claim) => Promise<Proof>> = {
    async attestation(agent, claim) {
      const found = await attestations.find(requireField(claim, "attestationUid"));
      const { uid, recipient } = found;
      const statements = await walletProofStatements(agent, claim, recipient);
      return {
        attestationUid: uid,
        verifierAddress: recipient,
        metadata: { chainId, ...toMetadata(found) },
        statements,
      };
    },

    async exchange(agent, claim) {
      const { address, statements } = await verifySignature(agent, claim, claim.walletAddress ?? undefined);
      const found = await attestations.findExchangeAttestation(address);
      const metadata = { chainId, ...toMetadata(found) };
      return { attestationUid: found.uid, verifierAddress: address, metadata, statements };
    },

    async name_service(agent, claim) {
      const wallet = requireField(claim, "walletAddress");
      const { address, statements } = await verifySignature(agent, claim, wallet);
      return {
        verifierAddress: address,
        metadata: { chainId, name: await nameService.requirePrimaryName(address) },
        statements,
      };
    },

    async webauthn(agent, claim) {
      const responseJson = requireField(claim, "signature");
      const challenge = await challenges.requireOpen(agent, "webauthn");
      const { metadata, statements } = await authenticators.verify(challenge, responseJson);
      return { metadata, statements: [...challenges.useStatements(challenge), ...statements] };
    },
  };

  return {
    async issueChallenge(agent, callerId, { verificationType, register = false }) {
      if (verificationType !== "webauthn") return { challenge: await challenges.issue(agent, verificationType) };
      const user = await authService.users.byId(callerId);
      if (!user) throw agentNotFound();
      const ceremony = await authenticators.ceremonyFor(callerId, register);
      const challenge = await challenges.issue(agent, verificationType, ceremony);
      return { challenge, options: await authenticators.options(challenge, user) };
    },

    async verify(agent, claim) {
      const { verificationType } = claim;
      const proof = await verifiers[verificationType](agent, claim);
      const { attestationUid = null, verifierAddress = null, metadata, statements } = proof;
      const result = { verificationType, attestationUid, verifierAddress, metadata };
      const verifiedAt = await agentService.verification.set(agent, result, statements).catch((error: unknown) => {
        if (!(error instanceof GuardFailed)) throw error;
        if (error.guard === "challenge") throw noOpenChallenge();
        throw verificationFailed(
          "This authenticator is registered already, or was used twice at the same time. Request a new challenge.",
        );
      });
      agentService.log(agent.id, "info", `Verified (${verificationType})`, "verification");
      return { verifiedAt, attestationUid };
    },

    async remove(agent) {
      await agentService.verification.clear(agent.id);
      agentService.log(agent.id, "info", "Verification removed", "verification");
    },
  };
}

function requireField(claim: Claim, field: "attestationUid" | "signature" | "walletAddress"): string {
  const value = claim[field];
  if (value) return value;
  throw invalidInput({ path: field, message: `The type "${claim.verificationType}" needs this field.` });
}
