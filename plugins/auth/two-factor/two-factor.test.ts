// Two-factor: confirmation, single use of codes, no secrets in clear, recovery codes, and limits on guessing.
import { afterAll, afterEach, beforeAll, describe, expect, setSystemTime, test } from "bun:test";
import { Secret, TOTP } from "otpauth";
import { MINUTE, SECOND } from "../../../src/kernel/util/time.ts";
import { createMember, verifyEmail } from "../../../tests/support/account-setup.ts";
import { type Answer, type Client, createClient } from "../../../tests/support/client.ts";
import { expectRefusal } from "../../../tests/support/refusal.ts";
import { openServer, type TestServer } from "../../../tests/support/server.ts";

let server: TestServer;
beforeAll(async () => {
  server = await openServer();
});
afterAll(() => server?.[Symbol.asyncDispose]());
afterEach(() => setSystemTime());

const password = "correct horse battery";
const STEP = 30 * SECOND;

interface Enrolment {
  secret: string;
  otpauthUrl: string;
  recoveryCodes: string[];
}

/** The code of the authenticator app at a time step relative to now. */
const codeOf = (secret: string, steps = 0) =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: Date.now() + steps * STEP });
/** A code that matches no step close to now. */
const wrongCode = (secret: string) => {
  const good = [-2, -1, 0, 1, 2].map((steps) => codeOf(secret, steps));
  return ["000000", "111111", "222222", "333333", "444444", "555555"].find((code) => !good.includes(code)) ?? "";
};

const member = async (at: TestServer = server) => (await createMember(at)).client;

/** Stops the clock in the middle of a time step, `after` ms later, so that tests control the step. */
function stopClock(after = 0): void {
  setSystemTime(Math.floor(Date.now() / STEP) * STEP + STEP / 2 + after);
}

const begin = (caller: Client, body: object = { password }) => caller.post<Enrolment>("/api/settings/2fa", body);
const confirm = (caller: Client, code: unknown) => caller.post("/api/settings/2fa/confirm", { code });
const disable = (caller: Client, code: unknown, pass = password) =>
  caller.delete("/api/settings/2fa", { password: pass, code });
const isEnabled = async (caller: Client) =>
  (await caller.get<{ twoFactorEnabled: boolean }>("/api/settings")).body.twoFactorEnabled;

/** A user with two-factor on, in the time step after that of the used code. */
async function memberWithTwoFactor(at: TestServer = server) {
  const client = await member(at);
  stopClock();
  const { body } = await begin(client);
  expect((await confirm(client, codeOf(body.secret))).body).toEqual({ success: true, twoFactorEnabled: true });
  stopClock(STEP);
  return { client, ...body };
}

const signIn = (caller: Client, totp?: unknown, headers: Record<string, string> = {}): Promise<Answer> => {
  const { email } = caller.account;
  const body = { email, password: caller.account.password, ...(totp === undefined ? {} : { totp }) };
  return createClient(server.web).post("/api/auth/callback/credentials", body, { headers });
};

