// The pages of accounts: they run nothing but their own scripts, name no foreign address, and keep tokens to themselves.
import { describe, expect, test } from "bun:test";
import { loadConfig } from "../../../src/kernel/config/config.ts";
import { attachContext } from "../../../src/kernel/http/http.ts";
import { FAILURE_DESCRIPTIONS } from "../oauth/oauth-failure.ts";
import { pageRoutes } from "./account-pages.ts";

const configured = (env: Record<string, string> = {}) =>
  loadConfig({ LOG_LEVEL: "error", ...env }, { cwd: "/nonexistent" });
const github = { GITHUB_CLIENT_ID: "id", GITHUB_CLIENT_SECRET: "secret-of-github" };
const google = { GOOGLE_CLIENT_ID: "id", GOOGLE_CLIENT_SECRET: "secret-of-google" };

async function open(path: string, env: Record<string, string> = {}) {
  const request = new Request(`http://localhost${path}`);
  attachContext(request, { id: "1", address: "127.0.0.1", socketAddress: "127.0.0.1", cookies: [] });
  const answer = await pageRoutes({ config: configured(env) }).handle(request);
  return { status: answer.status, headers: answer.headers, html: await answer.text() };
}

const paths = ["/login", "/register", "/reset-password?token=t0k3n", "/verify-email?token=t0k3n", "/setup?token=t0k3n"];

describe.each(paths)("%s", (path) => {
  test("is a whole page, told not to be kept and not to tell its address", async () => {
    const { status, headers, html } = await open(path, { ...github, ...google });
    expect(status).toBe(200);
    expect(headers.get("content-type")).toBe("text/html;charset=utf-8");
    expect(headers.get("referrer-policy")).toBe("no-referrer");
    expect(headers.get("cache-control")).toBe("no-store");
    expect(html).toStartWith("<!doctype html>");
    expect(html).not.toMatch(/\{\{|t0k3n|secret-of/);
    expect(html.match(/<h1/g)?.length).toBeGreaterThan(0);
  });

  test("lets its own scripts and styles run, and no others", async () => {
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

  test("names no foreign address, and labels every field", async () => {
    const { html } = await open(path, { ...github, ...google });
    expect(html).not.toMatch(/(?:https?:)?\/\/[\w-]+\.\w/);
    for (const [, label = ""] of html.matchAll(/<label[^>]*>(.*?)<input/gs)) expect(label.trim()).not.toBe("");
    expect(html.match(/<input/g)?.length ?? 0).toBe(html.match(/<label/g)?.length ?? 0);
    // Without the script nothing is sent, and a password least of all in an address.
    expect(html.match(/<form/g)).toEqual(html.match(/<form(?= [^>]*method="post")/g));
  });
});

test("only the providers that can be used here are offered", async () => {
  const offered = async (env: Record<string, string>) =>
    [...(await open("/login", env)).html.matchAll(/\/api\/auth\/oauth\/(\w+)"/g)].map(([, id]) => id);
  expect(await offered({})).toEqual([]);
  expect(await offered(github)).toEqual(["github"]);
  expect(await offered({ ...github, ...google })).toEqual(["google", "github"]);
  expect(await offered({ GOOGLE_CLIENT_ID: "id" })).toEqual([]);
});

test("sign-up has the trap that people don't see", async () => {
  const { html } = await open("/register");
  expect(html).toMatch(
    /<label class="trap" aria-hidden="true">Website <input name="website" tabindex="-1" autocomplete="off">/,
  );
});

test("every reason why a provider's sign-in failed is put in words", async () => {
  const { html } = await open("/login");
  for (const code of Object.keys(FAILURE_DESCRIPTIONS)) expect(html).toContain(`\n  ${code}: "`);
});
