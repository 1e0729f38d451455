// The names of all mails, without the templates, for the types of translations.

export type MailName =
  | "account-deleted"
  | "api-key-created"
  | "budget-spent"
  | "credits-bought"
  | "email-changed"
  | "password-changed"
  | "payment-failed"
  | "plan-changed"
  | "referral-credited"
  | "reset-password"
  | "sign-in-method-added"
  | "sign-in-method-removed"
  | "social-linked"
  | "trial-ending"
  | "two-factor-off"
  | "two-factor-on"
  | "two-factor-removed"
  | "verify-email";
