// The route of the current user, which programs and pages ask for all the time.
import { Elysia } from "elysia";
import { type AuthServices, tags } from "../auth-services.ts";
import { currentUser, toCurrentUser } from "../model.ts";

export function currentUserRoute({ identities }: Pick<AuthServices, "identities">) {
  return new Elysia({ name: "auth.current-user" })
    .use(identities.guards)
    .get("/api/settings", ({ identity }) => toCurrentUser(identity), {
      signedIn: "read",
      response: { 200: currentUser },
      detail: {
        tags,
        summary: "The current user",
        description:
          "The account of the session or key: address, plan, credits, subscription, and which mails it wants.",
        operationId: "getAccount",
      },
    });
}
