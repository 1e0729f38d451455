// Sign-In with Ethereum: a signed message in, an account out, each message once.
import type { Address } from "viem";
import type { Chain } from "../../../src/kernel/chains/chains.ts";
import { WALLET_EMAIL_DOMAIN } from "../../../src/kernel/config/config.ts";
import { GuardFailed, isUniqueViolation, type Statement } from "../../../src/kernel/database/database.ts";
import { AppError, forbidden } from "../../../src/kernel/errors.ts";
import type { AuthServices } from "../auth-services.ts";
import type { SignInEvidence } from "../sessions.ts";
import { isTotpRequired } from "../two-factor/two-factor.ts";
import type { AccountSummary } from "../users.ts";
import { createNonces, invalidNonce, type Nonces } from "./nonces.ts";
import { isSignedBy } from "./signature.ts";
import { parseSiweMessage } from "./siwe-message.ts";

/** As it came: anything that is no text is as good as missing. */
export interface WalletProof {
  message?: unknown;
  signature?: unknown;
  /** A code of the authenticator app, or a recovery code. */
  totp?: unknown;
}

/** Who shows it. */
interface Visitor {
  address: string;
  /** The language of a new account. */
  locale: string;
}

/** Who signed, and what uses the message up: only a good one does, so that strangers write nothing. */
interface VerifiedProof {
  address: Address;
  useStatements: Statement[];
}

/** Whose wallet it is, and what a session for them rests on. */
export interface WalletSignInResult {
  account: AccountSummary;
  evidence: SignInEvidence;
}

export interface WalletSignIn {
  /** A nonce for the next message; `expiresAt` in epoch ms. Nothing is written. */
  nonce: Nonces["issue"];
  /**
   * Whose wallet signed this; who was never here gets an account. Throws 401 `SIGNATURE_REQUIRED`, `INVALID_MESSAGE`,
   * `INVALID_SIGNATURE` or `INVALID_NONCE`, and `TOTP_REQUIRED` or `INVALID_TOTP` where two-factor is on; all but
   * `TOTP_REQUIRED` are counted by the address they come from (429 past the limit), and new accounts as other sign-ups are.
   * 403 `ACCOUNT_DISABLED`. 500 `CHAIN_UNAVAILABLE` when only the chain could tell and it does not.
   */
  signInWithProof(proof: WalletProof, from: Visitor): Promise<WalletSignInResult>;
}

type Deps = Pick<AuthServices, "kernel" | "users" | "linkedAccounts" | "twoFactor"> & { chain: Chain };

export function createWalletSignIn({ kernel, users, linkedAccounts, twoFactor, chain }: Deps): WalletSignIn {
  const { config, limits } = kernel;
  const nonces = createNonces(kernel.vault);

  async function verifyProof({ message, signature }: WalletProof): Promise<VerifiedProof> {
    if (typeof message !== "string" || typeof signature !== "string" || !message || !signature) {
      throw new AppError(401, "SIGNATURE_REQUIRED", "Send the message and its signature.");
    }
    const { address, nonce, issuedAt } = await parseSiweMessage(message, {
      baseUrl: config.baseUrl,
      chainId: chain.id,
    });
    const useStatements = nonces.useStatements(nonce, issuedAt);
    if (!(await isSignedBy(chain, address, message, signature))) {
      throw new AppError(401, "INVALID_SIGNATURE", "This address did not sign this message.");
    }
    return { address, useStatements };
  }

  /** The account of this wallet: the one it is linked to, else the one with its email, else a new one. Contract §3. */
  async function signIn(
    { address, useStatements }: VerifiedProof,
    totp: unknown,
    from: Visitor,
  ): Promise<WalletSignInResult> {
    const subject = address.toLowerCase();
    const wallet = { provider: "wallet", subject } as const;
    const email = `${subject}${WALLET_EMAIL_DOMAIN}`;
    const linkedUserId = await linkedAccounts.findUserId(wallet);
    const user = linkedUserId === undefined ? await users.byEmail(email) : await users.byId(linkedUserId);
    if (!user) {
      const name = `${address.slice(0, 6)}…${address.slice(-4)}`;
      const newUser = { email, name, passwordHash: null, locale: from.locale };
      // Keys cost nothing: without it one machine could make as many accounts, and trials, as it likes.
      await limits.takeOrThrow("sign-up", from.address);
      const account = await users.create(newUser, ({ id }) => [
        ...useStatements,
        linkedAccounts.linkStatement(wallet, id),
      ]);
      return { account, evidence: { linkedAccount: wallet, twoFactor: false } };
    }
    if (user.disabledAt !== null) throw forbidden("ACCOUNT_DISABLED", "This account was disabled. Ask the operator.");
    const extraStatements =
      linkedUserId === undefined ? [...useStatements, linkedAccounts.linkStatement(wallet, user.id)] : useStatements;
    const hasTwoFactor = await twoFactor.verifyIfEnabled(user.id, { code: totp, from: from.address }, extraStatements);
    return { account: user, evidence: { linkedAccount: wallet, twoFactor: hasTwoFactor } };
  }

  return {
    nonce: nonces.issue,

    async signInWithProof(proof, from) {
      // Taken before and given back, or a crowd of guesses at once would all pass.
      await limits.takeOrThrow("sign-in-ip", from.address);
      const verified = await verifyProof(proof);
      const attempt = () => signIn(verified, proof.totp, from);
      try {
        const result = await attempt().catch((error: unknown) => {
          // Another message of the same wallet was faster: the account is there now.
          if (isConcurrentSignIn(error)) return attempt();
          throw error;
        });
        limits.refund("sign-in-ip", from.address);
        return result;
      } catch (error) {
        if (error instanceof GuardFailed) throw invalidNonce();
        if (isTotpRequired(error) || isRateLimited(error)) limits.refund("sign-in-ip", from.address);
        throw error;
      }
    },
  };
}

/** By a limit: nothing was tried. */
const isRateLimited = (error: unknown) => error instanceof AppError && error.status === 429;

const isConcurrentSignIn = (error: unknown) =>
  isUniqueViolation(error, "linked_accounts.provider") || (error instanceof AppError && error.code === "USER_EXISTS");
