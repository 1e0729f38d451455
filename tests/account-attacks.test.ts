// Attacks on accounts: extra fields in requests, two accounts for one address, look-alike addresses, reused reset tokens, and
// admin rights through a reverse proxy.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Secret, TOTP } from "otpauth";
import { expectInvalid, newEmail, PASSWORD, type Settings, settingsOf } from "./support/accounts.ts";
import { type Berth, startBerth } from "./support/berth.ts";
import { type Client, createClient } from "./support/client.ts";
import { type Mailbox, openMailbox } from "./support/mailbox.ts";
import { expectRefusal } from "./support/refusal.ts";
import { createWallet, siweMessage } from "./support/wallets.ts";

const ADMIN = "root@example.com";

let mailbox: Mailbox;
let berth: Berth;
beforeAll(async () => {
  mailbox = await openMailbox();
  berth = await startBerth({ env: { SMTP_URL: mailbox.url, RATE_LIMITS: "off", ADMIN_EMAILS: ADMIN } });
});
afterAll(async () => {
  await berth?.[Symbol.asyncDispose]();
  await mailbox?.[Symbol.asyncDispose]();
});

const visitor = () => createClient(berth);
const register = (email: string, extra: object = {}) =>
  visitor().post<{ id: string; email: string }>("/api/register", { email, password: PASSWORD, ...extra });
const signIn = (email: string, password = PASSWORD) =>
  visitor().post<{ user: { id: string } }>("/api/auth/callback/credentials", { email, password });
const forgot = (email: string) => visitor().post("/api/auth/forgot-password", { email });
const reset = (token: string, password: string) => visitor().post("/api/auth/reset-password", { token, password });

