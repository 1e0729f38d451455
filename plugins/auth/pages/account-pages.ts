// Makes the home page, and serves the pages of sign-in, sign-up and mailed links. A content security policy allows only their own
// inline script and style, known by their hashes.

import { Elysia } from "elysia";
import type { SettingsOf } from "../../../src/kernel/config/config.ts";
import { openRoutes } from "../../../src/kernel/http/route-guards.ts";
import { contentPolicy, escapeHtml, fillTemplate, pageHeaders } from "../../../src/kernel/pages/html.ts";
import { type Language, languageOf } from "../../../src/kernel/pages/language.ts";
import { pageTemplate, type Translation, translateText } from "../../../src/kernel/pages/page-template.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import { signInSettings, signUpSettings } from "../settings.ts";
import { continueWith, german, germanLayout } from "./german.ts";
import home from "./home.htm" with { type: "text" };
import layout from "./layout.htm" with { type: "text" };
import login from "./login.htm" with { type: "text" };
import register from "./register.htm" with { type: "text" };
import resetPassword from "./reset-password.htm" with { type: "text" };
import setup from "./setup.htm" with { type: "text" };
import verifyEmail from "./verify-email.htm" with { type: "text" };

/** The page at `/` for visitors without a session; the console serves it. */
export function createHomePage({ config }: Pick<Kernel, "config">) {
  const { mode } = config.of(signUpSettings);
  return createAccountPage(mode === "open" ? home : home.replace(SIGN_UP_LINK, ""), "Home", german);
}

/** `/login`, `/register`, `/reset-password`, `/verify-email` and `/setup`. */
export function pageRoutes({ config }: Pick<Kernel, "config">) {
  const hiddenRoute = { open: true, detail: { hide: true } } as const;
  const { oauth } = config.of(signInSettings);
  const providers = (language: Language) => providerButtons(oauth, language);
  // Invited people come by a link to /register, which others then don't see.
  const { mode } = config.of(signUpSettings);
  const offered = (page: string) => (mode === "open" ? page : page.replace(SIGN_UP_LINK, ""));
  return new Elysia({ name: "auth.pages" })
    .use(openRoutes)
    .get("/login", createAccountPage(offered(login), "Sign in", german, providers), hiddenRoute)
    .get("/register", createAccountPage(register, "Create an account", german, providers), hiddenRoute)
    .get("/reset-password", createAccountPage(resetPassword, "Choose a new password", german), hiddenRoute)
    .get("/verify-email", createAccountPage(verifyEmail, "Confirm your email address", german), hiddenRoute)
    .get("/setup", createAccountPage(setup, "First admin", german), hiddenRoute);
}

const SIGN_UP_LINK = / ?<a[^>]*href="\/register">.*?<\/a>/;

const PROVIDER_LABELS = { google: "Google", github: "GitHub" } as const;

/** A link for each configured provider; empty if there is none. */
function providerButtons(oauth: SettingsOf<typeof signInSettings>["oauth"], language: Language): string {
  const configured = (["google", "github"] as const).filter((id) => oauth[id].clientId && oauth[id].clientSecret);
  const links = configured.map(
    (id) =>
      `<a class="button other keep" href="/api/auth/oauth/${id}">${continueWith[language](PROVIDER_LABELS[id])}</a>\n`,
  );
  const separator = translateText("or with your email address", language, { de: german });
  return configured.length === 0 ? "" : `${links.join("")}<p class="or">${separator}</p>`;
}

/**
 * A route handler for a page in the common layout, in the language that the client prefers. `source` holds the sections,
 * then one script; see `pageTemplate` for its texts. Built at the first request in a language.
 *
 * @param texts the German texts of `source` and `title`
 * @param providers makes the sign-in buttons for the place of this name
 */
export function createAccountPage(
  source: string,
  title: string,
  texts: Translation,
  providers: (language: Language) => string = () => "",
): (context: { request: Request }) => Response {
  const translations = { de: { ...germanLayout, texts: { ...germanLayout.texts, ...texts.texts } } };
  const [body = "", script = ""] = source.split(/(?=<script>)/);
  const template = pageTemplate(
    layout.replace("{{page}}", () => body).replace("{{script}}", () => script),
    translations,
  );
  const built: Partial<Record<Language, { html: string; headers: Record<string, string> }>> = {};

  function build(language: Language) {
    const values = { title: escapeHtml(translateText(title, language, translations)), providers: providers(language) };
    const html = fillTemplate(template(language), values);
    return { html, headers: pageHeaders(contentPolicy({ styles: html, scripts: html, connect: ["'self'"] })) };
  }

  return ({ request }) => {
    const language = languageOf(request);
    built[language] ??= build(language);
    return new Response(built[language].html, { headers: built[language].headers });
  };
}
