// The ways into an account beside its password: lists them, links a wallet, removes one unless it is the last.
import { NameTaken, usingNames } from "../../../src/kernel/cells/cells.ts";
import { GuardFailed, guard, isUniqueViolation } from "../../../src/kernel/database/database.ts";
import { AppError, notFound } from "../../../src/kernel/errors.ts";
import { sha256Hex } from "../../../src/kernel/util/tokens.ts";
import type { AuthServices } from "../auth-services.ts";
import { credentialStillValidStatements, toUnauthorized } from "../caller-credential.ts";
import { namesOfWallet } from "../cells/account-names.ts";
import { WALLET_EMAIL_DOMAIN } from "../email.ts";
import type { SessionIdentity } from "../identity.ts";
import { describeOrigin } from "../oauth/configured-providers.ts";
import type { LinkedAccount, LinkedAccountItem } from "../oauth/linked-accounts.ts";
import type { User } from "../users.ts";
import { invalidNonce } from "../wallet/nonces.ts";
import type { SignedMessage, WalletProofs } from "../wallet/wallet-proof.ts";

/** A linked account as its owner sees it. */
export interface SignInMethod {
  /** Derived from provider and subject, which can hold any character. */
  id: string;
  /** The id of the provider, or `wallet`. */
  provider: string;
  name: string;
  label: string | null;
  canRemove: boolean;
  /** Epoch ms. */
  createdAt: number;
}

export interface SignInMethods {
  /** Oldest first. */
  list(user: User): Promise<SignInMethod[]>;
  /**
   * Links the wallet that signed the message; a repetition returns the same. Failures count against the client's
   * address `from`. Throws as `WalletProofs.verify`, 409 `ALREADY_LINKED` if it signs in another account, and 409
   * `TOO_MANY_SIGN_INS`.
   */
  linkWallet(identity: SessionIdentity, proof: SignedMessage, from: string): Promise<SignInMethod>;
  /**
   * Removes one; all other sessions end, since it may have opened them. Throws 404 `SIGN_IN_NOT_FOUND`, 409
   * `LAST_SIGN_IN`, or `SIGN_IN_IS_ADDRESS` for the wallet that is the account's address, which would sign in anyway.
   */
  remove(identity: SessionIdentity, id: string): Promise<void>;
}

type Deps = Pick<AuthServices, "kernel" | "users" | "sessions" | "linkedAccounts" | "mails" | "auditStatement"> & {
  walletProofs: WalletProofs;
};

export function createSignInMethods(deps: Deps): SignInMethods {
  const { kernel, users, sessions, linkedAccounts, mails, walletProofs, auditStatement } = deps;
  const { database, config } = kernel;

  function toMethod(user: User, account: LinkedAccountItem, hasOther: boolean): SignInMethod {
    const isWallet = account.provider === "wallet";
    const origin = isWallet ? { id: "wallet", name: "Wallet" } : describeOrigin(config, account);
    return {
      id: idOf(account),
      provider: origin.id,
      name: origin.name,
      label: isWallet ? account.subject : account.label,
      canRemove: hasOther && !isAddressOf(user, account),
      createdAt: account.createdAt,
    };
  }

  async function list(user: User): Promise<SignInMethod[]> {
    const accounts = await linkedAccounts.listByUser(user.id);
    const hasOther = user.passwordHash !== null || accounts.length > 1;
    return accounts.map((account) => toMethod(user, account, hasOther));
  }

  return {
    list,

    async linkWallet({ user, credentialId }, proof, from) {
      // The check of a smart wallet asks the chain: failures count like those of a sign-in.
      await kernel.limits.takeOrThrow("sign-in-ip", from);
      const { address, useStatements } = await walletProofs.verify(proof);
      kernel.limits.refund("sign-in-ip", from);
      const wallet = { provider: "wallet", subject: address.toLowerCase() } as const;
      const owner =
        (await linkedAccounts.findUserId(wallet)) ?? (await users.byEmail(wallet.subject + WALLET_EMAIL_DOMAIN))?.id;
      if (owner !== undefined && owner !== user.id) throw alreadyLinked();
      const known = (await list(user)).find(({ id }) => id === idOf(wallet));
      if (known) return known;
      try {
        await usingNames(kernel.cells, namesOfWallet(wallet), () =>
          database.write([
            ...credentialStillValidStatements({ userId: user.id, credentialId }),
            ...useStatements,
            ...linkedAccounts.requireRoomStatements(user.id),
            linkedAccounts.linkStatement(wallet, user.id),
            ...mails.signInMethodAddedStatements(user, wallet),
            auditStatement(user, "sign-in-added", wallet),
          ]),
        );
      } catch (error) {
        if (isUniqueViolation(error, "linked_accounts.provider") || error instanceof NameTaken)
          throw alreadyLinked(error);
        if (error instanceof GuardFailed && error.guard === "room") throw tooMany(error);
        if (error instanceof GuardFailed && error.guard !== "credential") throw invalidNonce();
        throw toUnauthorized(error);
      }
      const linked = (await list(user)).find(({ id }) => id === idOf(wallet));
      if (!linked) throw notFound("This sign-in was removed in the meantime.", "SIGN_IN_NOT_FOUND");
      return linked;
    },

    async remove({ user, session, credentialId }, id) {
      const account = (await linkedAccounts.listByUser(user.id)).find((one) => idOf(one) === id);
      if (!account) throw notFound("You have no sign-in with this id.", "SIGN_IN_NOT_FOUND");
      if (isAddressOf(user, account)) {
        const text = "This wallet is the address of your account. Give the account an email address first.";
        throw new AppError(409, "SIGN_IN_IS_ADDRESS", text);
      }
      try {
        await database.write([
          ...credentialStillValidStatements({ userId: user.id, credentialId }),
          // A provider may have made the account an admin.
          { ...linkedAccounts.unlinkStatement(account, user.id), after: () => users.invalidate(user.id) },
          guard("other"),
          sessions.revokeAllStatement(user.id, session.id),
          ...mails.signInMethodRemovedStatements(user, account),
          auditStatement(user, "sign-in-removed", { provider: account.provider, subject: account.subject }),
        ]);
      } catch (error) {
        if (!(error instanceof GuardFailed && error.guard === "other")) throw toUnauthorized(error);
        const text = "This is the only way into your account. Set a password or link another sign-in first.";
        throw new AppError(409, "LAST_SIGN_IN", text, {}, { cause: error });
      }
    },
  };
}

const idOf = ({ provider, subject }: LinkedAccount) => sha256Hex(`${provider}:${subject}`).slice(0, 24);

/** A sign-in with the wallet that an account is named after links it again. */
const isAddressOf = ({ email }: User, { provider, subject }: LinkedAccount) =>
  provider === "wallet" && email === subject + WALLET_EMAIL_DOMAIN;

const alreadyLinked = (cause?: unknown) =>
  new AppError(409, "ALREADY_LINKED", "This wallet signs in another account already.", {}, { cause });

const tooMany = (cause: unknown) =>
  new AppError(
    409,
    "TOO_MANY_SIGN_INS",
    "Your account has as many sign-ins as it can have. Remove one.",
    {},
    { cause },
  );