describe("read-only fields", () => {
  /** A valid request to every account route with a body; `also` holds the extra fields. */
  type Use = (ada: Client, also: object) => Promise<{ status: number }>;
  const uses: Record<string, Use> = {
    "POST /api/register": (_, also) => register(newEmail(), also),
    "POST /api/auth/first-admin": (_, also) =>
      visitor().post("/api/auth/first-admin", {
        token: "x".repeat(43),
        email: newEmail(),
        password: PASSWORD,
        ...also,
      }),
    "POST /api/auth/verify-email": async ({ account: { email } }, also) =>
      visitor().post("/api/auth/verify-email", { token: "x".repeat(43), email, ...also }),
    "POST /api/auth/verify-email/resend": (ada, also) => ada.post("/api/auth/verify-email/resend", also),
    "POST /api/auth/forgot-password": ({ account: { email } }, also) =>
      visitor().post("/api/auth/forgot-password", { email, ...also }),
    "POST /api/auth/reset-password": (_, also) =>
      visitor().post("/api/auth/reset-password", { token: "x".repeat(43), password: PASSWORD, ...also }),
    "POST /api/auth/callback/credentials": ({ account: { email, password } }, also) =>
      visitor().post("/api/auth/callback/credentials", { email, password, ...also }),
    "POST /api/auth/callback/wallet": async (_, also) => {
      const wallet = createWallet();
      const message = siweMessage(berth.web.replace("127.0.0.1", "localhost"), wallet);
      return visitor().post("/api/auth/callback/wallet", { message, signature: await wallet.sign(message), ...also });
    },
    "POST /api/settings": (ada, also) => ada.post("/api/settings", { name: "Ada", ...also }),
    "PATCH /api/settings": (ada, also) => ada.patch("/api/settings", { name: "Ada", ...also }),
    "POST /api/settings/password": (ada, also) =>
      ada.post("/api/settings/password", { currentPassword: PASSWORD, newPassword: PASSWORD, ...also }),
    "POST /api/keys": (ada, also) => ada.post("/api/keys", { name: "k", ...also }),
    "POST /api/settings/2fa": (ada, also) => ada.post("/api/settings/2fa", { password: PASSWORD, ...also }),
    "POST /api/settings/2fa/confirm": (ada, also) => ada.post("/api/settings/2fa/confirm", { code: "123456", ...also }),
    "POST /api/settings/sign-ins": (ada, also) => ada.post("/api/settings/sign-ins", { provider: "google", ...also }),
    "POST /api/settings/sign-ins/wallet": (ada, also) =>
      ada.post("/api/settings/sign-ins/wallet", { message: "x", signature: "0x00", ...also }),
    "POST /api/settings/social": (ada, also) => ada.post("/api/settings/social", { fidToken: "x.y.z", ...also }),
    "POST /api/auth/two-factor": (_, also) => visitor().post("/api/auth/two-factor", { totp: "123456", ...also }),
    "POST /api/auth/device": (_, also) => visitor().post("/api/auth/device", { client_id: "x", ...also }),
    "POST /api/auth/device/token": (_, also) => visitor().post("/api/auth/device/token", { device_code: "x", ...also }),
    "POST /api/auth/device/request": (ada, also) => ada.post("/api/auth/device/request", { code: "BCDFGHJK", ...also }),
    "POST /api/auth/device/decision": (ada, also) =>
      ada.post("/api/auth/device/decision", { code: "BCDFGHJK", approved: true, ...also }),
    "POST /api/auth/signout": (_, also) => visitor().post("/api/auth/signout", also),
  };
  let ada: Client;
  let victim: Client;
  let wish: object;
  beforeAll(async () => {
    [ada, victim] = [visitor(), visitor()];
    await ada.join();
    const id = await victim.join();
    wish = {
      id,
      userId: id,
      user_id: id,
      sub: id,
      plan: "enterprise",
      credits: 1_000,
      isAdmin: true,
      is_admin: 1,
      role: "admin",
      emailVerified: true,
      email_verified: 1,
      twoFactorEnabled: true,
      referralCode: "",
      referredBy: id,
      createdAt: "2020-01-01T00:00:00.000Z",
      disabledAt: 1,
      passwordHash: "x",
      subscription: { plan: "enterprise", status: "active", currentPeriodEnd: "2099-01-01T00:00:00.000Z" },
      user: { id, isAdmin: true },
      __proto__: { isAdmin: true },
      constructor: { prototype: { isAdmin: true } },
    };
  });

  test("are tested on every account route with a body", async () => {
    const { body } = await visitor().get<{ paths: Record<string, Record<string, { tags: string[] }>> }>(
      "/swagger/json",
    );
    const listed = Object.entries(body.paths).flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([method, { tags }]) =>
        tags.includes("Accounts") && /^(?:post|put|patch)$/.test(method) ? [`${method.toUpperCase()} ${path}`] : [],
      ),
    );
    expect(listed.sort()).toEqual(Object.keys(uses).sort());
  });

  test.each(Object.keys(uses))("are ignored by %s", async (route) => {
    const use: Use = uses[route] ?? expect.unreachable();
    const [before, victimsBefore] = [await settingsOf(ada), await settingsOf(victim)];
    // The status is the same with and without the extra fields.
    expect((await use(ada, wish)).status).toBe((await use(ada, {})).status);
    expect(await settingsOf(ada)).toEqual(before);
    expect(await settingsOf(victim)).toEqual(victimsBefore);
    expect((await victim.get("/api/keys")).body).toMatchObject({ count: 0 });
    expectRefusal(await ada.get("/api/admin/users"), 403, "ADMIN_REQUIRED");
  });

  test("are ignored at sign-up for the new account", async () => {
    const { email } = (await register(newEmail(), wish)).body;
    const eve = visitor();
    await eve.post("/api/auth/callback/credentials", { email, password: PASSWORD, ...wish });
    const settings = await settingsOf(eve);
    expect(settings).toMatchObject({
      email,
      name: email,
      plan: "free",
      credits: 0,
      isAdmin: false,
      emailVerified: false,
      twoFactorEnabled: false,
      subscription: null,
    });
    expect(settings.referralCode).not.toBe("");
    expect(settings.id).not.toBe((await settingsOf(victim)).id);
    expect(Date.now() - Date.parse(settings.createdAt)).toBeLessThan(60_000);
  });
});

