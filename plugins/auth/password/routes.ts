// A forgotten password over HTTP: one answer for every address, and a link that works once.
import { Elysia } from "elysia";
import { mayAnswer } from "../../../src/openapi/told.ts";
import { requireEmailShape } from "../email.ts";
import { forgotPasswordBody, message, resetPasswordBody } from "../model.ts";
import { type AuthParts, tags } from "../parts.ts";
import { createBots } from "../visitors/bots.ts";
import { visitorGuards } from "../visitors/visitors.ts";
import { createPasswordReset } from "./reset.ts";

export function passwordResetRoutes(parts: AuthParts) {
  const { config, limits } = parts.kernel;
  const reset = createPasswordReset(parts);

  return new Elysia({ name: "auth.password-reset" })
    .use(visitorGuards({ bots: createBots(config), limits }))
    .post(
      "/api/auth/forgot-password",
      async ({ body }) => {
        await reset.request(requireEmailShape(body.email));
        return { message: "If there is an account with this email, a link to choose a new password is on its way." };
      },
      {
        human: "forgot-password",
        body: forgotPasswordBody,
        response: { 200: message },
        detail: {
          tags,
          summary: "Ask for a link to choose a new password",
          description: "The answer is the same whether or not there is an account. The link works once, for an hour.",
          ...mayAnswer({ 400: "INVALID_EMAIL" }),
        },
      },
    )
    .post(
      "/api/auth/reset-password",
      async ({ body }) => {
        await reset.complete(body.token, body.password);
        return { message: "Your new password is set. Sign in with it." };
      },
      {
        visitor: "reset-password",
        body: resetPasswordBody,
        response: { 200: message },
        detail: {
          tags,
          summary: "Choose a new password with the link from the mail",
          description: "Ends every session and API key of the account, and verifies its email address.",
          ...mayAnswer({ 400: ["INVALID_LINK", "INVALID_PASSWORD"], 404: "USER_NOT_FOUND" }),
        },
      },
    );
}