describe("setup", () => {
  test("returns a secret, its URL for a QR code and ten recovery codes, and two-factor stays off", async () => {
    const ada = await member();
    const { status, body } = await begin(ada);
    expect(status).toBe(200);
    expect(body.secret).toMatch(/^[A-Z2-7]{32}$/);
    const address = new URL(body.otpauthUrl);
    expect(decodeURIComponent(address.pathname)).toEndWith(`/Berth:${ada.account.email}`);
    expect(address.searchParams.get("issuer")).toBe("Berth");
    expect(address.searchParams.get("secret")).toBe(body.secret);
    expect(new Set(body.recoveryCodes).size).toBe(10);
    for (const code of body.recoveryCodes) expect(code).toMatch(/^[0-9a-z]{4}(-[0-9a-z]{4}){3}$/);
    expect(await isEnabled(ada)).toBe(false);
    expect((await signIn(ada)).status).toBe(200);
    expect((await signIn(ada, "000000")).status).toBe(200);
  });

  test("requires the password", async () => {
    const ada = await member();
    expectRefusal(await begin(ada, { password: "wrong password" }), 401, "BAD_CREDENTIALS");
    expectRefusal(await begin(ada, {}), 400);
    const { rows } = await server.kernel.database.read("SELECT * FROM two_factor WHERE user_id = ?", [
      (await ada.get<{ id: string }>("/api/settings")).body.id,
    ]);
    expect(rows).toHaveLength(0);
  });

  test("requires a session younger than ten minutes if the account has no password", async () => {
    const ada = await member();
    const { id } = (await ada.get<{ id: string }>("/api/settings")).body;
    await server.kernel.database.write([{ sql: "UPDATE users SET password_hash = NULL WHERE id = ?", args: [id] }]);
    server.app.accounts.users.invalidate(id);
    setSystemTime(Date.now() + 11 * MINUTE);
    expectRefusal(await begin(ada, {}), 403, "RECENT_SIGN_IN_REQUIRED");
    setSystemTime();
    const { status, body } = await begin(ada, {});
    expect(status).toBe(200);
    stopClock();
    expect((await confirm(ada, codeOf(body.secret))).status).toBe(200);
    setSystemTime(Date.now() + 11 * MINUTE);
    const code = body.recoveryCodes[0];
    expectRefusal(await ada.delete("/api/settings/2fa", { code }), 403, "RECENT_SIGN_IN_REQUIRED");
    setSystemTime();
    expect((await ada.delete("/api/settings/2fa", { code })).status).toBe(200);
  });

  test("replaces an unconfirmed setup, and is refused once two-factor is on", async () => {
    const ada = await member();
    stopClock();
    const [first, second] = [(await begin(ada)).body, (await begin(ada)).body];
    expect(second.secret).not.toBe(first.secret);
    expectRefusal(await confirm(ada, codeOf(first.secret)), 400, "INVALID_CODE");
    expect((await confirm(ada, codeOf(second.secret))).status).toBe(200);
    expectRefusal(await begin(ada), 409, "TWO_FACTOR_ON");
    expectRefusal(await confirm(ada, codeOf(second.secret, 1)), 409, "TWO_FACTOR_ON");
    expectRefusal(await signIn(ada, first.recoveryCodes[0]), 401, "INVALID_TOTP");
    expect((await signIn(ada, second.recoveryCodes[0])).status).toBe(200);
  });

  test("shows the secrets once per idempotency key", async () => {
    const ada = await member();
    const send = () => ada.post("/api/settings/2fa", { password }, { headers: { "idempotency-key": "begin-1" } });
    expect((await send()).body).toMatchObject({ secret: expect.any(String) });
    expect((await send()).body).toEqual({ secret: null, otpauthUrl: null, recoveryCodes: null });
  });

  test("stores no secret in clear", async () => {
    const ada = await member();
    const { body } = await ada.post<Enrolment>(
      "/api/settings/2fa",
      { password },
      { headers: { "idempotency-key": "x" } },
    );
    const { rows: tables } = await server.kernel.database.read("SELECT name FROM sqlite_schema WHERE type = 'table'");
    for (const { name } of tables) {
      const { rows } = await server.kernel.database.read(`SELECT * FROM "${String(name)}"`);
      const text = JSON.stringify(rows);
      expect(text).not.toContain(body.secret);
      for (const code of body.recoveryCodes) {
        expect(text).not.toContain(code);
        expect(text).not.toContain(code.replaceAll("-", ""));
      }
    }
  });
});