describe("one account for one address", () => {
  test.each([2, 20])("%d sign-ups at once: one 201, the others 409", async (count) => {
    const email = newEmail("Twin");
    const spell = (n: number) => (n % 3 === 0 ? email : n % 3 === 1 ? email.toUpperCase() : ` ${email.toLowerCase()} `);
    const passwords = Array.from({ length: count }, (_, n) => `the password of ${n}`);
    const answers = await Promise.all(passwords.map((password, n) => register(spell(n), { password })));
    const winner = answers.findIndex(({ status }) => status === 201);
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    for (const answer of answers.filter((_, n) => n !== winner)) expectRefusal(answer, 409, "USER_EXISTS");
    expect((await signIn(email, passwords[winner])).status).toBe(200);
    expectRefusal(await signIn(email, passwords[(winner + 1) % count]), 401, "BAD_CREDENTIALS");
    await mailbox.token(email.toLowerCase(), "verify-email");
    expect(mailbox.of(email.toLowerCase())).toHaveLength(1);
  });

  const tag = crypto.randomUUID().slice(0, 8);
  const same: [string, string, string][] = [
    ["in capitals", `mike-${tag}@example.com`, `MIKE-${tag}@EXAMPLE.COM`],
    ["between spaces", `anna-${tag}@example.com`, `\t anna-${tag}@example.com \n`],
    ["composed and decomposed", `zo\u00eb-${tag}@example.com`, `zoe\u0308-${tag}@example.com`],
    ["in capitals with marks", `\u00e9mile-${tag}@example.com`, `E\u0301MILE-${tag}@EXAMPLE.COM`],
    ["with the sign for kelvin", `kate-${tag}@example.com`, `\u212aate-${tag}@example.com`],
    ["at a domain in capitals", `ada-${tag}@b\u00fccher.example`, `ada-${tag}@B\u00dcCHER.example`],
  ];
  test.each(same)("%s the address is the same account", async (_, email, spelling) => {
    const { id, email: stored } = (await register(email)).body;
    expect(stored).toBe(email);
    expectRefusal(await register(spelling, { password: "another password" }), 409, "USER_EXISTS");
    expect((await signIn(spelling)).body.user.id).toBe(id);
    const eve = visitor();
    await eve.join();
    expectRefusal(await eve.post("/api/settings", { email: spelling }), 409, "EMAIL_IN_USE");
  });

  /** What differs, the address, and its look-alike. */
  const looks: [string, string, string][] = [
    ["without the dot on its i", `mike-${tag}@example.org`, `m\u0131ke-${tag}@example.org`],
    ["with the Turkish capital I", `iris-${tag}@example.org`, `\u0130ris-${tag}@example.org`],
    ["with a long s", `susan-${tag}@example.org`, `\u017fusan-${tag}@example.org`],
    ["with a sharp s", `strauss-${tag}@example.org`, `strau\u00df-${tag}@example.org`],
    ["in Cyrillic", `paper-${tag}@example.org`, `\u0440\u0430\u0440\u0435r-${tag}@example.org`],
    ["in wide letters", `wide-${tag}@example.org`, `\uff57\uff49\uff44\uff45-${tag}@example.org`],
    ["with a ligature", `fiona-${tag}@example.org`, `\ufb01ona-${tag}@example.org`],
    ["at a domain in Cyrillic", `dora-${tag}@example.org`, `dora-${tag}@\u0435xample.org`],
    ["with a tag", `paul-${tag}@example.org`, `paul-${tag}+x@example.org`],
  ];
  test("a look-alike address is another account, with its own mail", async () => {
    const check = async ([, email, look]: (typeof looks)[number]) => {
      const victim = (await register(email)).body;
      const other = await register(look, { password: "the password of Eve" });
      expect(other.status).toBe(201);
      expect(other.body.id).not.toBe(victim.id);
      expectRefusal(await signIn(email, "the password of Eve"), 401, "BAD_CREDENTIALS");
      expectRefusal(await signIn(other.body.email), 401, "BAD_CREDENTIALS");
      expect((await forgot(look)).status).toBe(200);
      await mailbox.token(other.body.email, "reset-password");
      expect(mailbox.of(email).every(({ parsed }) => !parsed.text?.includes("reset-password"))).toBe(true);
      expect((await signIn(email)).body.user.id).toBe(victim.id);
    };
    await Promise.all(looks.map(check));
  });

  test.each([
    ["a wide @", "ada\uff20example.com"],
    ["a small @", "ada\ufe6bexample.com"],
    ["an ideographic dot", "ada@example\u3002com"],
    ["a domain in wide letters", "ada@\uff45xample.com"],
    ["a domain with a ligature", "ada@\ufb01ne.example.com"],
    ["a domain with a variation", "ada@exam\ufe0fple.com"],
    ["a domain that is no name", "ada@xn--a.example"],
    ["a space of no width", "a\u200bda@example.com"],
    ["a turn to the left", "a\u202eda@example.com"],
    ["a soft hyphen", "a\u00adda@example.com"],
    ["a NEL", "ada@example.com\u0085x"],
    ["an address of a number", "ada@[127.0.0.1]"],
    ["a quoted name", '"ada@example.com"@example.org'],
    ["a comment", "ada(x)@example.com"],
    ["two", "ada@example.com,eve@example.com"],
    ["a header", "ada@example.com\r\nBcc: eve@example.com"],
  ])("%s makes none: 400", async (_, email) => {
    expectInvalid(await register(email), ["email"], "INVALID_EMAIL");
    expectInvalid(await forgot(email), ["email"], "INVALID_EMAIL");
    const answer = await signIn(email);
    expectRefusal(answer, 401, "BAD_CREDENTIALS");
  });
});

