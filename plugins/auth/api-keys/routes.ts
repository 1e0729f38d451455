// The routes of API keys: create, list, revoke. They require a session, so that a leaked key can't create others.
import { Elysia } from "elysia";
import { GuardFailed, guard } from "../../../src/kernel/database/database.ts";
import { invalidInput, notFound } from "../../../src/kernel/errors.ts";
import { documentErrors } from "../../../src/kernel/http/openapi/route-documentation.ts";
import { contextOf, isLocalRequest } from "../../../src/kernel/http/request-context.ts";
import { nearestName } from "../../../src/kernel/util/nearest-name.ts";
import { type AuthServices, tags } from "../auth-services.ts";
import { requireFeature } from "../plans/features.ts";
import { planSettings } from "../settings.ts";
import { SCOPES } from "./api-keys.ts";
import { keyBody, keyList, newKey, parseExpiry, revokedKey, toKeyItem, toNewKey } from "./model.ts";

export function apiKeyRoutes({ kernel, identities, keys, mails, auditStatement }: AuthServices) {
  const { database, idempotency } = kernel;
  const { table } = kernel.config.of(planSettings);
  return new Elysia({ name: "auth.keys" })
    .use(identities.guards)
    .post(
      "/api/keys",
      ({ identity: { user, session }, body, request }) => {
        requireFeature(table, user, "apiKeys");
        // Other unknown fields are ignored. Without `scopes` the key would be allowed to do everything.
        const misspelt = contextOf(request).ignoredFields?.find(({ path }) => nearestName(path, ["scopes"], 2));
        if (misspelt && body.scopes === undefined)
          throw invalidInput({ path: misspelt.path, message: 'There is no such field here. Is "scopes" meant?' });
        const key = {
          userId: user.id,
          name: body.name.trim().normalize("NFC"),
          scopes: new Set(body.scopes ?? SCOPES),
          // The key counts as direct only if session and request do: see `isAdmin` in identities.ts.
          direct: session.direct && isLocalRequest(request),
          expiresAt: parseExpiry(body.expiresAt),
        };
        const produce: Parameters<typeof idempotency.respond>[1] = async (keep) => {
          const { apiKey, key: text } = await keys.create(key, (apiKey, text) => [
            ...mails.apiKeyCreatedStatements(user, apiKey.name),
            auditStatement(user, "key-create", {
              key: apiKey.id,
              name: apiKey.name,
              scopes: [...apiKey.scopes].join(" "),
            }),
            ...keep({ status: 201, body: JSON.stringify(toNewKey(apiKey, text)) }),
          ]);
          return Response.json(toNewKey(apiKey, text), { status: 201 });
        };
        return idempotency.respond({ request, userId: user.id }, produce, { secretFields: ["key"] });
      },
      {
        ownSession: true,
        body: keyBody,
        response: { 201: newKey },
        detail: {
          tags,
          summary: "Create an API key",
          operationId: "createApiKey",
          description:
            "The key is shown only in this response. It works as `Authorization: Bearer bk_…` wherever a session " +
            "does, within its scopes, except for the security settings of the account. `read` is for GET, `chat` for " +
            "messages to agents, `write` for everything else.",
          ...documentErrors({
            402: "FEATURE_NOT_IN_PLAN",
            409: ["TOO_MANY_KEYS", "IDEMPOTENCY_MISMATCH", "IDEMPOTENCY_IN_PROGRESS"],
          }),
        },
      },
    )
    .get(
      "/api/keys",
      async ({ identity }) => {
        const items = (await keys.listByUser(identity.user.id)).map(toKeyItem);
        return { keys: items, count: items.length };
      },
      {
        ownSession: true,
        response: { 200: keyList },
        detail: {
          tags,
          summary: "Your API keys, newest first",
          description:
            "A key itself is shown only once, when it is made; the list has its first characters (`prefix`), its scopes and when it was last used.",
          operationId: "listApiKeys",
        },
      },
    )
    .delete(
      "/api/keys/current",
      async ({ identity: { user, session, credentialId } }) => {
        if (session) throw notFound("This request came with a session, not with an API key.", "KEY_NOT_FOUND");
        await database.write([
          keys.revokeStatement(user.id, credentialId),
          auditStatement(user, "key-delete", { key: credentialId }),
        ]);
        return { success: true as const, id: credentialId };
      },
      {
        signedIn: [],
        response: { 200: revokedKey },
        detail: {
          tags,
          summary: "Revoke the API key that makes this request",
          description: "For programs that no longer need their key, such as `berth logout`. It needs no scope.",
          operationId: "deleteCurrentApiKey",
          ...documentErrors({ 404: "KEY_NOT_FOUND" }),
        },
      },
    )
    .delete(
      "/api/keys/:id",
      async ({ identity, params: { id } }) => {
        try {
          await database.write([
            keys.revokeStatement(identity.user.id, id),
            guard("key"),
            auditStatement(identity.user, "key-delete", { key: id }),
          ]);
        } catch (error) {
          if (!(error instanceof GuardFailed)) throw error;
          throw notFound("You have no API key with this id.", "KEY_NOT_FOUND");
        }
        return { success: true as const, id };
      },
      {
        ownSession: true,
        response: { 200: revokedKey },
        detail: {
          tags,
          summary: "Revoke an API key, with immediate effect",
          description: "Requests with the key get 401 from then on.",
          operationId: "deleteApiKey",
          ...documentErrors({ 404: "KEY_NOT_FOUND" }),
        },
      },
    );
}
