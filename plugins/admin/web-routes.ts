// The admin API: accounts, subscriptions and the audit log. Every change is recorded in its own batch. An admin's API
// key may read and set subscriptions; granting admin rights and access to accounts requires a session.
import { Elysia } from "elysia";
import { invalidInput } from "../../src/kernel/errors.ts";
import { documentErrors } from "../../src/kernel/http/openapi/route-documentation.ts";
import { readLimit, readOffset } from "../../src/kernel/http/paging.ts";
import { contextOf } from "../../src/kernel/http/request-context.ts";
import type { Kernel, ServiceOf } from "../../src/kernel/plugin.ts";
import type { agents } from "../agents/index.ts";
import type { auth, Identity, PlanTable, User } from "../auth/index.ts";
import { createAdminLists } from "./admin-lists.ts";
import type { AuditLog } from "./audit-log.ts";
import { freezeRoutes } from "./freeze-routes.ts";
import {
  auditList,
  auditQuery,
  invitationBody,
  invitationResponse,
  newUserBody,
  removedUserResponse,
  resetPasswordBody,
  resetPasswordResponse,
  subscriptionBody,
  toAuditItem,
  toInvitationResponse,
  toUserItem,
  userChangesBody,
  userDetail,
  userList,
  usersQuery,
} from "./model.ts";
import { resolvePeriodEnd } from "./subscription-input.ts";

const PAGE = 50;
const MAX_PAGE = 200;

interface Deps extends Pick<Kernel, "idempotency" | "cells"> {
  authService: Pick<ServiceOf<typeof auth>, "administration" | "identities">;
  agents: Pick<ServiceOf<typeof agents>, "count">;
  auditLog: AuditLog;
  plans: PlanTable;
}

function readTime(path: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const at = Date.parse(text);
  if (Number.isNaN(at)) throw invalidInput({ path, message: "Give an ISO 8601 time, such as 2030-01-31T00:00:00Z." });
  return at;
}

