// Accounts: sign-up, sign-in, keys, sessions, second factor, providers, connected apps.
import { createHash, randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Secret, TOTP } from "otpauth";
import { createClient } from "../../support/client.ts";
import { eventually } from "../../support/eventually.ts";
import { completeAtProvider, newGooglePerson, signInWith } from "../../support/providers.ts";
import { createWallet, siweMessage } from "../../support/wallets.ts";
import type { Tour } from "../tour.ts";
import { withTwoFactor } from "../two-factor.ts";
import { BASE_URL, type World } from "../world.ts";

const PASSWORD = "correct horse battery";

/** The token of the newest link to this page in a mail to the address. */
const linkIn = (tour: Tour, email: string, page: string) =>
  eventually(
    () => {
      const outbox = join(tour.berth.dir, "data/outbox");
      const mails = readdirSync(outbox).sort().reverse();
      for (const name of mails) {
        const mail = readFileSync(join(outbox, name), "utf8").replaceAll("=\r\n", "").replaceAll("=3D", "=");
        const [, token] = new RegExp(`${page}\\?token=([\\w-]+)`).exec(mail) ?? [];
        if (mail.includes(email) && token) return token;
      }
      return undefined;
    },
    { what: `a mail to ${email} with a link to ${page}` },
  );

/** While there is no account, the program prints a link at its start. */
export async function firstAdmin({ call, berth }: Tour): Promise<void> {
  const { stdout, stderr } = berth.output();
  const [, token = ""] = /setup\?token=([\w-]+)/.exec(stdout + stderr) ?? [];
  const body = { token, email: "admin@example.com", password: PASSWORD, name: "Grace" };
  await call("POST /api/auth/first-admin", { as: null, body });
}

export async function accounts(tour: Tour, world: World): Promise<void> {
  if (tour.side === "backend") return;
  const { call } = tour;
  const email = `user-900-${randomBytes(4).toString("hex")}@example.com`;
  await call("POST /api/register", { as: null, body: { email, password: PASSWORD, name: "Ada" } });
  await call("POST /api/auth/callback/credentials", { as: null, body: { email, password: PASSWORD } });
  await call("POST /api/auth/verify-email", { as: null, body: { token: await linkIn(tour, email, "verify-email") } });
  await call("GET /api/auth/providers", { as: null });
  await call("POST /api/auth/forgot-password", { as: null, body: { email } });
  await call("POST /api/auth/reset-password", {
    as: null,
    body: { token: await linkIn(tour, email, "reset-password"), password: "another horse battery" },
  });

  const eve = createClient(tour.berth);
  await eve.join();
  await call("POST /api/auth/verify-email/resend", { as: eve });
  await call("GET /api/auth/session", { as: eve });
  await call("GET /api/settings", { as: eve });
  await call("PATCH /api/settings", { as: eve, body: { name: "Ada Lovelace", notifications: { referral: false } } });
  await call("POST /api/settings", { as: eve, body: { name: "Ada" } });
  await call("GET /api/settings/referral", { as: eve });
  await call("GET /api/setup", { as: eve });
  await call("PUT /api/setup/skipped", { as: eve, body: { steps: ["channel"] } });
  await call("GET /api/auth/sessions", { as: eve });
  await keysAndFactors(tour, eve);
  await signIns(tour, world, eve);
  await apps(tour, eve);
  await devices(tour, eve);
  await call("DELETE /api/auth/sessions", { as: eve });
  await call("POST /api/settings/password", {
    as: eve,
    body: { currentPassword: PASSWORD, newPassword: "a newer horse battery" },
  });
  const leaver = createClient(tour.berth);
  await leaver.join();
  const { body } = await call("GET /api/auth/sessions", { as: leaver });
  await call("DELETE /api/auth/sessions/{id}", { as: leaver, path: { id: body.sessions[0].id } });
  await leaver.signIn();
  await call("DELETE /api/settings", { as: leaver, body: { password: PASSWORD } });
  await call("POST /api/auth/signout", { as: eve, body: {} });
}

async function keysAndFactors({ call }: Tour, eve: ReturnType<typeof createClient>): Promise<void> {
  const { body: key } = await call("POST /api/keys", { as: eve, body: { name: "CI", scopes: ["read", "chat"] } });
  await call("GET /api/keys", { as: eve });
  await call("DELETE /api/keys/{id}", { as: eve, path: { id: key.id } });
  await call("GET /api/settings/2fa", { as: eve });
  const { body: begun } = await call("POST /api/settings/2fa", { as: eve, body: { password: PASSWORD } });
  const secret = begun.secret ?? new URL(begun.uri ?? begun.otpauthUrl).searchParams.get("secret");
  const code = (later = 0) =>
    new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: Date.now() + later * 1000 });
  await call("POST /api/settings/2fa/confirm", { as: eve, body: { code: code() } });
  await call("DELETE /api/settings/2fa", { as: eve, body: { password: PASSWORD, code: code(30) } });
}

