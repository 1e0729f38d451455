// The routes by which admins freeze accounts, and end that.
import { Elysia } from "elysia";
import { documentErrors } from "../../src/kernel/http/openapi/route-documentation.ts";
import type { ServiceOf } from "../../src/kernel/plugin.ts";
import type { AuditRecorder, auth, Identity, User } from "../auth/index.ts";
import { freezeBody } from "./freeze-body.ts";
import { type UserDetail, userDetail } from "./model.ts";

interface Deps {
  authService: Pick<ServiceOf<typeof auth>, "administration" | "identities">;
  /** The audit recorder for the admin of a request. */
  recorder(context: { identity: Identity; request: Request }): AuditRecorder;
  detail(user: User): Promise<UserDetail>;
}

const tags = ["Admin"];

export function freezeRoutes({ authService: { administration, identities }, recorder, detail }: Deps) {
  return new Elysia({ name: "admin.freeze" })
    .use(identities.guards)
    .post(
      "/api/admin/users/:id/freeze",
      async (context) => {
        const { body, identity, params } = context;
        const options = { by: identity.user.id };
        return detail(await administration.setFrozen(params.id, body.reason.trim(), recorder(context), options));
      },
      {
        adminSession: true,
        body: freezeBody,
        response: { 200: userDetail },
        detail: {
          tags,
          summary: "Freeze an account, with its agents, at once",
          description:
            "Its agents answer nowhere, their turns end, and messages wait; its owner reads, exports and deletes, and changes nothing. " +
            "Nobody is signed out. A frozen account stays as it is.",
          ...documentErrors({ 404: "USER_NOT_FOUND", 409: ["OWN_ACCOUNT", "LAST_ADMIN", "ACCOUNT_CHANGING"] }),
        },
      },
    )
    .post(
      "/api/admin/users/:id/unfreeze",
      async (context) => {
        const { identity, params } = context;
        const options = { by: identity.user.id };
        return detail(await administration.setFrozen(params.id, null, recorder(context), options));
      },
      {
        adminSession: true,
        response: { 200: userDetail },
        detail: {
          tags,
          summary: "End the freeze of an account",
          description:
            "Its agents go on as they were, and answer what waits; those that are frozen themselves stay so.",
          ...documentErrors({ 404: "USER_NOT_FOUND", 409: "ACCOUNT_CHANGING" }),
        },
      },
    );
}
