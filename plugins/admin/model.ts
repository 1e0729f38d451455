// Request and response schemas of the admin API. Written by hand, so that a new column is never exposed by accident.
import { type Static, t } from "elysia";
import {
  ACCOUNT_STATUSES,
  type Administration,
  type Invitation,
  isActiveSubscription,
  newPassword,
  SUBSCRIPTION_STATUSES,
  type User,
} from "../auth/index.ts";
import type { AuditEntry } from "./audit-log.ts";

const name = t.String({ maxLength: 200, error: "A name is one line of at most 200 characters." });
const flag = (description: string) => t.Optional(t.Boolean({ description, error: "Either true or false." }));
const literalUnion = <Text extends string>(values: readonly Text[], description?: string) =>
  t.Unsafe<Text>(
    t.Union(
      values.map((value) => t.Literal(value)),
      description === undefined ? {} : { description },
    ),
  );
/** The query parameters of a page; src/kernel/http/paging.ts parses them. */
const paging = {
  limit: t.Optional(t.String({ description: "1 to 200; more counts as 200. Default 50" })),
  offset: t.Optional(t.String({ description: "0 or more. Default 0" })),
};

const cell = t.Optional(
  t.String({
    maxLength: 4,
    description: "With `CELLS`: the number of a cell, for what it alone has. By default all together",
  }),
);

export const usersQuery = t.Object({
  query: t.Optional(t.String({ maxLength: 320, description: "A part of the address or of the name" })),
  status: t.Optional(literalUnion(ACCOUNT_STATUSES, "Only accounts in this state")),
  cell,
  ...paging,
});

export const auditQuery = t.Object({
  user: t.Optional(t.String({ maxLength: 320, description: "The account that was changed: an id or an address" })),
  actor: t.Optional(
    t.String({
      maxLength: 320,
      description: "The account, key, agent or operator that made the change: an id, an address or a name",
    }),
  ),
  action: t.Optional(t.String({ maxLength: 64, description: "Such as `user.disable`" })),
  cell,
  kind: t.Optional(
    t.String({
      maxLength: 64,
      description: "What was changed: user, agent, tool, webhook, schedule, file, job, backup, cluster or vault",
    }),
  ),
  from: t.Optional(t.String({ maxLength: 64, description: "ISO 8601: entries since then" })),
  to: t.Optional(t.String({ maxLength: 64, description: "ISO 8601: entries before then" })),
  cursor: t.Optional(t.String({ maxLength: 64, description: "`next` of the page before, in place of `offset`" })),
  ...paging,
});

export const newUserBody = t.Object({
  email: t.String({ maxLength: 320, error: "Give an email address." }),
  name: t.Optional(name),
  password: t.Optional({ ...newPassword, description: "Left out: the owner sets one" }),
  isAdmin: flag("Whether the account is an admin, independent of ADMIN_EMAILS"),
  emailVerified: flag("Whether the address counts as verified"),
  invite: flag("Without a password: whether to mail the owner a link to set one. Default true"),
});

export const invitationBody = t.Object({ email: t.String({ maxLength: 320, error: "Give an email address." }) });

export const invitationResponse = t.Object({
  email: t.String(),
  link: t.String({ description: "For the owner of the address: signs up once. Shown this once" }),
  expiresAt: t.String({ description: "ISO 8601" }),
});

export const toInvitationResponse = ({ email, link, expiresAt }: Invitation): Static<typeof invitationResponse> => ({
  email,
  link,
  expiresAt: new Date(expiresAt).toISOString(),
});

export const userChangesBody = t.Object({
  name: t.Optional(name),
  isAdmin: flag("Whether the account is an admin, independent of ADMIN_EMAILS"),
  disabled: flag("A disabled account can't sign in; its sessions end, and its API keys are refused"),
  emailVerified: flag("Whether the address counts as verified"),
  limitsLifted: flag("Whether the limits of new accounts (NEW_ACCOUNT_DAYS) don't hold for it"),
  credits: t.Optional(
    t.Number({ minimum: 0, maximum: 1e9, multipleOf: 1, error: "Credits are a whole number from 0 to 1000000000." }),
  ),
});

export const subscriptionBody = t.Object({
  plan: t.String({
    maxLength: 32,
    description: "One of `GET /api/plans`",
    error: "Give the name of a plan, such as pro.",
  }),
  status: t.Optional(literalUnion(SUBSCRIPTION_STATUSES)),
  days: t.Optional(
    t.Number({
      minimum: 1,
      maximum: 36_500,
      multipleOf: 1,
      description: "Days from now. Default 30, unless `currentPeriodEnd` is given",
      error: "Days are a whole number from 1 to 36500.",
    }),
  ),
  currentPeriodEnd: t.Optional(t.String({ maxLength: 64, description: "ISO 8601", error: "Give an ISO 8601 time." })),
});

const time = t.String({ description: "ISO 8601" });

