// The routes of the sessions of an account: list them, end one or all others.
import { Elysia } from "elysia";
import { notFound } from "../../../src/kernel/errors.ts";
import { documentErrors } from "../../../src/kernel/http/openapi/route-documentation.ts";
import { contextOf } from "../../../src/kernel/http/request-context.ts";
import { type AuthServices, tags } from "../auth-services.ts";
import { sessionList, sessionRevokedResponse, sessionsRevokedResponse, toSessionItem } from "./model.ts";

export function sessionsRoutes({ kernel, identities, sessions, auditStatement }: AuthServices) {
  const { database } = kernel;

  return new Elysia({ name: "auth.sessions" })
    .use(identities.guards)
    .get(
      "/api/auth/sessions",
      async ({ identity: { user, session } }) => {
        const items = (await sessions.listByUser(user.id)).map((one) => toSessionItem(one, session.id));
        return { sessions: items, count: items.length };
      },
      {
        ownSession: true,
        response: { 200: sessionList },
        detail: {
          tags,
          summary: "The sessions of the account, newest sign-in first",
          description: "Each sign-in of a browser is a session. `current` marks the one that asks.",
          operationId: "listSessions",
        },
      },
    )
    .delete(
      "/api/auth/sessions",
      async ({ identity: { user, session } }) => {
        const [ended] = await database.write([
          sessions.revokeAllStatement(user.id, session.id),
          auditStatement(user, "sessions-end"),
        ]);
        return { success: true as const, count: ended?.rows.length ?? 0 };
      },
      {
        ownSession: true,
        response: { 200: sessionsRevokedResponse },
        detail: {
          tags,
          summary: "Sign out everywhere else",
          operationId: "deleteOtherSessions",
          description: "Ends every session of the account except that of this request. Their sockets close too.",
        },
      },
    )
    .delete(
      "/api/auth/sessions/:id",
      async ({ identity: { user, session }, params: { id }, request }) => {
        const [ended] = await database.write([sessions.revokeStatement(user.id, id)]);
        if (!ended?.rows.length) throw notFound("You have no session with this id.", "SESSION_NOT_FOUND");
        if (id === session.id) contextOf(request).cookies.splice(0, Number.POSITIVE_INFINITY, sessions.clearCookie());
        return { success: true as const, id, deleted: true as const };
      },
      {
        ownSession: true,
        response: { 200: sessionRevokedResponse },
        detail: {
          tags,
          summary: "End one session",
          operationId: "deleteSession",
          description: "Ending the session of this request is a sign-out.",
          ...documentErrors({ 404: "SESSION_NOT_FOUND" }),
        },
      },
    );
}
