// What settings and sessions look like on the wire.
import { type Static, t } from "elysia";
import { name, totp } from "../model.ts";
import type { Session } from "../sessions.ts";
import { NOTIFICATION_TOPICS } from "../users.ts";

/** What is left out stays. */
export const profileBody = t.Object({
  name: t.Optional(name),
  email: t.Optional(t.String({ maxLength: 320, error: "Give your email address." })),
  currentPassword: t.Optional(
    t.String({
      maxLength: 4096,
      description: "For a new address, from a session older than ten minutes",
      error: "Give your password.",
    }),
  ),
  totp,
});

/** Likewise. */
export const preferencesBody = t.Object({
  name: t.Optional(name),
  // Checked by hand: a number or a text would be made an empty object before a schema could see it, and unknown fields
  // beside one whose type is told here would be refused.
  notifications: t.Optional(
    t.Unknown({
      description: `An object of booleans: ${NOTIFICATION_TOPICS.map((topic) => `\`${topic}\``).join(", ")}; those left out stay as they are`,
    }),
  ),
});

export const passwordBody = t.Object({
  currentPassword: t.Optional(
    t.String({ maxLength: 4096, description: "Needed where the account has a password", error: "Give your password." }),
  ),
  newPassword: t.String({ error: "Give a new password of at least 8 characters." }),
});

export const deletionBody = t.Object({
  password: t.Optional(
    t.String({ maxLength: 4096, description: "Needed where the account has one", error: "Give your password." }),
  ),
});

export const successResponse = t.Object({ success: t.Literal(true), message: t.String() });

const sessionItem = t.Object({
  id: t.String(),
  current: t.Boolean({ description: "The one that asks" }),
  createdAt: t.String(),
  lastUsedAt: t.String({ description: "To the day" }),
  expiresAt: t.String(),
  address: t.String({ description: "Where the sign-in came from" }),
  userAgent: t.String(),
});

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
  };
}
