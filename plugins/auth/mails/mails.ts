// Builds the mails about accounts: chooses recipient, language and template, and applies notification settings.
import type { Statement } from "../../../src/kernel/database/database.ts";
import { renderMail } from "../../../src/kernel/mail/mail-template.ts";
import { type Language, languageOfLocale } from "../../../src/kernel/pages/language.ts";
import { pageText, translateText } from "../../../src/kernel/pages/page-template.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import type { Decision } from "../../../src/kernel/security/rate-limits/rate-limiter.ts";
import { HOUR } from "../../../src/kernel/util/time.ts";
import { isInternalEmail } from "../email.ts";
import { describeOrigin } from "../oauth/configured-providers.ts";
import type { LinkedAccount } from "../oauth/linked-accounts.ts";
import type { NotificationTopic, User } from "../users.ts";
import type { MailName } from "./mail-name.ts";
import { mailTemplate } from "./templates.ts";

/** The recipient of a mail. */
export type MailRecipient = Pick<User, "email" | "name" | "locale" | "notifications" | "emailVerified">;

/**
 * Each function returns statements for the batch of the event that causes the mail; none if no mail is to be sent. All
 * but the first eight mails can be turned off in the notification settings; these are also limited per address and kind
 * by the rule `forgot-password`, so that a busy account does not flood a mailbox. All but the first three go to
 * verified addresses only, since sign-up accepts addresses of strangers.
 */
export interface Mails {
  /**
   * `link` includes the token; `expiresAt` (epoch ms) is the end of the link, after which the mail is no longer sent.
   */
  verifyEmailStatements(to: MailRecipient, link: string, expiresAt?: number): Statement[];
  /** `link` includes the token, and is valid for an hour. */
  resetPasswordStatements(to: MailRecipient, link: string): Statement[];
  /** `to` has the old address. */
  emailChangedStatements(to: MailRecipient, newEmail: string): Statement[];
  accountDeletedStatements(to: MailRecipient): Statement[];
  /** An admin has frozen the account, or its agent with this name (`reason` says why), or ended that (null). */
  frozenStatements(to: MailRecipient, reason: string | null, agent?: string): Statement[];
  passwordChangedStatements(to: MailRecipient): Statement[];
  twoFactorChangedStatements(to: MailRecipient, on: boolean): Statement[];
  /** An operator turned two-factor off, for an owner who lost the device. */
  twoFactorRemovedStatements(to: MailRecipient): Statement[];
  apiKeyCreatedStatements(to: MailRecipient, keyName: string): Statement[];
  signInMethodAddedStatements(to: MailRecipient, method: LinkedAccount): Statement[];
  signInMethodRemovedStatements(to: MailRecipient, method: LinkedAccount): Statement[];
  socialLinkedStatements(to: MailRecipient, fid: string): Statement[];
  /** To the owner of the referral code. */
  referralCreditedStatements(to: MailRecipient, credits: number): Statement[];
  /** `until` in epoch ms. */
  planChangedStatements(to: MailRecipient, plan: string, until: number): Statement[];
  /** For a payment in stablecoin; Stripe sends receipts of its own. */
  creditsBoughtStatements(to: MailRecipient, credits: number, microUsd: number): Statement[];
  /** `until` in epoch ms: the end of the grace. */
  paymentFailedStatements(to: MailRecipient, plan: string, until: number): Statement[];
  /** `until` in epoch ms: the first payment. */
  trialEndingStatements(to: MailRecipient, plan: string, until: number): Statement[];
  budgetSpentStatements(to: MailRecipient, budget: SpentBudget): Statement[];
}

export interface SpentBudget {
  /** The agent's name; left out if it is the budget of the account. */
  agent?: string | undefined;
  period: "day" | "month";
  limitUsd: number;
  /** Epoch ms, when the next period begins. */
  until: number;
}

interface MailOptions {
  /** The notification setting of this mail; left out if it can't be turned off. */
  topic?: NotificationTopic;
  /** Also send to an unverified address, since the mail is about this address. */
  allowsUnverified?: boolean;
  expiresAt?: number | undefined;
}

interface Deps extends Pick<Kernel, "mail" | "config"> {
  limits: { take(rule: "forgot-password", key: string): Pick<Decision, "allowed"> };
}