describe("a reset token", () => {
  test("works once in 20 requests at once, and invalidates all older tokens", async () => {
    const ada = visitor();
    await ada.join();
    const { email } = ada.account;
    const tokens: string[] = [];
    for (let n = 1; n <= 3; n++) {
      expect((await forgot(email)).status).toBe(200);
      tokens.push(await mailbox.token(email, "reset-password", n));
    }
    const [first = "", second = "", newest = ""] = tokens;
    expect(new Set(tokens).size).toBe(3);
    for (const token of [first, second]) expectRefusal(await reset(token, "of an old link"), 400, "INVALID_LINK");
    expect((await signIn(email)).status).toBe(200);

    const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => reset(newest, `password number ${n}`)));
    const winner = answers.findIndex(({ status }) => status === 200);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const answer of answers.filter((_, n) => n !== winner)) expectRefusal(answer, 400, "INVALID_LINK");
    expect((await signIn(email, `password number ${winner}`)).status).toBe(200);
    expectRefusal(await signIn(email), 401, "BAD_CREDENTIALS");
    for (const token of tokens) expectRefusal(await reset(token, "once more, please"), 400, "INVALID_LINK");
  });

  test("that is expired, changed or of a look-alike account sets no password", async () => {
    const ada = visitor();
    await ada.join();
    const { email } = ada.account;
    await forgot(email);
    const token = await mailbox.token(email, "reset-password");
    const flipped = `${token.startsWith("A") ? "B" : "A"}${token.slice(1)}`;
    for (const wrong of [
      flipped,
      token.slice(0, -1),
      `${token}A`,
      token.toLowerCase(),
      ` ${token}`,
      `${token}=`,
      "%",
    ]) {
      expectRefusal(await reset(wrong, "the password of Eve"), 400, "INVALID_LINK");
    }
    // A changed password invalidates the token.
    const body = { currentPassword: PASSWORD, newPassword: "a better horse battery" };
    expect((await ada.post("/api/settings/password", body)).status).toBe(200);
    expectRefusal(await reset(token, "the password of Eve"), 400, "INVALID_LINK");
  });

  test("does not replace the second factor of a verified account", async () => {
    const ada = visitor();
    await ada.join();
    const { email } = ada.account;
    await ada.post("/api/auth/verify-email", { token: await mailbox.token(email, "verify-email") });
    const { secret } = (await ada.post<{ secret: string }>("/api/settings/2fa", { password: PASSWORD })).body;
    const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate();
    expect((await ada.post("/api/settings/2fa/confirm", { code })).status).toBe(200);
    await forgot(email);
    expect((await reset(await mailbox.token(email, "reset-password"), "a new password")).status).toBe(200);
    expectRefusal(await signIn(email, "a new password"), 401, "TOTP_REQUIRED");
  });
});

