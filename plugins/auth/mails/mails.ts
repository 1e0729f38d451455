// The mails about accounts: who gets which, in which language, and who does not want it.
import type { Statement } from "../../../src/database.ts";
import type { Decision } from "../../../src/limits.ts";
import { render } from "../../../src/mail/render.ts";
import type { Kernel } from "../../../src/plugin.ts";
import { isInternalEmail } from "../email.ts";
import type { User } from "../users.ts";
import { type Language, type MailName, templates } from "./templates.ts";

/** Whom a mail goes to. */
export type MailTo = Pick<User, "email" | "name" | "locale" | "notifications" | "emailVerified">;

/**
 * Each gives what is to be put into the batch of its cause: nothing where nobody is to be told. Contract §3.
 * The account's own notification settings decide about all but the first four. Anybody can sign up with anybody's address,
 * so that all but the first three go to verified ones alone. What can be turned off also goes to one address only as often
 * as the rule `forgot-password` says, each kind for itself: an account that does something all day fills no mailbox.
 */
export interface Mails {
  /** `link` with its token; `expiresAt` in epoch ms, when the link dies. */
  verifyEmail(to: MailTo, link: string, expiresAt?: number): Statement[];
  /** The link is good for an hour. */
  resetPassword(to: MailTo, link: string): Statement[];
  /** `to` has the address that was. */
  emailChanged(to: MailTo, newEmail: string): Statement[];
  accountDeleted(to: MailTo): Statement[];
  passwordChanged(to: MailTo): Statement[];
  twoFactorChanged(to: MailTo, on: boolean): Statement[];
  /** An operator turned it off, for somebody who has lost theirs. */
  twoFactorRemoved(to: MailTo): Statement[];
  apiKeyCreated(to: MailTo, keyName: string): Statement[];
  signInMethodAdded(to: MailTo, method: "google" | "github" | "wallet"): Statement[];
  socialLinked(to: MailTo, fid: string): Statement[];
  /** To the owner of the referral code. */
  referralCredited(to: MailTo, credits: number): Statement[];
  /** `until` in epoch ms. */
  planChanged(to: MailTo, plan: string, until: number): Statement[];
  budgetSpent(to: MailTo, budget: SpentBudget): Statement[];
}

export interface SpentBudget {
  /** The agent's name; left out where the account's plan is spent. */
  agent?: string | undefined;
  period: "day" | "month";
  limitUsd: number;
  /** Epoch ms, when the next period begins. */
  until: number;
}

/** What an account can turn off. Contract §3. */
type Topic = "agent" | "billing" | "security" | "referral" | "system";

interface Details {
  /** Left out: it can't be turned off. */
  topic?: Topic;
  /** It is about just this address: nobody has to have verified it. */
  toAnyone?: boolean;
  expiresAt?: number | undefined;
}

const HOUR = 3_600_000;

interface Deps extends Pick<Kernel, "mail" | "config"> {
  limits: { take(rule: "forgot-password", key: string): Pick<Decision, "allowed"> };
}

export function createMails({ mail, config, limits }: Deps): Mails {
  const { host } = new URL(config.baseUrl);
  const forgot = `${config.baseUrl}/login#forgot`;

  function post(to: MailTo, name: MailName, values: Record<string, string>, details: Details = {}): Statement[] {
    const { topic, toAnyone = false, expiresAt } = details;
    if (isInternalEmail(to.email) || !(to.emailVerified || toAnyone)) return [];
    if (topic && to.notifications[topic] === false) return [];
    if (topic && !limits.take("forgot-password", `mail ${name} ${to.email}`).allowed) return [];
    const language = languageOf(to);
    const all = { greeting: greeting(to.name, language), email: to.email, host, forgot, ...values };
    const rendered = render(templates[language][name], all, language);
    return [mail.send({ to: to.email, ...rendered, ...(expiresAt !== undefined && { expiresAt }) })];
  }

  return {
    verifyEmail: (to, link, expiresAt) => post(to, "verify-email", { link }, { expiresAt, toAnyone: true }),
    resetPassword: (to, link) => post(to, "reset-password", { link }, { expiresAt: Date.now() + HOUR, toAnyone: true }),
    emailChanged: (to, newEmail) => post(to, "email-changed", { newEmail }, { toAnyone: true }),
    accountDeleted: (to) => post(to, "account-deleted", {}),
    passwordChanged: (to) => post(to, "password-changed", {}, { topic: "security" }),
    twoFactorChanged: (to, on) => post(to, on ? "two-factor-on" : "two-factor-off", {}, { topic: "security" }),
    twoFactorRemoved: (to) => post(to, "two-factor-removed", {}, { topic: "security" }),
    apiKeyCreated: (to, keyName) => post(to, "api-key-created", { keyName: harmless(keyName) }, { topic: "security" }),
    signInMethodAdded: (to, method) =>
      post(to, "sign-in-method-added", { method: METHODS[languageOf(to)][method] }, { topic: "security" }),
    socialLinked: (to, fid) => post(to, "social-linked", { fid: harmless(fid) }, { topic: "security" }),
    referralCredited: (to, credits) =>
      post(to, "referral-credited", { credits: String(credits) }, { topic: "referral" }),
    planChanged: (to, plan, until) =>
      post(to, "plan-changed", { plan, until: dateIn(languageOf(to), until) }, { topic: "billing" }),
    budgetSpent(to, { agent, period, limitUsd, until }) {
      const language = languageOf(to);
      const { account, agentOf, periods } = BUDGETS[language];
      // Names that hold nothing that a mail may say leave their place empty.
      const name = agent === undefined ? "" : harmless(agent);
      const values = { whose: agent === undefined ? account : agentOf(name), period: periods[period] };
      const about = { ...values, limit: String(limitUsd), until: dateIn(language, until) };
      return post(to, "budget-spent", about, { topic: "billing" });
    },
  };
}

const METHODS: Record<Language, Record<"google" | "github" | "wallet", string>> = {
  en: { google: "Google", github: "GitHub", wallet: "your wallet" },
  de: { google: "Google", github: "GitHub", wallet: "deinem Wallet" },
};

const BUDGETS = {
  en: {
    account: "your account",
    agentOf: (name: string) => `your agent ${name}`.trim(),
    periods: { day: "a day", month: "a month" },
  },
  de: {
    account: "dein Konto",
    agentOf: (name: string) => `deinen Agenten ${name}`.trim(),
    periods: { day: "einen Tag", month: "einen Monat" },
  },
} as const;

const languageOf = ({ locale }: MailTo): Language => (locale === "de" ? "de" : "en");

const dateIn = (language: Language, time: number) =>
  new Intl.DateTimeFormat(language === "de" ? "de-DE" : "en-GB", { dateStyle: "long", timeZone: "UTC" }).format(time);

/**
 * With the name, where it reads like one. Anyone can sign up with somebody else's address and any name: a mail must not
 * carry their message or their link.
 */
function greeting(name: string, language: Language): string {
  const hello = language === "de" ? "Hallo" : "Hello";
  return /^\p{L}[\p{L}\p{M}'’ -]{0,39}$/u.test(name) ? `${hello} ${name}` : hello;
}

/** What its owner called something, so that no mail program makes a link of it. */
const harmless = (text: string) =>
  text
    .replace(/[^\p{L}\p{M}\p{N}_-]+/gu, " ")
    .trim()
    .slice(0, 60);
