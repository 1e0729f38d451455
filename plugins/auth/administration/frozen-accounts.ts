// Refuses changes by the owner of a frozen account: sessions and API keys read, and nothing else, but for what takes away.
import { type AppError, forbidden } from "../../../src/kernel/errors.ts";
import type { User } from "../users.ts";

/** Methods that change nothing (RFC 9110 §9.2.1). */
const SAFE_METHODS = new Set(["GET", "HEAD"]);

export const changesNothing = ({ method }: Request) => SAFE_METHODS.has(method);

/** What the owner may still do beside reading and exporting: end sessions and keys, erase people, delete agents and the account itself. */
const STILL_DELETED = /^\/api\/(settings|auth\/sessions(\/[^/]+)?|keys\/[^/]+|agents\/[^/]+(\/people\/[^/]+\/[^/]+)?)$/;

/** The errors of guards for requests that change something, for the API document. */
export const OF_CHANGES = { 403: "ACCOUNT_FROZEN" };

/** Throws 403 `ACCOUNT_FROZEN` for a request that would change or start something in a frozen account. */
export function requireUnfrozen(user: Pick<User, "frozenAt" | "frozenReason">, request: Request): void {
  if (user.frozenAt === null || changesNothing(request)) return;
  if (request.method === "DELETE" && STILL_DELETED.test(new URL(request.url).pathname)) return;
  throw accountFrozenError(user);
}

export const accountFrozenError = ({ frozenReason }: Pick<User, "frozenReason">): AppError => {
  const reason = frozenReason ?? "";
  const text = `The operator of this service has frozen this account${reason && `: ${reason.replace(/[.\s]+$/, "")}`}.`;
  return forbidden(
    "ACCOUNT_FROZEN",
    `${text} You can read and export everything in it, erase people, delete agents, API keys and the account, and sign out. Ask the operator to change anything else.`,
    { reason },
  );
};