describe("turning it on", () => {
  test("requires a current code of the new secret", async () => {
    const ada = await member();
    expectRefusal(await confirm(ada, "000000"), 400, "TWO_FACTOR_NOT_BEGUN");
    stopClock();
    const { body } = await begin(ada);
    for (const code of [wrongCode(body.secret), codeOf(body.secret, 2), codeOf(body.secret, -2), "12345", "abcdef"]) {
      expectRefusal(await confirm(ada, code), 400, "INVALID_CODE");
    }
    expectRefusal(await confirm(ada, body.recoveryCodes[0]), 400, "INVALID_CODE");
    for (const code of ["", 123456, null, undefined]) expectRefusal(await confirm(ada, code), 400, "INVALID_INPUT");
    expect(await isEnabled(ada)).toBe(false);
    const code = codeOf(body.secret);
    expect((await confirm(ada, `${code.slice(0, 3)} ${code.slice(3)}`)).status).toBe(200);
    expect(await isEnabled(ada)).toBe(true);
    expectRefusal(await signIn(ada, code), 401, "INVALID_TOTP");
  });

  test("ends all other sessions, keeps API keys, and sends a mail", async () => {
    const current = await member();
    await verifyEmail(server, current.account.email);
    const { body: key } = await current.post<{ key: string }>("/api/keys", { name: "k" });
    const other = createClient(server.web);
    const { email } = current.account;
    await other.post("/api/auth/callback/credentials", { email, password });
    stopClock();
    const { body } = await begin(current);
    const mails = async () => (await server.kernel.database.read("SELECT 1 FROM jobs WHERE kind = 'mail'")).rows.length;
    const before = await mails();
    await confirm(current, codeOf(body.secret));
    expect(await mails()).toBe(before + 1);
    expectRefusal(await other.get("/api/settings"), 401, "UNAUTHORIZED");
    expect(await isEnabled(current)).toBe(true);
    const headers = { authorization: `Bearer ${key.key}` };
    expect((await createClient(server.web).get("/api/settings", { headers })).status).toBe(200);
  });

  test("happens once for concurrent requests", async () => {
    const ada = await member();
    stopClock();
    const { body } = await begin(ada);
    const answers = await Promise.all(Array.from({ length: 10 }, () => confirm(ada, codeOf(body.secret))));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  });
});

describe("sign-in", () => {
  test("requires a code, but only after the correct password", async () => {
    const { client, secret } = await memberWithTwoFactor();
    const { email } = client.account;
    for (const totp of [undefined, codeOf(secret), "000000"]) {
      const wrong = { email, password: "wrong password", totp };
      const answer = await createClient(server.web).post("/api/auth/callback/credentials", wrong);
      expectRefusal(answer, 401, "BAD_CREDENTIALS");
    }
    for (const totp of [undefined, ""]) {
      const answer = await signIn(client, totp);
      expectRefusal(answer, 401, "TOTP_REQUIRED");
      expect(answer.headers.getSetCookie()).toEqual([]);
    }
    const wrong = await signIn(client, wrongCode(secret));
    expectRefusal(wrong, 401, "INVALID_TOTP");
    expect(wrong.headers.getSetCookie()).toEqual([]);
    expectRefusal(await signIn(client, 123456), 400, "INVALID_INPUT");
    const good = await signIn(client, codeOf(secret));
    expect(good.status).toBe(200);
    expect(good.headers.getSetCookie()).toHaveLength(1);
  });

  test("accepts the code before and after the current one, and no other", async () => {
    const { client, secret } = await memberWithTwoFactor();
    setSystemTime(Date.now() + 10 * MINUTE);
    expectRefusal(await signIn(client, codeOf(secret, -2)), 401, "INVALID_TOTP");
    expectRefusal(await signIn(client, codeOf(secret, 2)), 401, "INVALID_TOTP");
    expect((await signIn(client, codeOf(secret, -1))).status).toBe(200);
    expect((await signIn(client, codeOf(secret, 0))).status).toBe(200);
    expect((await signIn(client, codeOf(secret, 1))).status).toBe(200);
  });

  test("accepts each code once, and none older than the last used", async () => {
    const { client, secret } = await memberWithTwoFactor();
    const [older, code] = [codeOf(secret, -1), codeOf(secret)];
    expect((await signIn(client, code)).status).toBe(200);
    expectRefusal(await signIn(client, code), 401, "INVALID_TOTP");
    expectRefusal(await signIn(client, older), 401, "INVALID_TOTP");
  });

  test("succeeds once for twenty concurrent requests with one code", async () => {
    const { client, secret, recoveryCodes } = await memberWithTwoFactor();
    for (const code of [codeOf(secret), recoveryCodes[3]]) {
      const answers = await Promise.all(Array.from({ length: 20 }, () => signIn(client, code)));
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
      for (const answer of answers.filter(({ status }) => status !== 200)) expectRefusal(answer, 401, "INVALID_TOTP");
    }
  });

  test("accepts each recovery code once, in any notation", async () => {
    const { client, recoveryCodes } = await memberWithTwoFactor();
    const [first = "", second = "", third = ""] = recoveryCodes;
    expect((await signIn(client, first)).status).toBe(200);
    expectRefusal(await signIn(client, first), 401, "INVALID_TOTP");
    expect((await signIn(client, second.toUpperCase().replaceAll("-", " "))).status).toBe(200);
    expect((await signIn(client, third.replaceAll("0", "O").replaceAll("1", "l"))).status).toBe(200);
    expectRefusal(await signIn(client, "0000-0000-0000-0000"), 401, "INVALID_TOTP");
  });

  test("refuses codes of other accounts", async () => {
    const [ada, eve] = [await memberWithTwoFactor(), await memberWithTwoFactor()];
    expectRefusal(await signIn(ada.client, eve.recoveryCodes[0]), 401, "INVALID_TOTP");
    if (codeOf(ada.secret) !== codeOf(eve.secret)) {
      expectRefusal(await signIn(ada.client, codeOf(eve.secret)), 401, "INVALID_TOTP");
    }
    expect((await signIn(eve.client, eve.recoveryCodes[0])).status).toBe(200);
  });

  test("refuses a secret that was copied to the row of another account", async () => {
    const [ada, eve] = [await memberWithTwoFactor(), await memberWithTwoFactor()];
    const [adaId, eveId] = await Promise.all(
      [ada, eve].map(async ({ client }) => (await client.get<{ id: string }>("/api/settings")).body.id),
    );
    await server.kernel.database.write([
      {
        sql: "UPDATE two_factor SET secret = (SELECT secret FROM two_factor WHERE user_id = ?) WHERE user_id = ?",
        args: [eveId ?? "", adaId ?? ""],
      },
    ]);
    const answer = await signIn(ada.client, codeOf(eve.secret));
    expectRefusal(answer, 500, "INTERNAL");
    expect(answer.headers.getSetCookie()).toEqual([]);
    expect((await signIn(ada.client, ada.recoveryCodes[0])).status).toBe(200);
  });
});

