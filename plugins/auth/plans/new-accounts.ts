// The limits of new accounts: with NEW_ACCOUNT_DAYS, an account has a share of its limits that grows each day.
import { DAY } from "../../../src/kernel/util/time.ts";
import type { User } from "../users.ts";
import { isActiveSubscription } from "./plan-table.ts";

/** How far a new account has come. Times are epoch ms. */
export interface Ramp {
  /** Of what it may have afterwards: between 0 and 1. */
  share: number;
  /** When the share grows next. */
  risesAt: number;
  /** From when on it has all. */
  endsAt: number;
}

type NewAccount = Pick<User, "createdAt" | "limitsLifted" | "subscription">;

/**
 * Undefined for an account that is older than `days`, that pays for a plan, or for which an admin has lifted the limits. The
 * days begin with the account; with 7 of them, it has an eighth on its first day, and seven eighths on its last.
 */
export function rampOf({ createdAt, limitsLifted, subscription }: NewAccount, days: number, now = Date.now()) {
  if (days === 0 || limitsLifted) return undefined;
  if (subscription?.status === "active" && isActiveSubscription(subscription, now)) return undefined;
  const age = Math.max(0, Math.floor((now - createdAt) / DAY));
  if (age >= days) return undefined;
  const ramp: Ramp = {
    share: (age + 1) / (days + 1),
    risesAt: createdAt + (age + 1) * DAY,
    endsAt: createdAt + days * DAY,
  };
  return ramp;
}

/** What an owner can do about it, as the end of a refusal. */
export const rampAdvice = ({ risesAt, endsAt }: Ramp): string =>
  `This account is new: it may do more from ${minuteOf(risesAt)} on, and everything from ${minuteOf(endsAt)}. A paid plan ends this at once, and so can the operator.`;

const minuteOf = (at: number) => `${new Date(at).toISOString().slice(0, 16).replace("T", " ")} UTC`;