export function adminRoutes({
  authService: { administration, identities },
  agents,
  auditLog,
  plans,
  idempotency,
  cells,
}: Deps) {
  const listsOf = (among: Kernel["cells"]) => createAdminLists({ administration, auditLog, cells: among });
  const [wholeLists, ownLists] = [listsOf(cells), listsOf(undefined)];
  /** Of all cells, or of the one that the query names: the request has come to it then. */
  const lists = (cell: string | undefined) => (cell === undefined ? wholeLists : ownLists);
  const tags = ["Admin"];
  const conflictErrors = ["ACCOUNT_CHANGING"];
  const notFoundErrors = { 404: "USER_NOT_FOUND" };

  /** The audit recorder for the admin of this request, or the admin's key. */
  function recorder({ identity: { user, session, credentialId }, request }: { identity: Identity; request: Request }) {
    const { address, id: requestId } = contextOf(request);
    const actor = session ? ({ kind: "user", id: user.id } as const) : ({ kind: "key", id: credentialId } as const);
    return auditLog.recorderFor({ ...actor, name: user.email, address, requestId });
  }

  async function detail(user: User) {
    const [credentialCounts, ownedAgents] = await Promise.all([
      administration.countCredentials(user.id),
      agents.count(user.id),
    ]);
    return { ...toUserItem(user, administration), agents: ownedAgents, ...credentialCounts };
  }

  const page = (query: { limit?: string; offset?: string }) => ({
    limit: readLimit(query.limit, PAGE, MAX_PAGE),
    offset: readOffset(query.offset),
  });

  return new Elysia({ name: "admin.web" })
    .use(identities.guards)
    .use(freezeRoutes({ authService: { administration, identities }, recorder, detail }))

    .get(
      "/api/admin/users",
      async ({ query }) => {
        const range = page(query);
        const { items, total } = await lists(query.cell).listUsers({
          query: query.query,
          status: query.status,
          ...range,
        });
        return { users: items, total, ...range };
      },
      {
        admin: true,
        query: usersQuery,
        response: { 200: userList },
        detail: {
          tags,
          summary: "Accounts, newest first",
          description: "`query` finds addresses and names; `status` filters.",
        },
      },
    )
    .post(
      "/api/admin/users",
      (context) => {
        const { body, identity, request } = context;
        return idempotency.respond({ request, userId: identity.user.id }, async () => {
          const { invite = true, ...account } = body;
          const delivery = invite && account.password === undefined ? "mail" : undefined;
          const { user } = await administration.create(account, recorder(context), delivery);
          return Response.json(await detail(user), { status: 201 });
        });
      },
      {
        adminSession: true,
        body: newUserBody,
        response: { 201: userDetail },
        detail: {
          tags,
          summary: "Create an account; without a password its owner is mailed a link to set one",
          description: "The answer is the account as `GET /api/admin/users/{id}` shows it.",
          ...documentErrors({
            400: ["INVALID_EMAIL", "INVALID_PASSWORD", "PASSWORD_TOO_COMMON"],
            409: ["USER_EXISTS", "IDEMPOTENCY_MISMATCH", "IDEMPOTENCY_IN_PROGRESS"],
          }),
        },
      },
    )
    .post(
      "/api/admin/invitations",
      (context) => {
        const { body, identity, request } = context;
        const respond = async () =>
          Response.json(toInvitationResponse(await administration.invite(body.email, recorder(context))), {
            status: 201,
          });
        return idempotency.respond({ request, userId: identity.user.id }, respond, { secretFields: ["link"] });
      },
      {
        adminSession: true,
        body: invitationBody,
        response: { 201: invitationResponse },
        detail: {
          tags,
          summary: "Invite a person to sign up, with a link that works once, for a week",
          description:
            "For `SIGN_UP=invite`. The link is not mailed: pass it on. A person with this address may also sign up with a " +
            "provider that has verified it. A later invitation of the same address replaces this one.",
          ...documentErrors({
            400: "INVALID_EMAIL",
            409: ["USER_EXISTS", "SIGN_UP_CLOSED", "IDEMPOTENCY_MISMATCH", "IDEMPOTENCY_IN_PROGRESS"],
          }),
        },
      },
    )
    .get("/api/admin/users/:id", async ({ params }) => detail(await administration.byId(params.id)), {
      admin: true,
      response: { 200: userDetail },
      detail: {
        tags,
        summary: "One account",
        description: "With the numbers of its agents, sessions and keys; never with their content.",
        ...documentErrors(notFoundErrors),
      },
    })
    .patch(
      "/api/admin/users/:id",
      async (context) => {
        const { body, params } = context;
        return detail(await administration.update(params.id, body, recorder(context), { keepAnAdmin: true }));
      },
      {
        adminSession: true,
        body: userChangesBody,
        response: { 200: userDetail },
        detail: {
          tags,
          summary: "Change an account; omitted fields stay unchanged",
          description: "Disabling an account stops its agents and ends its sessions. The last admin can't be removed.",
          ...documentErrors({
            ...notFoundErrors,
            409: ["LAST_ADMIN", "ADMIN_BY_CONFIGURATION", "ADMIN_BY_GROUP", ...conflictErrors],
          }),
        },
      },
    )
    .delete(
      "/api/admin/users/:id",
      async (context) => {
        const { identity, params, request } = context;
        await administration.remove(params.id, recorder(context), { by: identity, request });
        return { success: true as const, id: params.id, deleted: true as const };
      },
      {
        adminSession: true,
        response: { 200: removedUserResponse },
        detail: {
          tags,
          summary: "Delete an account, with its agents and everything in it",
          description: "Can't be undone. Can be repeated after a failure.",
          ...documentErrors({
            ...notFoundErrors,
            409: ["OWN_ACCOUNT", "LAST_ADMIN", "ACCOUNT_IN_USE"],
            502: "BACKEND_UNAVAILABLE",
          }),
        },
      },
    )
    .put(
      "/api/admin/users/:id/subscription",
      async (context) => {
        const { params } = context;
        const { plan, status = "active", days, currentPeriodEnd } = context.body;
        if (!plans.find(plan)) {
          const known = plans.plans.map(({ id }) => id).join(", ");
          throw invalidInput({ path: "plan", message: `There is no such plan. Plans: ${known}.` });
        }
        const subscription = { plan, status, currentPeriodEnd: resolvePeriodEnd(days, currentPeriodEnd) };
        return detail(await administration.setSubscription(params.id, subscription, recorder(context)));
      },
      {
        admin: true,
        body: subscriptionBody,
        response: { 200: userDetail },
        detail: {
          tags,
          summary: "Give an account a subscription",
          description: "For `days`, or until `currentPeriodEnd`; the plan is in force at once.",
          ...documentErrors({ ...notFoundErrors, 409: conflictErrors }),
        },
      },
    )
    .delete(
      "/api/admin/users/:id/subscription",
      async (context) => detail(await administration.removeSubscription(context.params.id, recorder(context))),
      {
        admin: true,
        response: { 200: userDetail },
        detail: {
          tags,
          summary: "Remove the subscription of an account; its plan becomes free",
          description: "In force at once.",
          ...documentErrors({ ...notFoundErrors, 409: conflictErrors }),
        },
      },
    )
    .post(
      "/api/admin/users/:id/reset-password",
      async (context) => {
        const delivery = context.body?.delivery ?? "mail";
        const link = await administration.resetPassword(context.params.id, recorder(context), delivery);
        const message =
          delivery === "mail"
            ? "A link to set a new password is on its way to the account's owner."
            : "Pass this link on to the account's owner. It works once, within an hour.";
        return { success: true as const, message, ...(link !== undefined && { link }) };
      },
      {
        adminSession: true,
        body: resetPasswordBody,
        response: { 200: resetPasswordResponse },
        detail: {
          tags,
          summary: "Make a link to set a new password, and mail it to the owner of the account or return it",
          description: "The link works once. `delivery` chooses between mail and the answer.",
          ...documentErrors({ ...notFoundErrors, 409: ["ACCOUNT_DISABLED", "NO_MAILBOX"] }),
        },
      },
    )
    .delete(
      "/api/admin/users/:id/two-factor",
      async (context) => {
        await administration.removeTwoFactor(context.params.id, recorder(context));
        return detail(await administration.byId(context.params.id));
      },
      {
        adminSession: true,
        response: { 200: userDetail },
        detail: {
          tags,
          summary: "Turn off the second factor of an owner who lost it; the owner is told by mail",
          description:
            "The account then signs in with its password alone, until the owner sets up a second factor again.",
          ...documentErrors({ ...notFoundErrors, 409: "TWO_FACTOR_OFF" }),
        },
      },
    )
    .get(
      "/api/admin/audit",
      async ({ query: { user, actor, action, kind, from, to, cursor, cell, ...rest } }) => {
        const range = page(rest);
        const times = { from: readTime("from", from), to: readTime("to", to) };
        const filter = { user, actor, action, kind, ...times, before: cursor, ...range };
        const { entries, total, hasMore } = await lists(cell).listAudit(filter);
        return {
          entries: entries.map(toAuditItem),
          total,
          ...range,
          next: hasMore ? (entries.at(-1)?.id ?? null) : null,
        };
      },
      {
        admin: true,
        query: auditQuery,
        response: { 200: auditList },
        detail: {
          tags,
          summary: "Every change that matters, newest first; kept for two years",
          description:
            "Who changed what, when, and from which address: people, their API keys, agents whose tools act, admins and commands. " +
            "`berth audit verify` shows whether the log is as it was written. Filters can be combined; `next` is the cursor of the next page.",
          operationId: "listAuditEntries",
        },
      },
    );
}
