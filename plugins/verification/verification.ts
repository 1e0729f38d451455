// Agent verification: a claim of one of four types in, checked for real, and an agent out that says who stands behind it.
import { GuardFailed, type Statement } from "../../src/database.ts";
import { invalid } from "../../src/errors.ts";
import type { Kernel, ServiceOf } from "../../src/plugin.ts";
import { type Agent, type agents as agentsPlugin, noSuchAgent } from "../agents/index.ts";
import type { auth } from "../auth/index.ts";
import { createAttestations, same, toldOf } from "./attestations.ts";
import { createAuthenticators } from "./authenticators.ts";
import { type Challenge, createChallenges, noChallenge } from "./challenges.ts";
import { createNames } from "./names.ts";
import { refused } from "./refused.ts";
import type { VerificationType } from "./schema.ts";
import { requireSigner } from "./signers.ts";

/** What a caller says about an agent. Interface, "Agent verification". */
export interface Claim {
  verificationType: VerificationType;
  attestationUid?: string | null;
  signature?: string | null;
  walletAddress?: string | null;
}

/** What a good claim has shown, and what must be written with it: challenges used up, credentials. */
interface Proof {
  attestationUid?: string;
  verifierAddress?: string;
  metadata: Record<string, unknown>;
  statements: Statement[];
}

export interface ChallengeWanted {
  verificationType: VerificationType;
  /** `webauthn`: another authenticator, beside those that are known. */
  register?: boolean;
}

export interface Verification {
  /**
   * What has to be signed, for ten minutes; with options for the browser where it is an authenticator that signs.
   * The caller is the agent's owner: what somebody else could prove is of themselves.
   */
  challenge(
    agent: Agent,
    callerId: string,
    wanted: ChallengeWanted,
  ): Promise<{ challenge: Challenge; options?: object }>;
  /**
   * Checks a claim and marks the agent; gives the time. Throws 400 for missing fields, 400 `VERIFICATION_FAILED` with what
   * does not hold, 500 `CHAIN_UNAVAILABLE`. Whatever it throws, nothing has changed, and an open
   * challenge is still good.
   */
  verify(agent: Agent, claim: Claim): Promise<{ verifiedAt: number; attestationUid: string | null }>;
  /** Takes the verification off; the authenticators that a user has registered stay. */
  remove(agent: Agent): Promise<void>;
}

type Deps = Pick<Kernel, "chains" | "config" | "database"> & {
  accounts: Pick<ServiceOf<typeof auth>, "users" | "wallets">;
  agents: Pick<ServiceOf<typeof agentsPlugin>, "verification" | "log">;
};

export function createVerification({ accounts, agents, chains, config, database }: Deps): Verification {
  const chain = chains.mainnet;
  const challenges = createChallenges({ database, config });
  const attestations = createAttestations(chain, config.verification);
  const names = createNames(chain, config.verification);
  const authenticators = createAuthenticators({ database, config });
  const chainId = chain.id;

  async function signed(agent: Agent, claim: Claim, wallet: string | undefined) {
    const signature = required(claim, "signature");
    const challenge = await challenges.open(agent, claim.verificationType);
    const address = await requireSigner(chain, { message: challenge.message, signature, wallet });
    return { address, statements: challenges.use(challenge) };
  }

  /** That a wallet is the caller's: signed in with before, or shown right now. */
  async function proven(agent: Agent, claim: Claim, wallet: string): Promise<Statement[]> {
    const { walletAddress } = claim;
    if (walletAddress && !same(walletAddress, wallet)) throw refused(`The attestation is of ${wallet}.`);
    if (claim.signature) return (await signed(agent, claim, wallet)).statements;
    if ((await accounts.wallets(agent.userId)).some((own) => same(own, wallet))) return [];
    throw refused(`The attestation is of ${wallet}. Sign in with that wallet, or sign a challenge with it.`);
  }

  const checks: Record<VerificationType, (agent: Agent, claim: Claim) => Promise<Proof>> = {
    async attestation(agent, claim) {
      const found = await attestations.find(required(claim, "attestationUid"));
      const { uid, recipient } = found;
      const statements = await proven(agent, claim, recipient);
      return { attestationUid: uid, verifierAddress: recipient, metadata: { chainId, ...toldOf(found) }, statements };
    },

    async exchange(agent, claim) {
      const { address, statements } = await signed(agent, claim, claim.walletAddress ?? undefined);
      const found = await attestations.ofExchange(address);
      const metadata = { chainId, ...toldOf(found) };
      return { attestationUid: found.uid, verifierAddress: address, metadata, statements };
    },

    async name_service(agent, claim) {
      const wallet = required(claim, "walletAddress");
      const { address, statements } = await signed(agent, claim, wallet);
      return { verifierAddress: address, metadata: { chainId, name: await names.of(address) }, statements };
    },

    async webauthn(agent, claim) {
      const answer = required(claim, "signature");
      const challenge = await challenges.open(agent, "webauthn");
      const { metadata, statements } = await authenticators.check(challenge, answer);
      return { metadata, statements: [...challenges.use(challenge), ...statements] };
    },
  };

  return {
    async challenge(agent, callerId, { verificationType, register = false }) {
      if (verificationType !== "webauthn") return { challenge: await challenges.issue(agent, verificationType) };
      const user = await accounts.users.byId(callerId);
      if (!user) throw noSuchAgent();
      const ceremony = await authenticators.ceremonyFor(callerId, register);
      const challenge = await challenges.issue(agent, verificationType, ceremony);
      return { challenge, options: await authenticators.options(challenge, user) };
    },

    async verify(agent, claim) {
      const { verificationType } = claim;
      const proof = await checks[verificationType](agent, claim);
      const { attestationUid = null, verifierAddress = null, metadata, statements } = proof;
      const shown = { verificationType, attestationUid, verifierAddress, metadata };
      const verifiedAt = await agents.verification.set(agent, shown, statements).catch((error: unknown) => {
        if (!(error instanceof GuardFailed)) throw error;
        if (error.guard === "challenge") throw noChallenge();
        throw refused("This authenticator is registered already, or was used twice at the same time.");
      });
      agents.log(agent.id, "info", `Verified (${verificationType})`, "verification");
      return { verifiedAt, attestationUid };
    },

    async remove(agent) {
      await agents.verification.clear(agent.id);
      agents.log(agent.id, "info", "Verification removed", "verification");
    },
  };
}

function required(claim: Claim, field: "attestationUid" | "signature" | "walletAddress"): string {
  const value = claim[field];
  if (value) return value;
  throw invalid({ path: field, message: `The type "${claim.verificationType}" needs this field.` });
}
