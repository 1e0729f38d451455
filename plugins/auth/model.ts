// Request and response schemas of accounts. Written by hand, so that a new column is never exposed by accident.
import { type Static, t } from "elysia";
import type { Identity } from "./identity.ts";
import { MIN_PASSWORD_LENGTH } from "./password/length.ts";
import { isActiveSubscription } from "./plans/plan-table.ts";
import { NOTIFICATION_TOPICS, type NotificationTopic } from "./users.ts";

/** One line: no control characters, line breaks, or characters that change the direction of text. */
export const name = t.String({
  maxLength: 200,
  pattern: "^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028-\\u202e\\u2066-\\u2069]*$",
  error: "A name is one line of at most 200 characters.",
});

/** A password that an account gets. `requirePassword` judges it. */
export const newPassword = t.String({
  error: `Give a password of at least ${MIN_PASSWORD_LENGTH} characters.`,
  description: `At least ${MIN_PASSWORD_LENGTH} characters; neither a common one nor the account's address.`,
});

export const signUpBody = t.Object({
  email: t.String({ maxLength: 320, error: "Give your email address." }),
  password: newPassword,
  name: t.Optional(name),
  referralCode: t.Optional(
    t.String({
      error: "A referral code is a text.",
      description: "The code of the user who referred the new one; case is ignored",
    }),
  ),
  invitation: t.Optional(
    t.String({ maxLength: 200, error: "An invitation is a text.", description: "The token of an invitation's link" }),
  ),
  website: t.Optional(t.Unknown({ description: "A honeypot for bots: leave it out or empty" })),
});

export const forgotPasswordBody = t.Object(
  {
    email: t.String({ maxLength: 320, error: "Give your email address." }),
    website: t.Optional(t.Unknown({ description: "A honeypot for bots: leave it out or empty" })),
  },
  { title: "ForgottenPassword" },
);

/** The token of a one-time link. */
const token = t.String({ minLength: 1, maxLength: 200, error: "Open the link from the mail." });

export const resetPasswordBody = t.Object({
  token,
  password: t.String({
    error: "Give a password of at least 6 characters.",
    description: "At least 6 characters; neither a common one nor the account's address.",
  }),
});

export const verifyEmailBody = t.Object({ token });

export const messageResponse = t.Object({ message: t.String() });

/** The second factor, in the body of a sign-in. */
export const totp = t.Optional(
  t.String({
    maxLength: 64,
    description: "With two-factor on: a code of the authenticator app or a recovery code",
    error: "A code is text.",
  }),
);

export const signInBody = t.Object({
  email: t.String({ minLength: 1, maxLength: 320, error: "Give your email address." }),
  password: t.String({ minLength: 1, maxLength: 4096, error: "Give your password." }),
  totp,
});

export const firstAdminBody = t.Object({
  token: t.String({ minLength: 1, maxLength: 200, error: "Open the link that Berth printed at its start." }),
  email: t.String({ maxLength: 320, error: "Give your email address." }),
  password: newPassword,
  name: t.Optional(name),
});

export const accountSummary = t.Object({ id: t.String(), email: t.String(), name: t.String() });

export const signInResponse = t.Object({ ok: t.Literal(true), user: accountSummary });

export const signInRedirectResponse = t.Object({
  ok: t.Literal(true),
  url: t.String({ description: "Where to go next, within Berth" }),
  user: accountSummary,
});

export const currentSession = t.Object({
  user: t.Union([accountSummary, t.Null()]),
  expires: t.Union([t.String({ description: "ISO 8601; null without a session" }), t.Null()]),
});

const byTopic = <Value>(value: (topic: NotificationTopic) => Value) =>
  Object.fromEntries(NOTIFICATION_TOPICS.map((topic) => [topic, value(topic)])) as Record<NotificationTopic, Value>;

export const currentUser = t.Object({
  id: t.String(),
  email: t.String(),
  name: t.String(),
  plan: t.String(),
  credits: t.Number(),
  twoFactorEnabled: t.Boolean(),
  hasPassword: t.Boolean({ description: "Whether the account can sign in with a password" }),
  emailVerified: t.Boolean(),
  isAdmin: t.Boolean(),
  referralCode: t.String(),
  subscription: t.Union([
    t.Object({ plan: t.String(), status: t.String(), active: t.Boolean(), currentPeriodEnd: t.String() }),
    t.Null(),
  ]),
  notifications: t.Object(byTopic(() => t.Boolean())),
  frozen: t.Union(
    [
      t.Object({
        since: t.String({ description: "ISO 8601" }),
        reason: t.String({ description: "What the operator wrote" }),
      }),
      t.Null(),
    ],
    { description: "Set if an admin has frozen the account: it reads, and its agents are paused" },
  ),
  createdAt: t.String(),
});

/** The response of `GET /api/settings`. */
export function toCurrentUser({ user, isAdmin }: Identity): Static<typeof currentUser> {
  const { subscription, notifications } = user;
  return {
    id: user.id,
    email: user.email,
    name: user.name,
    plan: user.plan,
    credits: user.credits,
    twoFactorEnabled: user.twoFactorEnabled,
    hasPassword: user.passwordHash !== null,
    emailVerified: user.emailVerified,
    isAdmin,
    referralCode: user.referralCode,
    subscription: subscription && {
      plan: subscription.plan,
      status: subscription.status,
      active: isActiveSubscription(subscription),
      currentPeriodEnd: new Date(subscription.currentPeriodEnd).toISOString(),
    },
    notifications: byTopic((topic) => notifications[topic] ?? true),
    frozen:
      user.frozenAt === null ? null : { since: new Date(user.frozenAt).toISOString(), reason: user.frozenReason ?? "" },
    createdAt: new Date(user.createdAt).toISOString(),
  };
}
