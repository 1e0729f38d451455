// The pages that people open from mails, and to sign in: small, without a foreign address, and with no script but their own.
import { Elysia } from "elysia";
import { openRoutes } from "../../../src/kernel/http/http.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import layout from "./layout.htm" with { type: "text" };
import login from "./login.htm" with { type: "text" };
import register from "./register.htm" with { type: "text" };
import resetPassword from "./reset-password.htm" with { type: "text" };
import setup from "./setup.htm" with { type: "text" };
import verifyEmail from "./verify-email.htm" with { type: "text" };

/** `/login`, `/register`, `/reset-password`, `/verify-email` and `/setup`. */
export function pageRoutes({ config }: Pick<Kernel, "config">) {
  const hiddenRoute = { open: true, detail: { hide: true } } as const;
  const providers = providerButtons(config.oauth);
  return new Elysia({ name: "auth.pages" })
    .use(openRoutes)
    .get("/login", page(login, "Sign in", providers), hiddenRoute)
    .get("/register", page(register, "Create an account", providers), hiddenRoute)
    .get("/reset-password", page(resetPassword, "Choose a new password"), hiddenRoute)
    .get("/verify-email", page(verifyEmail, "Confirm your email address"), hiddenRoute)
    .get("/setup", page(setup, "First admin"), hiddenRoute);
}

const PROVIDER_LABELS = { google: "Google", github: "GitHub" } as const;

/** One link for each provider that can be used here. */
function providerButtons(oauth: Kernel["config"]["oauth"]): string {
  const configured = (["google", "github"] as const).filter((id) => oauth[id].clientId && oauth[id].clientSecret);
  const links = configured.map(
    (id) => `<a class="button other keep" href="/api/auth/oauth/${id}">Continue with ${PROVIDER_LABELS[id]}</a>\n`,
  );
  return configured.length === 0 ? "" : `${links.join("")}<p class="or">or with your email address</p>`;
}

/** A page in the look of all accounts' pages: its sections, then its script. Made at its first visit, and kept. */
export function page(source: string, title: string, providers = ""): () => Response {
  let built: { html: string; headers: Record<string, string> } | undefined;
  return () => {
    built ??= buildPage(source, title, providers);
    return new Response(built.html, { headers: built.headers });
  };
}

function buildPage(source: string, title: string, providers: string) {
  const [body = "", script = ""] = source.split(/(?=<script>)/);
  const slots: Record<string, string> = { page: body.replace("{{providers}}", providers), script };
  const html = layout
    .replace("<title>Berth</title>", `<title>${title} · Berth</title>`)
    .replace(/\{\{(page|script)\}\}/g, (_, name: string) => slots[name] ?? "");
  return { html, headers: headersFor(html) };
}

/**
 * Only the scripts and styles that are in the page may run, told by their hashes (CSP level 3). Addresses hold tokens:
 * they are not told to others, nor kept in a cache.
 */
function headersFor(html: string): Record<string, string> {
  const hashes = (element: string) =>
    [...html.matchAll(new RegExp(`<${element}>(.*?)</${element}>`, "gs"))]
      .map(([, text = ""]) => `'sha256-${new Bun.CryptoHasher("sha256").update(text).digest("base64")}'`)
      .join(" ");
  const policy = [
    "default-src 'none'",
    `script-src ${hashes("script")}`,
    `style-src ${hashes("style")}`,
    "img-src data:",
    "connect-src 'self'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ];
  return {
    "content-type": "text/html;charset=utf-8",
    "content-security-policy": policy.join("; "),
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
  };
}