async function signIns(
  { call, berth }: Tour,
  { providers }: World,
  eve: ReturnType<typeof createClient>,
): Promise<void> {
  await call("GET /api/settings/sign-ins", { as: eve });
  await call("POST /api/settings/sign-ins", { as: eve, body: { provider: "google", currentPassword: PASSWORD } });
  const wallet = createWallet();
  const { body: forLink } = await call("GET /api/auth/nonce", { as: null, query: { address: wallet.address } });
  const message = forLink.message ?? siweMessage(BASE_URL, wallet, { nonce: forLink.nonce });
  const linked = await call("POST /api/settings/sign-ins/wallet", {
    as: eve,
    body: { message, signature: await wallet.sign(message), currentPassword: PASSWORD },
  });
  await call("DELETE /api/settings/sign-ins/{id}", {
    as: eve,
    path: { id: linked.body.signIn?.id ?? "unknown" },
    body: { currentPassword: PASSWORD },
  });
  const own = createWallet();
  const { body: nonce } = await call("GET /api/auth/nonce", { as: null, query: { address: own.address } });
  const text = nonce.message ?? siweMessage(BASE_URL, own, { nonce: nonce.nonce });
  await call("POST /api/auth/callback/wallet", {
    as: null,
    body: { message: text, signature: await own.sign(text) },
    headers: { accept: "application/json" },
  });

  await call("GET /api/auth/oauth/{provider}", { as: null, path: { provider: "google" } });
  providers.google.person = newGooglePerson();
  const browser = createClient(berth);
  const callback = new URL(await completeAtProvider(browser, "google"), BASE_URL);
  await call("GET /api/auth/callback/{provider}", {
    as: browser,
    path: { provider: "google" },
    query: Object.fromEntries(callback.searchParams),
  });
  // The person's account is the one that the example's answer has signed in to.
  await signInWith(browser, "google");
  const { recoveryCodes } = await withTwoFactor(berth, browser);
  const another = createClient(berth);
  await signInWith(another, "google");
  await call("POST /api/auth/two-factor", { as: another, body: { totp: recoveryCodes[0] } });
}

async function apps({ call }: Tour, eve: ReturnType<typeof createClient>): Promise<void> {
  await call("GET /.well-known/oauth-authorization-server", { as: null });
  await call("GET /.well-known/oauth-protected-resource/mcp", { as: null });
  const redirect = "http://127.0.0.1:33418/callback";
  const { body: app } = await call("POST /api/oauth/register", {
    as: null,
    body: { client_name: "Desk", redirect_uris: [redirect], token_endpoint_auth_method: "none" },
  });
  const verifier = randomBytes(32).toString("base64url");
  const request = new URLSearchParams({
    response_type: "code",
    client_id: app.client_id,
    redirect_uri: redirect,
    scope: "read chat",
    state: "state-of-the-app",
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
    resource: `${BASE_URL}/mcp`,
  }).toString();
  await call("POST /api/oauth/request", { as: eve, body: { request } });
  const { body: decided } = await call("POST /api/oauth/decision", {
    as: eve,
    body: { request, approved: true, scopes: ["read", "chat"] },
  });
  const code = new URL(decided.redirect ?? "http://127.0.0.1").searchParams.get("code") ?? "";
  const form = { headers: { "content-type": "application/x-www-form-urlencoded" }, as: null };
  const { body: tokens } = await call("POST /api/oauth/token", {
    ...form,
    body: new URLSearchParams({
      grant_type: "authorization_code",
      code,
      client_id: app.client_id,
      redirect_uri: redirect,
      code_verifier: verifier,
      resource: `${BASE_URL}/mcp`,
    }).toString(),
  });
  const { body: connected } = await call("GET /api/connected-apps", { as: eve });
  await call("POST /mcp", {
    as: null,
    headers: {
      authorization: `Bearer ${tokens.access_token}`,
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2025-06-18",
    },
    body: { jsonrpc: "2.0", id: 1, method: "tools/list", params: {} },
  });
  const version = "2026-07-28";
  await call("POST /mcp", {
    as: null,
    headers: {
      authorization: `Bearer ${tokens.access_token}`,
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": version,
      "mcp-method": "tools/list",
    },
    body: {
      jsonrpc: "2.0",
      id: 1,
      method: "tools/list",
      params: {
        _meta: {
          "io.modelcontextprotocol/protocolVersion": version,
          "io.modelcontextprotocol/clientInfo": { name: "desk", version: "1.0.0" },
          "io.modelcontextprotocol/clientCapabilities": {},
        },
      },
    },
  });
  await call("DELETE /api/connected-apps/{id}", { as: eve, path: { id: connected.apps[0]?.id ?? "unknown" } });
  await call("POST /api/oauth/revoke", {
    ...form,
    body: new URLSearchParams({ token: tokens.refresh_token ?? "", client_id: app.client_id }).toString(),
  });
}

/** A program without a browser asks for a key, Eve allows it, and it signs out again. */
async function devices({ call }: Tour, eve: ReturnType<typeof createClient>): Promise<void> {
  const form = (fields: Record<string, string>) => ({
    as: null,
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams({ client_id: "berth", ...fields }).toString(),
  });
  const { body: begun } = await call("POST /api/auth/device", form({ device_name: "atlas", scope: "read write chat" }));
  const code = begun.user_code;
  await call("POST /api/auth/device/request", { as: eve, body: { code } });
  const scopes = ["read", "write", "chat"];
  await call("POST /api/auth/device/decision", { as: eve, body: { code, approved: true, scopes } });
  const grant_type = "urn:ietf:params:oauth:grant-type:device_code";
  const { body: granted } = await call(
    "POST /api/auth/device/token",
    form({ grant_type, device_code: begun.device_code ?? "" }),
  );
  await call("DELETE /api/keys/current", {
    as: null,
    headers: { authorization: `Bearer ${granted.access_token}` },
  });
}