const account = {
  id: t.String(),
  email: t.String(),
  name: t.String(),
  plan: t.String(),
  credits: t.Number(),
  emailVerified: t.Boolean(),
  isAdmin: t.Boolean({ description: "Marked as an admin, or verified and in ADMIN_EMAILS" }),
  disabled: t.Boolean(),
  disabledAt: t.Union([time, t.Null()]),
  frozen: t.Union([t.Object({ since: time, reason: t.String({ description: "Which its owner reads" }) }), t.Null()], {
    description: "Set while the account is frozen: its owner only reads, and its agents are paused",
  }),
  limitsLifted: t.Boolean({ description: "Whether an admin has lifted the limits of new accounts" }),
  newAccount: t.Union(
    [
      t.Object({ share: t.Number({ description: "Of its full limits, below 1" }), risesAt: time, endsAt: time }),
      t.Null(),
    ],
    { description: "Set while the limits of new accounts (NEW_ACCOUNT_DAYS) hold for it" },
  ),
  hasPassword: t.Boolean(),
  twoFactorEnabled: t.Boolean(),
  subscription: t.Union([
    t.Object({ plan: t.String(), status: t.String(), active: t.Boolean(), currentPeriodEnd: time }),
    t.Null(),
  ]),
  createdAt: time,
};

export const userItem = t.Object(account);

export const userList = t.Object({
  users: t.Array(userItem),
  total: t.Number({ description: "The number of all matches" }),
  limit: t.Number(),
  offset: t.Number(),
});

export const userDetail = t.Object(
  {
    ...account,
    agents: t.Number(),
    sessions: t.Number({ description: "The number of valid sessions" }),
    keys: t.Number({ description: "The number of valid API keys" }),
  },
  { title: "UserDetail" },
);

export type UserDetail = Static<typeof userDetail>;

export const resetPasswordBody = t.Optional(
  t.Object({
    delivery: t.Optional(
      t.Union([t.Literal("mail"), t.Literal("link")], {
        description: "`link` returns the link, to pass on by hand, in place of a mail. Default `mail`",
        error: "The delivery is mail or link.",
      }),
    ),
  }),
);

export const resetPasswordResponse = t.Object({
  success: t.Literal(true),
  message: t.String(),
  link: t.Optional(
    t.String({ description: "If it was asked for: sets a password once, within an hour. Shown this once" }),
  ),
});

export const removedUserResponse = t.Object({ success: t.Literal(true), id: t.String(), deleted: t.Literal(true) });

export const auditList = t.Object({
  entries: t.Array(
    t.Object({
      id: t.String(),
      at: time,
      actor: t.Object({
        kind: t.String({ description: "`user`, `key`, `agent`, `visitor`, `command` or `service`" }),
        id: t.Union([t.String(), t.Null()]),
        name: t.String({
          description:
            "The account's address at that time, also of a key; the agent's name; or the user who ran the command",
        }),
      }),
      action: t.String(),
      target: t.Object({ kind: t.String(), id: t.String(), name: t.String() }),
      details: t.Record(t.String(), t.Unknown(), { description: "`{ field: { from, to } }`" }),
      address: t.Union([t.String(), t.Null()]),
      requestId: t.Union([t.String(), t.Null()]),
    }),
  ),
  total: t.Number({ description: "The number of all matches" }),
  limit: t.Number(),
  offset: t.Number(),
  next: t.Union([t.String({ description: "The cursor of the next page" }), t.Null()]),
});

const iso = (time: number) => new Date(time).toISOString();

/** A user in responses of the admin API. */
export function toUserItem(
  user: User,
  { isAdmin, rampOf }: Pick<Administration, "isAdmin" | "rampOf">,
): Static<typeof userItem> {
  const { subscription, disabledAt } = user;
  const ramp = isAdmin(user) ? undefined : rampOf(user);
  return {
    id: user.id,
    email: user.email,
    name: user.name,
    plan: user.plan,
    credits: user.credits,
    emailVerified: user.emailVerified,
    isAdmin: isAdmin(user),
    disabled: disabledAt !== null,
    disabledAt: disabledAt === null ? null : iso(disabledAt),
    frozen: user.frozenAt === null ? null : { since: iso(user.frozenAt), reason: user.frozenReason ?? "" },
    limitsLifted: user.limitsLifted,
    newAccount: ramp ? { share: ramp.share, risesAt: iso(ramp.risesAt), endsAt: iso(ramp.endsAt) } : null,
    hasPassword: user.passwordHash !== null,
    twoFactorEnabled: user.twoFactorEnabled,
    subscription: subscription && {
      plan: subscription.plan,
      status: subscription.status,
      active: isActiveSubscription(subscription),
      currentPeriodEnd: iso(subscription.currentPeriodEnd),
    },
    createdAt: iso(user.createdAt),
  };
}

export const toAuditItem = (entry: AuditEntry): Static<typeof auditList>["entries"][number] => ({
  id: entry.id,
  at: iso(entry.at),
  actor: { kind: entry.actorKind, id: entry.actorId, name: entry.actorName },
  action: entry.action,
  target: { kind: entry.targetKind, id: entry.targetId, name: entry.targetName },
  details: JSON.parse(entry.details),
  address: entry.address,
  requestId: entry.requestId,
});
