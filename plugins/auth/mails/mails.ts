// The mails about accounts: who gets which, in which language, and who does not want it.
import type { Statement } from "../../../src/kernel/database/database.ts";
import { renderMail } from "../../../src/kernel/mail/mail-template.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import type { Decision } from "../../../src/kernel/security/rate-limits/rate-limiter.ts";
import { HOUR } from "../../../src/kernel/util/time.ts";
import { isInternalEmail } from "../email.ts";
import type { NotificationTopic, User } from "../users.ts";
import { type Language, type MailName, templates } from "./templates.ts";

/** Whom a mail goes to. */
export type MailRecipient = Pick<User, "email" | "name" | "locale" | "notifications" | "emailVerified">;

/**
 * Each gives what is to be put into the batch of its cause: nothing where nobody is to be told. Contract §3.
 * The account's own notification settings decide about all but the first four. Anybody can sign up with anybody's address,
 * so that all but the first three go to verified ones alone. What can be turned off also goes to one address only as often
 * as the rule `forgot-password` says, each kind for itself: an account that does something all day fills no mailbox.
 */
export interface Mails {
  /** `link` with its token; `expiresAt` in epoch ms, when the link dies. */
  verifyEmailStatements(to: MailRecipient, link: string, expiresAt?: number): Statement[];
  /** The link is good for an hour. */
  resetPasswordStatements(to: MailRecipient, link: string): Statement[];
  /** `to` has the address that was. */
  emailChangedStatements(to: MailRecipient, newEmail: string): Statement[];
  accountDeletedStatements(to: MailRecipient): Statement[];
  passwordChangedStatements(to: MailRecipient): Statement[];
  twoFactorChangedStatements(to: MailRecipient, on: boolean): Statement[];
  /** An operator turned it off, for somebody who has lost theirs. */
  twoFactorRemovedStatements(to: MailRecipient): Statement[];
  apiKeyCreatedStatements(to: MailRecipient, keyName: string): Statement[];
  signInMethodAddedStatements(to: MailRecipient, method: "google" | "github" | "wallet"): Statement[];
  socialLinkedStatements(to: MailRecipient, fid: string): Statement[];
  /** To the owner of the referral code. */
  referralCreditedStatements(to: MailRecipient, credits: number): Statement[];
  /** `until` in epoch ms. */
  planChangedStatements(to: MailRecipient, plan: string, until: number): Statement[];
  budgetSpentStatements(to: MailRecipient, budget: SpentBudget): Statement[];
}

export interface SpentBudget {
  /** The agent's name; left out where the account's plan is spent. */
  agent?: string | undefined;
  period: "day" | "month";
  limitUsd: number;
  /** Epoch ms, when the next period begins. */
  until: number;
}

interface MailOptions {
  /** Left out: it can't be turned off. */
  topic?: NotificationTopic;
  /** It is about just this address: nobody has to have verified it. */
  allowsUnverified?: boolean;
  expiresAt?: number | undefined;
}

interface Deps extends Pick<Kernel, "mail" | "config"> {
  limits: { take(rule: "forgot-password", key: string): Pick<Decision, "allowed"> };
}