describe("an address of ADMIN_EMAILS, registered through a reverse proxy on the same host", () => {
  const headers: Record<string, string>[] = [
    { "x-forwarded-for": "203.0.113.7" },
    { forwarded: "for=203.0.113.7;proto=https" },
    { via: "1.1 proxy" },
    { "x-real-ip": "203.0.113.7" },
    { "x-forwarded-for": "127.0.0.1" },
    { "x-forwarded-host": "berth.example" },
  ];
  /** Starts a reverse proxy that forwards every request with these headers. */
  function startProxy(to: () => string, proxyHeaders: Record<string, string>) {
    const server = Bun.serve({
      port: 0,
      async fetch(request) {
        const { pathname, search } = new URL(request.url);
        const passed = new Headers(request.headers);
        for (const [name, value] of Object.entries(proxyHeaders)) passed.set(name, value);
        passed.delete("host");
        const { method } = request;
        const sent = { method, headers: passed, redirect: "manual" as const };
        const body = method === "GET" ? {} : { body: await request.arrayBuffer() };
        const answer = await fetch(`${to()}${pathname}${search}`, { ...sent, ...body });
        return new Response(await answer.arrayBuffer(), { status: answer.status, headers: answer.headers });
      },
    });
    return { url: server.url.origin, [Symbol.asyncDispose]: () => server.stop(true) };
  }
  const isAdmin = async (client: Client) => {
    const { isAdmin } = await settingsOf(client);
    expect((await client.get("/api/admin/users")).status).toBe(isAdmin ? 200 : 403);
    return isAdmin;
  };

  for (const trusted of ["", "127.0.0.1"]) {
    describe(trusted ? "that is trusted" : "that is not trusted", () => {
      const admins = headers.map((_, n) => `root-${n}-${crypto.randomUUID().slice(0, 8)}@example.com`);
      let service: Berth;
      beforeAll(async () => {
        const env = { SMTP_URL: mailbox.url, RATE_LIMITS: "off", TRUSTED_PROXIES: trusted };
        service = await startBerth({ env: { ...env, ADMIN_EMAILS: admins.join() } });
      });
      afterAll(() => service?.[Symbol.asyncDispose]());

      test.each(headers.map((proxyHeaders, n) => [proxyHeaders, n] as const))(
        "and sends %j: is an admin only after verification",
        async (proxyHeaders, n) => {
          const email = admins[n] ?? "";
          await using proxy = startProxy(() => service.web, proxyHeaders);
          const eve = createClient(proxy.url);
          await eve.join({ email });
          expect(await isAdmin(eve)).toBe(false);
          // A session from the proxy gives no admin rights without the proxy either.
          const near = createClient(service);
          const options = { headers: { cookie: eve.cookie } };
          expect((await near.get<Settings>("/api/settings", options)).body.isAdmin).toBe(false);
          const { key } = (await near.post<{ key: string }>("/api/keys", { name: "k" }, options)).body;
          const bearer = { headers: { authorization: `Bearer ${key}` } };
          expect((await near.get<Settings>("/api/settings", bearer)).body.isAdmin).toBe(false);
          expectRefusal(await near.get("/api/admin/users", bearer), 403, "ADMIN_REQUIRED");
          expectRefusal(await eve.post("/api/agents/provision", { name: "A" }), 402, "SUBSCRIPTION_REQUIRED");

          const token = await mailbox.token(email, "verify-email");
          expect((await eve.post("/api/auth/verify-email", { token })).status).toBe(200);
          expect(await isAdmin(eve)).toBe(true);
        },
      );
    });
  }

  test("or directly from this machine with a foreign BASE_URL: is no admin", async () => {
    await using service = await startBerth({ env: { BASE_URL: "https://berth.example", ADMIN_EMAILS: ADMIN } });
    const eve = createClient(service);
    await eve.join({ email: ADMIN });
    expect(await isAdmin(eve)).toBe(false);
  });

  test("a look-alike address is no admin, verified or not", async () => {
    for (const look of [
      "r\u043eot@example.com",
      "root@ex\u0430mple.com",
      "root+x@example.com",
      "root@example.com.example",
    ]) {
      const eve = visitor();
      const { email } = await eve.signUp({ email: look });
      await eve.signIn();
      await eve.post("/api/auth/verify-email", { token: await mailbox.token(email, "verify-email") });
      expect(await settingsOf(eve)).toMatchObject({ emailVerified: true, isAdmin: false });
    }
  });
});
