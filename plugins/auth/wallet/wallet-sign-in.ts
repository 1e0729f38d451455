// Sign-In with Ethereum: resolves or creates the account of the wallet that signed a message.
import { Elsewhere, NameTaken, placeNewAccount, requireNameHere, usingNames } from "../../../src/kernel/cells/cells.ts";
import type { Forwarding } from "../../../src/kernel/cells/forwarding.ts";
import { GuardFailed, isUniqueViolation, type Statement } from "../../../src/kernel/database/database.ts";
import { AppError, forbidden } from "../../../src/kernel/errors.ts";
import type { AuthServices } from "../auth-services.ts";
import { namesOfWallet } from "../cells/account-names.ts";
import { WALLET_EMAIL_DOMAIN } from "../email.ts";
import type { SignInEvidence } from "../sessions.ts";
import { isTotpRequired } from "../two-factor/two-factor.ts";
import type { AccountSummary } from "../users.ts";
import { invalidNonce } from "./nonces.ts";
import type { SignedMessage, VerifiedProof, WalletProofs } from "./wallet-proof.ts";

/** Unvalidated input: a value that is not text counts as missing. */
export interface WalletProof extends SignedMessage {
  /** A code of the authenticator app, or a recovery code. */
  totp?: unknown;
}

/** The client of the request. */
interface Visitor {
  address: string;
  /** Two letters: the language of mails if an account is created. */
  locale: string;
  /** What another cell has sent along with the request. */
  forwarding?: Forwarding | undefined;
}

/** The account of the wallet, and the evidence for a session. */
export interface WalletSignInResult {
  account: AccountSummary;
  evidence: SignInEvidence;
}

export interface WalletSignIn {
  /**
   * The account of the wallet that signed; a new wallet gets an account. Throws 401 `SIGNATURE_REQUIRED`,
   * `INVALID_MESSAGE`, `INVALID_SIGNATURE` or `INVALID_NONCE`, with two-factor on also `TOTP_REQUIRED` or
   * `INVALID_TOTP`; all but `TOTP_REQUIRED` count against the client's address (429 past the limit). New accounts count
   * as sign-ups. Throws 403 `ACCOUNT_DISABLED` or `SIGN_UP_CLOSED`, and 500 `CHAIN_UNAVAILABLE` if the check needs the chain and it can't
   * be reached.
   */
  signInWithProof(proof: WalletProof, from: Visitor): Promise<WalletSignInResult>;
}

type Deps = Pick<
  AuthServices,
  "kernel" | "users" | "linkedAccounts" | "twoFactor" | "signUpPolicy" | "auditStatement"
> & {
  walletProofs: WalletProofs;
};

export function createWalletSignIn({
  kernel,
  users,
  linkedAccounts,
  twoFactor,
  signUpPolicy,
  auditStatement,
  walletProofs,
}: Deps): WalletSignIn {
  const { limits, cells } = kernel;

  /**
   * The account of this wallet: the one it is linked to, else the one with its internal email address, else a new one.
   */
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
    const names = namesOfWallet(wallet);
    if (!user) {
      const isPlaced = (await Promise.all(names.map((name) => requireNameHere(cells, name)))).includes(true);
      if (!isPlaced) await placeNewAccount(cells, from.forwarding);
      const name = `${address.slice(0, 6)}…${address.slice(-4)}`;
      const newUser = { email, name, passwordHash: null, locale: from.locale };
      // Keys cost nothing: without this limit one machine could create any number of accounts and trials.
      await limits.takeOrThrow("sign-up", from.address);
      const admission = await signUpPolicy.admit(email, {});
      const account = await usingNames(cells, names, () =>
        users.create(newUser, (created) => [
          ...useStatements,
          linkedAccounts.linkStatement(wallet, created.id),
          ...admission,
          auditStatement(created, "sign-up", { by: "wallet" }),
        ]),
      );
      return { account, evidence: { linkedAccount: wallet, twoFactor: false } };
    }
    if (user.disabledAt !== null) throw forbidden("ACCOUNT_DISABLED", "This account was disabled. Ask the operator.");
    const verify = (statements: Statement[]) =>
      twoFactor.verifyIfEnabled(user.id, { code: totp, from: from.address }, [...useStatements, ...statements]);
    const hasTwoFactor =
      linkedUserId === undefined
        ? await usingNames(cells, names, () => verify([linkedAccounts.linkStatement(wallet, user.id)]))
        : await verify([]);
    return { account: user, evidence: { linkedAccount: wallet, twoFactor: hasTwoFactor } };
  }

  return {
    async signInWithProof(proof, from) {
      // Counted before the check and refunded after it: else concurrent guesses would all pass the limit.
      await limits.takeOrThrow("sign-in-ip", from.address);
      const verified = await walletProofs.verify(proof);
      const attempt = () => signIn(verified, proof.totp, from);
      try {
        const result = await attempt().catch((error: unknown) => {
          // A concurrent sign-in of the same wallet has created or linked the account: now it is found.
          if (isConcurrentSignIn(error)) return attempt();
          throw error;
        });
        limits.refund("sign-in-ip", from.address);
        return result;
      } catch (error) {
        if (error instanceof GuardFailed) throw invalidNonce();
        if (isTotpRequired(error) || isRateLimited(error) || error instanceof Elsewhere)
          limits.refund("sign-in-ip", from.address);
        throw error;
      }
    },
  };
}

/** Refused by a limit, before anything was tried. */
const isRateLimited = (error: unknown) => error instanceof AppError && error.status === 429;

const isConcurrentSignIn = (error: unknown) =>
  isUniqueViolation(error, "linked_accounts.provider") ||
  error instanceof NameTaken ||
  (error instanceof AppError && error.code === "USER_EXISTS");
