// The templates of all mails: in English one text file each, embedded in the binary; else those of the language's file.
import type { Language } from "../../../src/kernel/pages/language.ts";
import { serverTexts } from "../../../src/kernel/pages/translations.ts";
import enAccountDeleted from "./en/account-deleted.txt" with { type: "text" };
import enAccountFrozen from "./en/account-frozen.txt" with { type: "text" };
import enAccountUnfrozen from "./en/account-unfrozen.txt" with { type: "text" };
import enAgentFrozen from "./en/agent-frozen.txt" with { type: "text" };
import enAgentUnfrozen from "./en/agent-unfrozen.txt" with { type: "text" };
import enApiKeyCreated from "./en/api-key-created.txt" with { type: "text" };
import enBudgetSpent from "./en/budget-spent.txt" with { type: "text" };
import enCreditsBought from "./en/credits-bought.txt" with { type: "text" };
import enEmailChanged from "./en/email-changed.txt" with { type: "text" };
import enPasswordChanged from "./en/password-changed.txt" with { type: "text" };
import enPaymentFailed from "./en/payment-failed.txt" with { type: "text" };
import enPlanChanged from "./en/plan-changed.txt" with { type: "text" };
import enReferralCredited from "./en/referral-credited.txt" with { type: "text" };
import enResetPassword from "./en/reset-password.txt" with { type: "text" };
import enSignInMethodAdded from "./en/sign-in-method-added.txt" with { type: "text" };
import enSignInMethodRemoved from "./en/sign-in-method-removed.txt" with { type: "text" };
import enSocialLinked from "./en/social-linked.txt" with { type: "text" };
import enTrialEnding from "./en/trial-ending.txt" with { type: "text" };
import enTwoFactorOff from "./en/two-factor-off.txt" with { type: "text" };
import enTwoFactorOn from "./en/two-factor-on.txt" with { type: "text" };
import enTwoFactorRemoved from "./en/two-factor-removed.txt" with { type: "text" };
import enVerifyEmail from "./en/verify-email.txt" with { type: "text" };
import type { MailName } from "./mail-name.ts";

const ENGLISH: Readonly<Record<MailName, string>> = {
  "account-deleted": enAccountDeleted,
  "account-frozen": enAccountFrozen,
  "account-unfrozen": enAccountUnfrozen,
  "agent-frozen": enAgentFrozen,
  "agent-unfrozen": enAgentUnfrozen,
  "api-key-created": enApiKeyCreated,
  "budget-spent": enBudgetSpent,
  "credits-bought": enCreditsBought,
  "email-changed": enEmailChanged,
  "password-changed": enPasswordChanged,
  "payment-failed": enPaymentFailed,
  "plan-changed": enPlanChanged,
  "referral-credited": enReferralCredited,
  "reset-password": enResetPassword,
  "sign-in-method-added": enSignInMethodAdded,
  "sign-in-method-removed": enSignInMethodRemoved,
  "social-linked": enSocialLinked,
  "trial-ending": enTrialEnding,
  "two-factor-off": enTwoFactorOff,
  "two-factor-on": enTwoFactorOn,
  "two-factor-removed": enTwoFactorRemoved,
  "verify-email": enVerifyEmail,
};

/** The source of a mail; src/kernel/mail/mail-template.ts documents the format. */
export const mailTemplate = (name: MailName, language: Language): string =>
  (language === "en" ? ENGLISH : serverTexts(language).mails)[name];
