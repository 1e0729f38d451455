// The account pages: they run only their own scripts, load nothing from other hosts, and don't leak tokens.
import { describe, expect, test } from "bun:test";
import { loadConfig } from "../../../src/kernel/config/config.ts";
import { attachContext } from "../../../src/kernel/http/request-context.ts";
import { FAILURE_DESCRIPTIONS } from "../oauth/oauth-failure.ts";
import { MIN_PASSWORD_LENGTH } from "../password/length.ts";
import { createHomePage, pageRoutes } from "./account-pages.ts";

const configured = (env: Record<string, string> = {}) =>
  loadConfig({ LOG_LEVEL: "error", ...env }, { cwd: "/nonexistent" });
const github = { GITHUB_CLIENT_ID: "id", GITHUB_CLIENT_SECRET: "secret-of-github" };
const google = { GOOGLE_CLIENT_ID: "id", GOOGLE_CLIENT_SECRET: "secret-of-google" };

async function open(path: string, env: Record<string, string> = {}, headers: Record<string, string> = {}) {
  const request = new Request(`http://localhost${path}`, { headers: { accept: "text/html", ...headers } });
  attachContext(request, { id: "1", address: "127.0.0.1", socketAddress: "127.0.0.1", cookies: [] });
  const config = configured(env);
  const home = createHomePage({ config }, async () => true);
  const hasAccounts = async () => path === SETUP_OVER;
  const find = async (_: string, token: string) => (token === "t0k3n" ? { userId: null, email: null } : undefined);
  const routes = pageRoutes({ config }, { hasAccounts, oneTimeLinks: { find } });
  const answer = await (path === "/" ? home({ request }) : routes.handle(request));
  return { status: answer.status, headers: answer.headers, html: await answer.text() };
}

const SETUP_OVER = "/setup?token=used";

const paths = [
  "/",
  "/login",
  "/register",
  "/reset-password?token=t0k3n",
  "/verify-email?token=t0k3n",
  "/setup?token=t0k3n",
  "/setup",
  SETUP_OVER,
];

describe.each(paths)("%s", (path) => {
  test("is a complete page with headers against caching and referrers", async () => {
    const { status, headers, html } = await open(path, { ...github, ...google });
    expect(status).toBe(200);
    expect(headers.get("content-type")).toBe("text/html;charset=utf-8");
    expect(headers.get("referrer-policy")).toBe("no-referrer");
    expect(headers.get("cache-control")).toBe("no-store");
    expect(html).toStartWith("<!doctype html>");
    expect(html).not.toMatch(/\{\{|t0k3n|secret-of/);
    expect(html.match(/<h1/g)?.length).toBeGreaterThan(0);
  });

  test("has a policy that allows only its own scripts and styles", async () => {
    const { headers, html } = await open(path);
    const policy = headers.get("content-security-policy") ?? "";
    const hash = (text = "") => `'sha256-${new Bun.CryptoHasher("sha256").update(text).digest("base64")}'`;
    for (const kind of ["script", "style"]) {
      const own = [...html.matchAll(new RegExp(`<${kind}>(.*?)</${kind}>`, "gs"))].map(([, text]) => hash(text));
      expect(own.length).toBeGreaterThan(0);
      expect(policy).toContain(`${kind}-src ${own.join(" ")};`);
      expect(html.match(new RegExp(`<${kind}`, "g"))).toHaveLength(own.length);
    }
    expect(policy).toStartWith("default-src 'none';");
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    expect(html).not.toMatch(/\son\w+=|\sstyle=|javascript:/i);
  });

  test("refers to no other host, and labels every field", async () => {
    const { html } = await open(path, { ...github, ...google });
    expect(html).not.toMatch(/(?:https?:)?\/\/[\w-]+\.\w/);
    for (const [, label = ""] of html.matchAll(/<label[^>]*>(.*?)<input/gs)) expect(label.trim()).not.toBe("");
    expect(html.match(/<input/g)?.length ?? 0).toBe(html.match(/<label/g)?.length ?? 0);
    // With a GET form, a browser without the script would put the password into the address.
    expect(html.match(/<form/g)).toEqual(html.match(/<form(?= [^>]*method="post")/g));
  });
});

test("every form for a new password has the same rule, which is that of the server", async () => {
  for (const path of ["/register", "/reset-password?token=t0k3n", "/setup?token=t0k3n"]) {
    const { html } = await open(path);
    expect({ path, minimum: /minlength="(\d+)" autocomplete="new-password"/.exec(html)?.[1] }).toEqual({
      path,
      minimum: String(MIN_PASSWORD_LENGTH),
    });
    expect(html).toContain(`At least ${MIN_PASSWORD_LENGTH} characters`);
  }
});

describe.each(paths)("%s in German", (path) => {
  test("names its language, and has no English text left", async () => {
    const english = await open(path, { ...github, ...google });
    const german = await open(path, { ...github, ...google }, { "accept-language": "de-AT,en;q=0.5" });
    expect(english.html).toContain('<html lang="en">');
    expect(german.html).toContain('<html lang="de">');
    expect(german.headers.get("vary")).toBe("accept, accept-language");
    const texts = (html: string) =>
      html
        .replace(/<(script|style|code)>.*?<\/\1>/gs, "")
        .split(/<[^>]+>/)
        .map((text) => text.trim())
        .filter((text) => text.length > 7 && text !== "Website");
    expect(texts(english.html).filter((text) => german.html.includes(`>${text}<`))).toEqual([]);
    expect(german.html).not.toMatch(/\[\[|\]\]<|\{\{/);
    expect(german.html).toContain('"BAD_CREDENTIALS":');
    expect(english.html).not.toContain('"BAD_CREDENTIALS":');
  });
});

test("the sign-in page offers only configured providers", async () => {
  const offered = async (env: Record<string, string>) =>
    [...(await open("/login", env)).html.matchAll(/\/api\/auth\/oauth\/(\w+)"/g)].map(([, id]) => id);
  expect(await offered({})).toEqual([]);
  expect(await offered(github)).toEqual(["github"]);
  expect(await offered({ ...github, ...google })).toEqual(["google", "github"]);
  expect(await offered({ GOOGLE_CLIENT_ID: "id" })).toEqual([]);
});

test("the sign-up page has the invisible honeypot field", async () => {
  const { html } = await open("/register");
  expect(html).toMatch(
    /<label class="trap" aria-hidden="true">Website <input name="website" tabindex="-1" autocomplete="off">/,
  );
});

test("the sign-in page has a text for every failure code of a provider sign-in", async () => {
  const { html } = await open("/login");
  for (const code of Object.keys(FAILURE_DESCRIPTIONS)) expect(html).toContain(`\n  ${code}: "`);
});

test("pages offer an account only while anyone may have one", async () => {
  for (const path of ["/", "/login"]) {
    const page = async (mode: string) => (await open(path, { SIGN_UP: mode }, { accept: "text/html" })).html;
    expect(await page("open")).toContain('href="/register"');
    for (const mode of ["invite", "closed"]) expect(await page(mode)).not.toContain("/register");
  }
});
