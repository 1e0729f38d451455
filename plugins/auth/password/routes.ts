// The routes of password reset: request a link, which gets the same response for every address, and use it.

import { Elysia } from "elysia";
import { requireTokenHere } from "../../../src/kernel/cells/cells.ts";
import { documentErrors } from "../../../src/kernel/http/openapi/route-documentation.ts";
import { type AuthServices, tags } from "../auth-services.ts";
import { requireEmailSyntax } from "../email.ts";
import { forgotPasswordBody, messageResponse, resetPasswordBody } from "../model.ts";
import { signInSettings } from "../settings.ts";
import { createBotDetection } from "../visitors/bot-detection.ts";
import { visitorGuards } from "../visitors/visitor-guards.ts";
import type { PasswordReset } from "./password-reset.ts";

export function passwordResetRoutes({ kernel }: AuthServices, reset: PasswordReset) {
  return new Elysia({ name: "auth.password-reset" })
    .use(visitorGuards({ botDetection: createBotDetection(kernel.config.of(signInSettings)), kernel }))
    .post(
      "/api/auth/forgot-password",
      async ({ body }) => {
        await reset.request(requireEmailSyntax(body.email));
        return { message: "If there is an account with this email, a link to choose a new password is on its way." };
      },
      {
        human: "forgot-password",
        body: forgotPasswordBody,
        response: { 200: messageResponse },
        detail: {
          tags,
          summary: "Request a link to choose a new password",
          operationId: "requestPasswordReset",
          description: "The response is the same whether or not there is an account. The link works once, for an hour.",
          ...documentErrors({ 400: "INVALID_EMAIL" }),
        },
      },
    )
    .post(
      "/api/auth/reset-password",
      async ({ body }) => {
        await requireTokenHere(kernel.cells, body.token);
        await reset.complete(body.token, body.password);
        return { message: "Your new password is set. Sign in with it." };
      },
      {
        visitor: "reset-password",
        body: resetPasswordBody,
        response: { 200: messageResponse },
        detail: {
          tags,
          summary: "Choose a new password with the link from the mail",
          operationId: "resetPassword",
          description: "Ends every session and API key of the account, and verifies its email address.",
          ...documentErrors({
            400: ["INVALID_LINK", "INVALID_PASSWORD", "PASSWORD_TOO_COMMON"],
            404: "USER_NOT_FOUND",
          }),
        },
      },
    );
}
