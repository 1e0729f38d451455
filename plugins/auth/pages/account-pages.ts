// Serves the pages of sign-in, sign-up and mailed links. A content security policy allows only their own inline script
// and style, known by their hashes.

import { Elysia } from "elysia";
import type { SettingsOf } from "../../../src/kernel/config/config.ts";
import { openRoutes } from "../../../src/kernel/http/route-guards.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import { contentPolicy, escapeHtml, fillTemplate, pageHeaders } from "../../../src/kernel/util/html.ts";
import { signInSettings } from "../settings.ts";
import layout from "./layout.htm" with { type: "text" };
import login from "./login.htm" with { type: "text" };
import register from "./register.htm" with { type: "text" };
import resetPassword from "./reset-password.htm" with { type: "text" };
import setup from "./setup.htm" with { type: "text" };
import verifyEmail from "./verify-email.htm" with { type: "text" };

/** `/login`, `/register`, `/reset-password`, `/verify-email` and `/setup`. */
export function pageRoutes({ config }: Pick<Kernel, "config">) {
  const hiddenRoute = { open: true, detail: { hide: true } } as const;
  const providers = providerButtons(config.of(signInSettings).oauth);
  return new Elysia({ name: "auth.pages" })
    .use(openRoutes)
    .get("/login", createAccountPage(login, "Sign in", providers), hiddenRoute)
    .get("/register", createAccountPage(register, "Create an account", providers), hiddenRoute)
    .get("/reset-password", createAccountPage(resetPassword, "Choose a new password"), hiddenRoute)
    .get("/verify-email", createAccountPage(verifyEmail, "Confirm your email address"), hiddenRoute)
    .get("/setup", createAccountPage(setup, "First admin"), hiddenRoute);
}

const PROVIDER_LABELS = { google: "Google", github: "GitHub" } as const;

/** A link for each configured provider; empty if there is none. */
function providerButtons(oauth: SettingsOf<typeof signInSettings>["oauth"]): string {
  const configured = (["google", "github"] as const).filter((id) => oauth[id].clientId && oauth[id].clientSecret);
  const links = configured.map(
    (id) => `<a class="button other keep" href="/api/auth/oauth/${id}">Continue with ${PROVIDER_LABELS[id]}</a>\n`,
  );
  return configured.length === 0 ? "" : `${links.join("")}<p class="or">or with your email address</p>`;
}

/**
 * A route handler for a page in the common layout. `source` holds the sections, then one script. Built at the first
 * request.
 */
export function createAccountPage(source: string, title: string, providers = ""): () => Response {
  let built: { html: string; headers: Record<string, string> } | undefined;
  return () => {
    built ??= buildPage(source, title, providers);
    return new Response(built.html, { headers: built.headers });
  };
}

function buildPage(source: string, title: string, providers: string) {
  const [body = "", script = ""] = source.split(/(?=<script>)/);
  const page = fillTemplate(body, { providers });
  const html = fillTemplate(layout, { title: escapeHtml(title), page, script });
  return { html, headers: pageHeaders(contentPolicy({ styles: html, scripts: html, connect: ["'self'"] })) };
}
