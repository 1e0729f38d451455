// Sign-In with Ethereum: a signed message in, an account out, each message once.
import type { Address } from "viem";
import type { Chain } from "../../../src/chains.ts";
import { WALLET_DOMAIN } from "../../../src/config.ts";
import { GuardFailed, isUniqueViolation, type Statement } from "../../../src/database.ts";
import { AppError, forbidden } from "../../../src/errors.ts";
import type { AuthParts } from "../parts.ts";
import type { Grounds } from "../sessions.ts";
import { isTotpRequired } from "../two-factor/two-factor.ts";
import type { Account } from "../users.ts";
import { readMessage } from "./message.ts";
import { badNonce, createNonces, type Nonces } from "./nonces.ts";
import { isSignedBy } from "./signature.ts";

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
interface Signed {
  address: Address;
  use: Statement[];
}

/** Whose wallet it is, and what a session for them rests on. */
export interface Entered {
  account: Account;
  grounds: Grounds;
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
  withProof(proof: WalletProof, from: Visitor): Promise<Entered>;
}

type Deps = Pick<AuthParts, "kernel" | "users" | "linked" | "twoFactor"> & { chain: Chain };

export function createWalletSignIn({ kernel, users, linked, twoFactor, chain }: Deps): WalletSignIn {
  const { config, limits } = kernel;
  const nonces = createNonces(kernel.vault);

  async function check({ message, signature }: WalletProof): Promise<Signed> {
    if (typeof message !== "string" || typeof signature !== "string" || !message || !signature) {
      throw new AppError(401, "SIGNATURE_REQUIRED", "Send the message and its signature.");
    }
    const { address, nonce, issuedAt } = await readMessage(message, { baseUrl: config.baseUrl, chainId: chain.id });
    const use = nonces.use(nonce, issuedAt);
    if (!(await isSignedBy(chain, address, message, signature))) {
      throw new AppError(401, "INVALID_SIGNATURE", "This address did not sign this message.");
    }
    return { address, use };
  }

  /** The account of this wallet: the one it is linked to, else the one with its email, else a new one. Contract §3. */
  async function enter({ address, use }: Signed, totp: unknown, from: Visitor): Promise<Entered> {
    const subject = address.toLowerCase();
    const wallet = { provider: "wallet", subject } as const;
    const email = `${subject}${WALLET_DOMAIN}`;
    const linkedTo = await linked.find(wallet);
    const user = linkedTo === undefined ? await users.byEmail(email) : await users.byId(linkedTo);
    if (!user) {
      const name = `${address.slice(0, 6)}…${address.slice(-4)}`;
      const made = { email, name, passwordHash: null, locale: from.locale };
      // Keys cost nothing: without it one machine could make as many accounts, and trials, as it likes.
      await limits.require("sign-up", from.address);
      const account = await users.create(made, ({ id }) => [...use, linked.link(wallet, id)]);
      return { account, grounds: { linked: wallet, twoFactor: false } };
    }
    if (user.disabledAt !== null) throw forbidden("ACCOUNT_DISABLED", "This account was disabled. Ask the operator.");
    const also = linkedTo === undefined ? [...use, linked.link(wallet, user.id)] : use;
    const on = await twoFactor.admit(user.id, { code: totp, from: from.address }, also);
    return { account: user, grounds: { linked: wallet, twoFactor: on } };
  }

  return {
    nonce: nonces.issue,

    async withProof(proof, from) {
      // Taken before and given back, or a crowd of guesses at once would all pass.
      await limits.require("sign-in-ip", from.address);
      const signed = await check(proof);
      const attempt = () => enter(signed, proof.totp, from);
      try {
        const entered = await attempt().catch((error: unknown) => {
          // Another message of the same wallet was faster: the account is there now.
          if (cameSecond(error)) return attempt();
          throw error;
        });
        limits.refund("sign-in-ip", from.address);
        return entered;
      } catch (error) {
        if (error instanceof GuardFailed) throw badNonce();
        if (isTotpRequired(error) || isRefusal(error)) limits.refund("sign-in-ip", from.address);
        throw error;
      }
    },
  };
}

/** By a limit: nothing was tried. */
const isRefusal = (error: unknown) => error instanceof AppError && error.status === 429;

const cameSecond = (error: unknown) =>
  isUniqueViolation(error, "linked_accounts.provider") || (error instanceof AppError && error.code === "USER_EXISTS");
