// The page on which a person claims an agent that was made without an account.
import { Elysia } from "elysia";
import { openRoutes } from "../../src/kernel/http/route-guards.ts";
import { createAccountPage } from "../auth/index.ts";
import claimPage from "./claim.htm" with { type: "text" };

export const claimPageRoute = () =>
  new Elysia({ name: "provisioning.claim-page" })
    .use(openRoutes)
    .get("/claim", createAccountPage(claimPage, "Claim an agent"), { open: true, detail: { hide: true } });