describe("turning it off", () => {
  test("requires the password and a valid code, and sends a mail", async () => {
    const { client, secret } = await memberWithTwoFactor();
    await verifyEmail(server, client.account.email);
    expectRefusal(await disable(client, codeOf(secret), "wrong password"), 401, "BAD_CREDENTIALS");
    expectRefusal(await disable(client, wrongCode(secret)), 400, "INVALID_CODE");
    expectRefusal(await disable(client, ""), 400, "INVALID_INPUT");
    expectRefusal(await client.delete("/api/settings/2fa", { password }), 400, "INVALID_INPUT");
    expect(await isEnabled(client)).toBe(true);
    const mails = async () => (await server.kernel.database.read("SELECT 1 FROM jobs WHERE kind = 'mail'")).rows.length;
    const before = await mails();
    expect((await disable(client, codeOf(secret))).body).toEqual({ success: true, twoFactorEnabled: false });
    expect(await mails()).toBe(before + 1);
    expect(await isEnabled(client)).toBe(false);
    expect((await signIn(client)).status).toBe(200);
    expectRefusal(await disable(client, codeOf(secret, 1)), 400, "TWO_FACTOR_OFF");
  });

  test("refuses the code of an earlier sign-in, and accepts a recovery code", async () => {
    const { client, secret, recoveryCodes } = await memberWithTwoFactor();
    const code = codeOf(secret);
    await signIn(client, code);
    expectRefusal(await disable(client, code), 400, "INVALID_CODE");
    expect((await disable(client, recoveryCodes[9])).status).toBe(200);
    const { rows } = await server.kernel.database.read("SELECT count(*) AS n FROM recovery_codes WHERE user_id = ?", [
      (await client.get<{ id: string }>("/api/settings")).body.id,
    ]);
    expect(rows[0]?.n).toBe(0);
  });

  test("and on again creates a new secret and new recovery codes", async () => {
    const { client, secret, recoveryCodes } = await memberWithTwoFactor();
    await disable(client, recoveryCodes[0]);
    const { body } = await begin(client);
    expect(body.secret).not.toBe(secret);
    expect((await confirm(client, codeOf(body.secret))).status).toBe(200);
    expectRefusal(await signIn(client, recoveryCodes[1]), 401, "INVALID_TOTP");
    expect((await signIn(client, body.recoveryCodes[1])).status).toBe(200);
  });
});

test("every route is 401 without a session, whatever the body", async () => {
  for (const body of [{}, [], "x"]) {
    for (const answer of [
      await begin(createClient(server.web), body as object),
      await confirm(createClient(server.web), 1),
    ]) {
      expectRefusal(answer, 401, "UNAUTHORIZED");
    }
    expectRefusal(await createClient(server.web).delete("/api/settings/2fa", body), 401, "UNAUTHORIZED");
  }
});

