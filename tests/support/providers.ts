// Starts fakes of both sign-in providers (Google, GitHub) and signs in through them as a browser would.

import { expect } from "bun:test";
import { type Answer, type Client, createClient } from "./client.ts";
import { type Github, type GithubPerson, startGithub } from "./github.ts";
import { type Oidc, type Person, startOidc, throughProvider } from "./oidc.ts";
import { openServer, type TestServer } from "./server.ts";

export interface Providers extends AsyncDisposable {
  readonly google: Oidc;
  readonly github: Github;
  /** Berth's settings for both, with a `BASE_URL` that nothing has to reach: clients use the service's real address. */
  readonly env: Record<string, string>;
}

export async function startProviders(baseUrl = "http://berth.example"): Promise<Providers> {
  const google = await startOidc(["google", "oidc"].map((name) => `${baseUrl}/api/auth/callback/${name}`));
  const github = startGithub(`${baseUrl}/api/auth/callback/github`);
  return {
    google,
    github,
    env: {
      BASE_URL: baseUrl,
      GOOGLE_CLIENT_ID: google.clientId,
      GOOGLE_CLIENT_SECRET: google.clientSecret,
      GOOGLE_ISSUER: google.issuer,
      GITHUB_CLIENT_ID: github.clientId,
      GITHUB_CLIENT_SECRET: github.clientSecret,
      GITHUB_BASE_URL: github.baseUrl,
      GITHUB_API_URL: github.apiUrl,
    },
    async [Symbol.asyncDispose]() {
      await google[Symbol.asyncDispose]();
      await github[Symbol.asyncDispose]();
    },
  };
}

export type ProviderName = "google" | "github" | "oidc" | `oidc_${number}`;

/** Starts a sign-in and completes it at the provider; returns the callback address for the browser. */
export async function completeAtProvider(client: Client, provider: ProviderName, query = ""): Promise<string> {
  const { status, headers, text } = await client.get(`/api/auth/oauth/${provider}${query}`);
  const location = headers.get("location");
  if (status !== 302 || !location?.startsWith("http")) throw new Error(`start: ${status} ${location} ${text}`);
  return throughProvider(location);
}

/** Completes a sign-in; returns Berth's response to the callback. */
export const signInWith = async (client: Client, provider: ProviderName, query = ""): Promise<Answer> =>
  client.get(await completeAtProvider(client, provider, query));

let made = 0;

/** A new person at Google. */
export function newGooglePerson(more: Partial<Person> = {}): Person {
  const tag = `${++made}-${crypto.randomUUID().slice(0, 8)}`;
  return { sub: `google-${tag}`, email: `person-${tag}@example.com`, email_verified: true, name: "Ada", ...more };
}

/** A new person at GitHub. */
export function newGithubPerson(email: string, more: Partial<GithubPerson> = {}): GithubPerson {
  const id = 1_000_000 + ++made;
  return { id, login: `dev-${id}`, name: null, emails: [{ email, primary: true, verified: true }], ...more };
}

/** A service with both providers, and helpers for its tests. */
export interface OAuthServer extends AsyncDisposable {
  readonly google: Oidc;
  readonly github: Github;
  readonly env: Record<string, string>;
  readonly app: TestServer["app"];
  browser(): Client;
  /** Sets the person who signs in next. */
  useGooglePerson(person: Person): Person;
  useGithubPerson(person: GithubPerson): GithubPerson;
  /** Signs up a user with a password, with a verified address or not. */
  member(email: string, verified: boolean): Promise<Client>;
  rows(sql: string, ...args: (string | number)[]): Promise<object[]>;
  /** Writes to the database directly, then drops this user from the cache. */
  write(userId: string, sql: string, ...args: (string | number)[]): Promise<void>;
  linksOf(userId: string): Promise<object[]>;
  /** Ends all failures of both providers, and sets a new person at Google. */
  reset(): void;
}

export async function openOAuthServer(env: Record<string, string> = {}): Promise<OAuthServer> {
  const providers = await startProviders(env.BASE_URL);
  const { google, github } = providers;
  const all = { ...providers.env, ...env };
  const server: TestServer = await openServer({ env: all });
  const browser = () => createClient(server.web);
  const rows = async (sql: string, ...args: (string | number)[]) =>
    (await server.kernel.database.read(sql, args)).rows.map((row) => ({ ...row }));
  const write = async (id: string, sql: string, ...args: (string | number)[]) => {
    await server.kernel.database.write([{ sql, args }]);
    server.app.accounts.users.invalidate(id);
  };
  return {
    google,
    github,
    env: all,
    app: server.app,
    browser,
    rows,
    write,
    linksOf: (id) => rows("SELECT provider, subject FROM linked_accounts WHERE user_id = ? ORDER BY provider", id),
    useGooglePerson(person) {
      google.person = person;
      return person;
    },
    useGithubPerson(person) {
      github.person = person;
      return person;
    },
    async member(email, verified) {
      const client = browser();
      const id = await client.join({ email });
      await write(id, "UPDATE users SET email_verified = ? WHERE id = ?", Number(verified), id);
      return client;
    },
    reset() {
      google.person = newGooglePerson();
      google.forge = undefined;
      google.trouble.clear();
      github.trouble.clear();
      github.issuer = `${github.baseUrl}/login/oauth`;
    },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await providers[Symbol.asyncDispose]();
    },
  };
}

export interface Settings {
  id: string;
  email: string;
  name: string;
  plan: string;
  emailVerified: boolean;
  twoFactorEnabled: boolean;
}

export const settingsOf = async (client: Client) => (await client.get<Settings>("/api/settings")).body;

/** Expects a redirect to the sign-in page with this code, without a session and without text of the provider. */
export function expectFailure(answer: Answer, code: string): void {
  expect([answer.status, answer.headers.get("location")]).toEqual([302, `/login?error=${code}`]);
  expect(answer.headers.getSetCookie().join()).not.toContain("berth_session");
  expect(answer.text).toBe("");
}

export function expectSignedIn(answer: Answer, location = "/"): void {
  expect([answer.status, answer.headers.get("location")]).toEqual([302, location]);
  expect(answer.headers.getSetCookie().join()).toContain("berth_session=");
}