export function createMails({ mail, config, limits }: Deps): Mails {
  const { host } = new URL(config.baseUrl);
  const forgot = `${config.baseUrl}/login#forgot`;

  function mailStatements(
    to: MailRecipient,
    name: MailName,
    values: Record<string, string>,
    options: MailOptions = {},
  ): Statement[] {
    const { topic, allowsUnverified = false, expiresAt } = options;
    if (isInternalEmail(to.email) || !(to.emailVerified || allowsUnverified)) return [];
    if (topic && to.notifications[topic] === false) return [];
    if (topic && !limits.take("forgot-password", `mail ${name} ${to.email}`).allowed) return [];
    const language = languageOf(to);
    const all = { greeting: greeting(to.name, language), email: to.email, host, forgot, ...values };
    const rendered = renderMail(templates[language][name], all, language);
    return [mail.sendStatement({ to: to.email, ...rendered, ...(expiresAt !== undefined && { expiresAt }) })];
  }

  return {
    verifyEmailStatements: (to, link, expiresAt) =>
      mailStatements(to, "verify-email", { link }, { expiresAt, allowsUnverified: true }),
    resetPasswordStatements: (to, link) =>
      mailStatements(to, "reset-password", { link }, { expiresAt: Date.now() + HOUR, allowsUnverified: true }),
    emailChangedStatements: (to, newEmail) =>
      mailStatements(to, "email-changed", { newEmail }, { allowsUnverified: true }),
    accountDeletedStatements: (to) => mailStatements(to, "account-deleted", {}),
    passwordChangedStatements: (to) => mailStatements(to, "password-changed", {}, { topic: "security" }),
    twoFactorChangedStatements: (to, on) =>
      mailStatements(to, on ? "two-factor-on" : "two-factor-off", {}, { topic: "security" }),
    twoFactorRemovedStatements: (to) => mailStatements(to, "two-factor-removed", {}, { topic: "security" }),
    apiKeyCreatedStatements: (to, keyName) =>
      mailStatements(to, "api-key-created", { keyName: stripLinkCharacters(keyName) }, { topic: "security" }),
    signInMethodAddedStatements: (to, method) =>
      mailStatements(
        to,
        "sign-in-method-added",
        { method: METHOD_LABELS[languageOf(to)][method] },
        { topic: "security" },
      ),
    socialLinkedStatements: (to, fid) =>
      mailStatements(to, "social-linked", { fid: stripLinkCharacters(fid) }, { topic: "security" }),
    referralCreditedStatements: (to, credits) =>
      mailStatements(to, "referral-credited", { credits: String(credits) }, { topic: "referral" }),
    planChangedStatements: (to, plan, until) =>
      mailStatements(to, "plan-changed", { plan, until: formatDate(languageOf(to), until) }, { topic: "billing" }),
    budgetSpentStatements(to, { agent, period, limitUsd, until }) {
      const language = languageOf(to);
      const { account, agentOf, periods } = BUDGET_TEXTS[language];
      // Names that hold nothing that a mail may say leave their place empty.
      const name = agent === undefined ? "" : stripLinkCharacters(agent);
      const values = { whose: agent === undefined ? account : agentOf(name), period: periods[period] };
      const about = { ...values, limit: String(limitUsd), until: formatDate(language, until) };
      return mailStatements(to, "budget-spent", about, { topic: "billing" });
    },
  };
}

const METHOD_LABELS: Record<Language, Record<"google" | "github" | "wallet", string>> = {
  en: { google: "Google", github: "GitHub", wallet: "your wallet" },
  de: { google: "Google", github: "GitHub", wallet: "deinem Wallet" },
};

const BUDGET_TEXTS = {
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

const languageOf = ({ locale }: MailRecipient): Language => (locale === "de" ? "de" : "en");

const formatDate = (language: Language, time: number) =>
  new Intl.DateTimeFormat(language === "de" ? "de-DE" : "en-GB", { dateStyle: "long", timeZone: "UTC" }).format(time);

/**
 * With the name, where it reads like one. Anyone can sign up with somebody else's address and any name: a mail must not
 * carry their message or their link.
 */
function greeting(name: string, language: Language): string {
  const salutation = language === "de" ? "Hallo" : "Hello";
  return /^\p{L}[\p{L}\p{M}'’ -]{0,39}$/u.test(name) ? `${salutation} ${name}` : salutation;
}

/** What its owner called something, so that no mail program makes a link of it. */
const stripLinkCharacters = (text: string) =>
  text
    .replace(/[^\p{L}\p{M}\p{N}_-]+/gu, " ")
    .trim()
    .slice(0, 60);
