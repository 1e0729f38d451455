// API keys: make one, see which there are, end one. A key can't do any of it.
import { Elysia } from "elysia";
import { notFound } from "../../../src/errors.ts";
import { isDirect } from "../../../src/http.ts";
import { mayAnswer } from "../../../src/openapi/told.ts";
import { type AuthParts, tags } from "../parts.ts";
import { SCOPES } from "./keys.ts";
import { keyBody, keyList, newKey, readExpiry, revokedKey, toKeyItem, toNewKey } from "./model.ts";

export function keysRoutes({ kernel, identities, keys, mails }: AuthParts) {
  const { database, idempotency } = kernel;
  return new Elysia({ name: "auth.keys" })
    .use(identities.guards)
    .post(
      "/api/keys",
      ({ identity: { user, session }, body, request }) => {
        const key = {
          userId: user.id,
          name: body.name.trim().normalize("NFC"),
          scopes: new Set(body.scopes ?? SCOPES),
          // What it may do for an admin's unverified address is what this very request may.
          direct: session.direct && isDirect(request),
          expiresAt: readExpiry(body.expiresAt),
        };
        const produce: Parameters<typeof idempotency.respond>[1] = async (keep) => {
          const { made, key: text } = await keys.create(key, (made, text) => [
            ...mails.apiKeyCreated(user, made.name),
            ...keep({ status: 201, body: JSON.stringify(toNewKey(made, text)) }),
          ]);
          return Response.json(toNewKey(made, text), { status: 201 });
        };
        return idempotency.respond({ request, userId: user.id }, produce, { secretFields: ["key"] });
      },
      {
        ownSession: true,
        body: keyBody,
        response: { 201: newKey },
        detail: {
          tags,
          summary: "Make an API key",
          description:
            "The key is shown this once. It works as `Authorization: Bearer bk_…` wherever a session does, within its scopes, " +
            "but not for the security of the account. `read` is for GET, `chat` for talking to agents, `write` for the rest.",
          ...mayAnswer({ 409: ["TOO_MANY_KEYS", "IDEMPOTENCY_MISMATCH", "IDEMPOTENCY_IN_PROGRESS"] }),
        },
      },
    )
    .get(
      "/api/keys",
      async ({ identity }) => {
        const items = (await keys.of(identity.user.id)).map(toKeyItem);
        return { keys: items, count: items.length };
      },
      { ownSession: true, response: { 200: keyList }, detail: { tags, summary: "Your API keys, newest first" } },
    )
    .delete(
      "/api/keys/:id",
      async ({ identity, params: { id } }) => {
        const [ended] = await database.write([keys.revoke(identity.user.id, id)]);
        if (ended?.rows.length !== 1) throw notFound("You have no API key with this id.", "KEY_NOT_FOUND");
        return { success: true as const, id };
      },
      {
        ownSession: true,
        response: { 200: revokedKey },
        detail: { tags, summary: "End an API key, at once", ...mayAnswer({ 404: "KEY_NOT_FOUND" }) },
      },
    );
}
