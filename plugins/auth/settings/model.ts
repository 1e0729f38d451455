// Request and response schemas of settings and sessions.
import { type Static, t } from "elysia";
import { name, newPassword, totp } from "../model.ts";
import type { Session } from "../sessions.ts";
import { NOTIFICATION_TOPICS } from "../users.ts";
import { deviceLabel } from "./device-label.ts";

/** Omitted fields stay unchanged. */
export const profileBody = t.Object({
  name: t.Optional(name),
  email: t.Optional(t.String({ maxLength: 320, error: "Give your email address." })),
  currentPassword: t.Optional(
    t.String({
      maxLength: 4096,
      description: "Required for a new address if the session is older than ten minutes",
      error: "Give your password.",
    }),
  ),
  totp,
});

const topics = NOTIFICATION_TOPICS.map((topic) => `\`${topic}\``).join(", ");

/** Omitted fields stay unchanged. */
export const preferencesBody = t.Object({
  name: t.Optional(name),
  // Validated in profile-change.ts: Elysia would coerce a number or text to an empty object before validation, and an
  // object schema here would refuse unknown fields elsewhere in the body.
  notifications: t.Optional(
    t.Unknown({
      description: `An object of booleans: ${topics}; omitted ones stay unchanged`,
    }),
  ),
});

export const passwordBody = t.Object({
  currentPassword: t.Optional(
    t.String({ maxLength: 4096, description: "Required if the account has a password", error: "Give your password." }),
  ),
  newPassword,
});

export const deletionBody = t.Object({
  password: t.Optional(
    t.String({ maxLength: 4096, description: "Required if the account has one", error: "Give your password." }),
  ),
});

export const successResponse = t.Object({ success: t.Literal(true), message: t.String() });

const sessionItem = t.Object(
  {
    id: t.String(),
    current: t.Boolean({ description: "The session of this request" }),
    createdAt: t.String(),
    lastUsedAt: t.String({ description: "Exact to the day" }),
    expiresAt: t.String(),
    address: t.String({ description: "The client's address at the sign-in" }),
    userAgent: t.String(),
    label: t.String({ description: "Browser and system in words, such as `Firefox, Linux`; empty if unknown" }),
  },
  { title: "Session" },
);

export const sessionList = t.Object({ sessions: t.Array(sessionItem), count: t.Number() });
export const sessionRevokedResponse = t.Object({ success: t.Literal(true), id: t.String(), deleted: t.Literal(true) });
export const sessionsRevokedResponse = t.Object({ success: t.Literal(true), count: t.Number() });

export function toSessionItem(session: Session, currentId: string): Static<typeof sessionItem> {
  const { id, createdAt, renewedAt, expiresAt, address, userAgent } = session;
  return {
    id,
    current: id === currentId,
    createdAt: new Date(createdAt).toISOString(),
    lastUsedAt: new Date(renewedAt).toISOString(),
    expiresAt: new Date(expiresAt).toISOString(),
    address,
    userAgent,
    label: deviceLabel(userAgent),
  };
}