describe("guessing codes with the correct password", () => {
  const env = { RATE_LIMITS: '{"default":"100000/m"}', TRUSTED_PROXIES: "127.0.0.1" };
  const from = (n: number) => ({ "x-forwarded-for": `203.0.113.${n}` });

  async function strict() {
    const own = await openServer({ env });
    const client = createClient(own.web);
    await client.join();
    stopClock();
    const { body } = await begin(client);
    await confirm(client, codeOf(body.secret));
    stopClock(STEP);
    // A cheap hash, since many passwords are checked.
    const { users } = own.app.accounts;
    const passwordHash = await Bun.password.hash(password, { algorithm: "argon2id", memoryCost: 8, timeCost: 1 });
    const id = (await users.byEmail(client.account.email))?.id ?? "";
    await own.kernel.database.write([users.updateStatement(id, { passwordHash })]);
    const attempt = async (totp: string | undefined, n: number) => {
      const { email } = client.account;
      const credentials = { email, password, totp };
      return (await createClient(own.web).post("/api/auth/callback/credentials", credentials, { headers: from(n) }))
        .status;
    };
    return { own, client, attempt, ...body };
  }

  test("is limited to ten per address, and does not lock the owner out elsewhere", async () => {
    const { own, client, attempt, secret, recoveryCodes } = await strict();
    await using _ = own;
    const statuses: number[] = [];
    for (let n = 1; n <= 14; n++) statuses.push(await attempt(wrongCode(secret), 1));
    expect(statuses).toEqual([...Array(10).fill(401), ...Array(4).fill(429)]);
    expect(await attempt(codeOf(secret), 1)).toBe(429);
    expect(await attempt(codeOf(secret), 2)).toBe(200);
    expect(await attempt(recoveryCodes[0], 3)).toBe(200);
    // Guesses at turning two-factor off are limited as well.
    const off = () => disable(client, wrongCode(secret));
    const tried: number[] = [];
    for (let n = 1; n <= 12; n++) tried.push((await off()).status);
    expect(tried).toEqual([...Array(10).fill(400), ...Array(2).fill(429)]);
    expect((await disable(client, recoveryCodes[1])).status).toBe(200);
  });

  test("is limited to thirty over many addresses; recovery codes still work", async () => {
    const { own, client, attempt, secret, recoveryCodes } = await strict();
    await using _ = own;
    const statuses = await Promise.all(Array.from({ length: 40 }, (_, n) => attempt(wrongCode(secret), n + 1)));
    expect(statuses.filter((status) => status === 401)).toHaveLength(30);
    expect(statuses.filter((status) => status === 429)).toHaveLength(10);
    expect(await attempt(codeOf(secret), 99)).toBe(429);
    // Recovery codes have 80 bits, too many to guess, and are not limited.
    expect(await attempt("0000-0000-0000-0000", 98)).toBe(401);
    expect(await attempt(recoveryCodes[0], 99)).toBe(200);
    expect(await attempt(recoveryCodes[0], 97)).toBe(401);
    const moved = await client.post("/api/settings", { email: "new@example.com", totp: recoveryCodes[1] });
    expect(moved.status).toBe(200);
  });

  test("counts as a failed sign-in of the address; a missing code does not", async () => {
    const { own, attempt, secret } = await strict();
    await using _ = own;
    for (let n = 0; n < 15; n++) expect(await attempt(undefined, 1)).toBe(401);
    for (let n = 0; n < 9; n++) await attempt(wrongCode(secret), 1);
    expect(await attempt(codeOf(secret), 1)).toBe(200);
    expect(await attempt(wrongCode(secret), 1)).toBe(401);
    expect(await attempt(undefined, 1)).toBe(429);
  });

  test("can't be exhausted without the password", async () => {
    const { own, client, attempt, secret } = await strict();
    await using _ = own;
    const { email } = client.account;
    for (let n = 1; n <= 12; n++) {
      const credentials = { email, password: "wrong password", totp: wrongCode(secret) };
      await createClient(own.web).post("/api/auth/callback/credentials", credentials, { headers: from(n) });
    }
    expect(await attempt(codeOf(secret), 50)).toBe(200);
  });
});