export function createMails({ mail, config, limits }: Deps): Mails {
  const { host } = new URL(config.baseUrl);
  const methodLabel = (method: LinkedAccount, language: Language) =>
    method.provider === "wallet" ? translateText("your wallet", language) : describeOrigin(config, method).name;
  const forgot = `${config.baseUrl}/login#forgot`;
  /** Who reads what people answer to a mail. */
  const contact = /<(.+)>/.exec(config.smtp.from)?.[1] ?? config.smtp.from;

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
    const rendered = renderMail(mailTemplate(name, language), all, language);
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
    frozenStatements(to, reason, agent) {
      const name = `${agent === undefined ? "account" : "agent"}-${reason === null ? "unfrozen" : "frozen"}` as const;
      const whose = agent === undefined ? "" : agentText(agent, languageOf(to));
      return mailStatements(to, name, { contact, whose, reason: reason ?? "" });
    },
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
        { method: methodLabel(method, languageOf(to)) },
        { topic: "security" },
      ),
    signInMethodRemovedStatements: (to, method) =>
      mailStatements(
        to,
        "sign-in-method-removed",
        { method: methodLabel(method, languageOf(to)) },
        { topic: "security" },
      ),
    socialLinkedStatements: (to, fid) =>
      mailStatements(to, "social-linked", { fid: stripLinkCharacters(fid) }, { topic: "security" }),
    referralCreditedStatements: (to, credits) =>
      mailStatements(to, "referral-credited", { credits: String(credits) }, { topic: "referral" }),
    planChangedStatements: (to, plan, until) =>
      mailStatements(to, "plan-changed", { plan, until: formatDate(languageOf(to), until) }, { topic: "billing" }),
    creditsBoughtStatements(to, credits, microUsd) {
      const values = { credits: String(credits), usd: String(microUsd / 1e6), link: `${config.baseUrl}/account/plan` };
      return mailStatements(to, "credits-bought", values, { topic: "billing" });
    },
    paymentFailedStatements(to, plan, until) {
      const values = { plan, until: formatDate(languageOf(to), until), link: `${config.baseUrl}/account/plan` };
      return mailStatements(to, "payment-failed", values, { topic: "billing" });
    },
    trialEndingStatements(to, plan, until) {
      const values = { plan, until: formatDate(languageOf(to), until), link: `${config.baseUrl}/account/plan` };
      return mailStatements(to, "trial-ending", values, { topic: "billing" });
    },
    budgetSpentStatements(to, { agent, period, limitUsd, until }) {
      const language = languageOf(to);
      const whose = agent === undefined ? translateText("your account", language) : agentText(agent, language);
      const values = { whose, period: translateText(PERIOD_TEXTS[period], language) };
      const about = { ...values, limit: String(limitUsd), until: formatDate(language, until) };
      return mailStatements(to, "budget-spent", about, { topic: "billing" });
    },
  };
}

const PERIOD_TEXTS = { day: pageText("a day"), month: pageText("a month") } as const;

const languageOf = ({ locale }: MailRecipient): Language => languageOfLocale(locale);

/** The name is left out if nothing of it may appear in a mail. */
const agentText = (name: string, language: Language): string =>
  translateText("your agent {name}", language, { name: stripLinkCharacters(name) }).trim();

const formatDate = (language: Language, time: number) =>
  new Intl.DateTimeFormat(language === "en" ? "en-GB" : language, { dateStyle: "long", timeZone: "UTC" }).format(time);

/**
 * Includes the name only if it looks like one: sign-up accepts any name with the address of a stranger, and a mail must
 * not deliver messages or links of the sender.
 */
function greeting(name: string, language: Language): string {
  const salutation = translateText("Hello", language);
  return /^\p{L}[\p{L}\p{M}'’ -]{0,39}$/u.test(name) ? `${salutation} ${name}` : salutation;
}

/** Reduces a user-chosen name to characters from which mail programs make no link. */
const stripLinkCharacters = (text: string) =>
  text
    .replace(/[^\p{L}\p{M}\p{N}_-]+/gu, " ")
    .trim()
    .slice(0, 60);
