// Makes the home page, and serves the pages of sign-in, sign-up and mailed links. A content security policy allows only
// their own inline scripts and style, known by their hashes.

import { Elysia } from "elysia";
import { openRoutes } from "../../../src/kernel/http/route-guards.ts";
import { contentPolicy, escapeHtml, fillTemplate, pageHeaders } from "../../../src/kernel/pages/html.ts";
import { type Language, languageOf } from "../../../src/kernel/pages/language.ts";
import { pageTemplate, translateText } from "../../../src/kernel/pages/page-template.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import device from "../device/device.htm" with { type: "text" };
import type { OneTimeLinks } from "../one-time-links.ts";
import { MIN_PASSWORD_LENGTH } from "../password/length.ts";
import { type SignUpMode, signUpSettings } from "../settings.ts";
import type { Users } from "../users.ts";
import formStyle from "./forms.css" with { type: "text" };
import fresh from "./fresh.htm" with { type: "text" };
import home from "./home.htm" with { type: "text" };
import layout from "./layout.htm" with { type: "text" };
import layoutScript from "./layout-script.htm" with { type: "text" };
import login from "./login.htm" with { type: "text" };
import marina from "./marina.htm" with { type: "text" };
import { providerButtons } from "./provider-buttons.ts";
import register from "./register.htm" with { type: "text" };
import resetPassword from "./reset-password.htm" with { type: "text" };
import setup from "./setup.htm" with { type: "text" };
import setupOver from "./setup-over.htm" with { type: "text" };
import verifyEmail from "./verify-email.htm" with { type: "text" };

type PageHandler = (context: { request: Request }) => Response;

/** Whether there is an account; asked until there is one, and from then on no visit reads the database. */
export type HasAccounts = () => Promise<boolean>;

export function createHasAccounts(users: Pick<Users, "hasAny">): HasAccounts {
  let known = false;
  return async () => {
    known ||= await users.hasAny();
    return known;
  };
}

/**
 * The page at `/` for visitors who are not signed in; the console serves it. While there is no account, it tells where the link is that makes
 * the first one.
 */
export function createHomePage({ config }: Pick<Kernel, "config">, hasAccounts: HasAccounts) {
  const { mode } = config.of(signUpSettings);
  const homePage = createAccountPage(offered(home, mode), "Home");
  const freshPage = createAccountPage(fresh, "Home");
  return async (context: { request: Request }): Promise<Response> =>
    (await hasAccounts()) ? homePage(context) : freshPage(context);
}

interface SetupDeps {
  hasAccounts: HasAccounts;
  oneTimeLinks: Pick<OneTimeLinks, "find">;
}

/**
 * `/setup`, the link of the first admin. Its form is shown only if the link works; else the page says that there is an admin,
 * or where the right link is.
 */
function createSetupPage({ hasAccounts, oneTimeLinks }: SetupDeps) {
  const form = createAccountPage(setup, "First admin");
  const over = createAccountPage(setupOver, "First admin");
  const noLink = createAccountPage(fresh, "First admin");
  return async (context: { request: Request }): Promise<Response> => {
    if (await hasAccounts()) return over(context);
    const token = new URL(context.request.url).searchParams.get("token") ?? "";
    return (await oneTimeLinks.find("first-admin", token)) ? form(context) : noLink(context);
  };
}

/** `/login`, `/register`, `/reset-password`, `/verify-email`, `/device` and `/setup`. */
export function pageRoutes({ config }: Pick<Kernel, "config">, setupDeps: SetupDeps) {
  const hiddenRoute = { open: true, detail: { hide: true } } as const;
  const { mode } = config.of(signUpSettings);
  const values = (language: Language) => ({
    providers: providerButtons(config, language),
    signUp: mode,
    mail: config.smtp.url === undefined ? "kept" : "sent",
  });
  return new Elysia({ name: "auth.pages" })
    .use(openRoutes)
    .get("/login", createAccountPage(offered(login, mode), "Sign in", values), hiddenRoute)
    .get("/register", createAccountPage(register, "Create an account", values), hiddenRoute)
    .get("/reset-password", createAccountPage(resetPassword, "Choose a new password"), hiddenRoute)
    .get("/verify-email", createAccountPage(verifyEmail, "Confirm your email address"), hiddenRoute)
    .get("/device", createAccountPage(device, "Sign a program in"), hiddenRoute)
    .get("/setup", createSetupPage(setupDeps), hiddenRoute);
}

/** Without the link to the sign-up unless people may sign up by themselves: invited people come by a link of their own. */
const offered = (page: string, mode: SignUpMode) =>
  mode === "open" || mode === "domains" ? page : page.replace(/ ?<a[^>]*href="\/register">.*?<\/a>/, "");

/**
 * A route handler for a page in the common layout, in the language that the client prefers. `source` holds the sections,
 * then one script; see `pageTemplate` for its texts. Built at the first request in a language.
 *
 * @param title in English
 * @param values fills the places of these names, as HTML
 */
export function createAccountPage(
  source: string,
  title: string,
  values: (language: Language) => Readonly<Record<string, string>> = () => ({}),
): PageHandler {
  const [body = "", script = ""] = source.split(/(?=<script>)/);
  const parts: Readonly<Record<string, string>> = {
    "/* forms */": formStyle,
    "{{marina}}": marina,
    "{{page}}": body,
    "{{layoutScript}}": layoutScript,
    "{{script}}": script,
  };
  const whole = Object.entries(parts).reduce((page, [place, part]) => page.replace(place, () => part), layout);
  const template = pageTemplate(whole, { errors: "accounts" });
  const built: Partial<Record<Language, { html: string; headers: Record<string, string> }>> = {};

  function build(language: Language) {
    const minPasswordLength = String(MIN_PASSWORD_LENGTH);
    const all = {
      ...values(language),
      minPasswordLength,
      title: escapeHtml(translateText(title, language)),
    };
    const html = fillTemplate(template(language), all);
    return { html, headers: pageHeaders(contentPolicy({ styles: html, scripts: html, connect: ["'self'"] })) };
  }

  return ({ request }) => {
    const language = languageOf(request);
    built[language] ??= build(language);
    return new Response(built[language].html, { headers: built[language].headers });
  };
}
