// The templates of all mails by language, one text file each, embedded in the binary.
import type { Language } from "../../../src/kernel/pages/language.ts";
import deAccountDeleted from "./de/account-deleted.txt" with { type: "text" };
import deApiKeyCreated from "./de/api-key-created.txt" with { type: "text" };
import deBudgetSpent from "./de/budget-spent.txt" with { type: "text" };
import deEmailChanged from "./de/email-changed.txt" with { type: "text" };
import dePasswordChanged from "./de/password-changed.txt" with { type: "text" };
import dePlanChanged from "./de/plan-changed.txt" with { type: "text" };
import deReferralCredited from "./de/referral-credited.txt" with { type: "text" };
import deResetPassword from "./de/reset-password.txt" with { type: "text" };
import deSignInMethodAdded from "./de/sign-in-method-added.txt" with { type: "text" };
import deSignInMethodRemoved from "./de/sign-in-method-removed.txt" with { type: "text" };
import deSocialLinked from "./de/social-linked.txt" with { type: "text" };
import deTwoFactorOff from "./de/two-factor-off.txt" with { type: "text" };
import deTwoFactorOn from "./de/two-factor-on.txt" with { type: "text" };
import deTwoFactorRemoved from "./de/two-factor-removed.txt" with { type: "text" };
import deVerifyEmail from "./de/verify-email.txt" with { type: "text" };
import enAccountDeleted from "./en/account-deleted.txt" with { type: "text" };
import enApiKeyCreated from "./en/api-key-created.txt" with { type: "text" };
import enBudgetSpent from "./en/budget-spent.txt" with { type: "text" };
import enEmailChanged from "./en/email-changed.txt" with { type: "text" };
import enPasswordChanged from "./en/password-changed.txt" with { type: "text" };
import enPlanChanged from "./en/plan-changed.txt" with { type: "text" };
import enReferralCredited from "./en/referral-credited.txt" with { type: "text" };
import enResetPassword from "./en/reset-password.txt" with { type: "text" };
import enSignInMethodAdded from "./en/sign-in-method-added.txt" with { type: "text" };
import enSignInMethodRemoved from "./en/sign-in-method-removed.txt" with { type: "text" };
import enSocialLinked from "./en/social-linked.txt" with { type: "text" };
import enTwoFactorOff from "./en/two-factor-off.txt" with { type: "text" };
import enTwoFactorOn from "./en/two-factor-on.txt" with { type: "text" };
import enTwoFactorRemoved from "./en/two-factor-removed.txt" with { type: "text" };
import enVerifyEmail from "./en/verify-email.txt" with { type: "text" };

const en = {
  "account-deleted": enAccountDeleted,
  "api-key-created": enApiKeyCreated,
  "budget-spent": enBudgetSpent,
  "email-changed": enEmailChanged,
  "password-changed": enPasswordChanged,
  "plan-changed": enPlanChanged,
  "referral-credited": enReferralCredited,
  "reset-password": enResetPassword,
  "sign-in-method-added": enSignInMethodAdded,
  "sign-in-method-removed": enSignInMethodRemoved,
  "social-linked": enSocialLinked,
  "two-factor-off": enTwoFactorOff,
  "two-factor-on": enTwoFactorOn,
  "two-factor-removed": enTwoFactorRemoved,
  "verify-email": enVerifyEmail,
};

export type MailName = keyof typeof en;

const de: Record<MailName, string> = {
  "account-deleted": deAccountDeleted,
  "api-key-created": deApiKeyCreated,
  "budget-spent": deBudgetSpent,
  "email-changed": deEmailChanged,
  "password-changed": dePasswordChanged,
  "plan-changed": dePlanChanged,
  "referral-credited": deReferralCredited,
  "reset-password": deResetPassword,
  "sign-in-method-added": deSignInMethodAdded,
  "sign-in-method-removed": deSignInMethodRemoved,
  "social-linked": deSocialLinked,
  "two-factor-off": deTwoFactorOff,
  "two-factor-on": deTwoFactorOn,
  "two-factor-removed": deTwoFactorRemoved,
  "verify-email": deVerifyEmail,
};

/** The source of each mail; src/kernel/mail/mail-template.ts documents the format. */
export const templates: Readonly<Record<Language, Readonly<Record<MailName, string>>>> = { en, de };
