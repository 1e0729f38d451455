// The sign-in of programs with a code (RFC 8628): what a person is shown, what the program gets, and what strangers can't do.
import { afterAll, afterEach, beforeAll, describe, expect, setSystemTime, test } from "bun:test";
import * as openid from "openid-client";
import { MINUTE, SECOND } from "../../../src/kernel/util/time.ts";
import { createMember } from "../../../tests/support/account-setup.ts";
import { type Client, createClient } from "../../../tests/support/client.ts";
import { expectRefusal } from "../../../tests/support/refusal.ts";
import { openServer, type TestServer } from "../../../tests/support/server.ts";

let server: TestServer;
beforeAll(async () => {
  server = await openServer();
});
afterAll(() => server?.[Symbol.asyncDispose]());
afterEach(() => setSystemTime());

interface Codes {
  device_code: string;
  user_code: string;
  verification_uri: string;
  verification_uri_complete: string;
  expires_in: number;
  interval: number;
}
interface Answer<Body> {
  status: number;
  body: Body;
}

const GRANT = "urn:ietf:params:oauth:grant-type:device_code";
async function post<Body = Record<string, unknown>>(
  path: string,
  form: Record<string, string> | string,
): Promise<Answer<Body>> {
  const response = await fetch(server.web + path, { method: "POST", body: new URLSearchParams(form) });
  expect(response.headers.get("cache-control")).toContain("no-store");
  return { status: response.status, body: (await response.json()) as Body };
}
async function begin(form: Record<string, string> = {}): Promise<Codes> {
  const answer = await post<Codes>("/api/auth/device", { client_id: "berth", device_name: "atlas", ...form });
  expect(answer.status).toBe(200);
  return answer.body;
}
const poll = ({ device_code }: Codes, form: Record<string, string> = {}) =>
  post("/api/auth/device/token", { grant_type: GRANT, device_code, client_id: "berth", ...form });
const look = (client: Client, code: string) =>
  client.post<Record<string, unknown>>("/api/auth/device/request", { code });
const decide = (client: Client, code: string, body: object = { approved: true, scopes: ["read", "write", "chat"] }) =>
  client.post("/api/auth/device/decision", { code, ...body });
const member = async () => (await createMember(server)).client;
const withKey = (key: unknown, path = "/api/settings") =>
  createClient(server.web).get<{ email: string }>(path, { headers: { authorization: `Bearer ${key}` } });
const stored = async () => JSON.stringify((await server.kernel.database.read("SELECT * FROM device_sign_ins")).rows);

describe("a program that begins", () => {
  test("gets a code for itself, a short one for the person, and the address of the page", async () => {
    const codes = await begin();
    expect(codes).toEqual({
      device_code: expect.stringMatching(/^bdc_[\w-]{43}$/),
      user_code: expect.stringMatching(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/),
      verification_uri: expect.stringMatching(/\/device$/),
      verification_uri_complete: `${codes.verification_uri}?code=${codes.user_code}`,
      expires_in: 600,
      interval: 5,
    });
    expect(await stored()).not.toContain(codes.device_code);
    expect(await stored()).not.toContain(codes.user_code.replace("-", ""));
  });

  test.each([
    [{ client_id: "" }, "invalid_request"],
    [{ client_id: "x".repeat(65) }, "invalid_request"],
    [{ client_id: "two\nlines" }, "invalid_request"],
    [{ client_id: "gnp.exe\u202etxt" }, "invalid_request"],
    [{ device_name: "\u0007" }, "invalid_request"],
    [{ scope: "admin" }, "invalid_scope"],
    [{ scope: "read read admin" }, "invalid_scope"],
    [{ scope: "" }, "invalid_scope"],
  ])("is refused for %j", async (form, error) => {
    const answer = await post<Codes>("/api/auth/device", { client_id: "berth", ...form });
    expect(answer).toMatchObject({ status: 400, body: { error, code: error.toUpperCase() } });
  });

  test("is refused if a parameter comes twice", async () => {
    expect((await post("/api/auth/device", "client_id=a&client_id=b")).body.error).toBe("invalid_request");
  });
});

describe("the person", () => {
  test("sees what asks, from where, and for which account", async () => {
    const ada = await member();
    const codes = await begin({ scope: "chat read" });
    expect((await look(ada, codes.user_code)).body).toEqual({
      code: codes.user_code,
      client: "berth",
      device: "atlas",
      address: "127.0.0.1",
      isSameAddress: true,
      scopes: ["read", "chat"],
      createdAt: expect.stringMatching(/Z$/),
      account: ada.account.email,
    });
  });

  test("may type the code in any case, with or without its dash", async () => {
    const ada = await member();
    const { user_code: code } = await begin();
    for (const typed of [code.toLowerCase(), code.replace("-", ""), ` ${code.replace("-", " ")} `]) {
      expect((await look(ada, typed)).status).toBe(200);
    }
  });

  test("needs a session: a key can't approve another key", async () => {
    const { user_code: code } = await begin();
    expectRefusal(await look(createClient(server.web), code), 401, "UNAUTHORIZED");
    const { key } = (await (await member()).post<{ key: string }>("/api/keys", { name: "k" })).body;
    const headers = { authorization: `Bearer ${key}` };
    for (const path of ["request", "decision"]) {
      const body = { code, approved: true, scopes: ["read"] };
      expectRefusal(
        await createClient(server.web).post(`/api/auth/device/${path}`, body, { headers }),
        403,
        "SESSION_REQUIRED",
      );
    }
  });

  test("gets 404 for a code that nobody waits with", async () => {
    const ada = await member();
    expectRefusal(await look(ada, "BBBB-BBBB"), 404, "CODE_NOT_FOUND");
    expectRefusal(await decide(ada, "BBBB-BBBB"), 404, "CODE_NOT_FOUND");
    expectRefusal(await decide(ada, "BBBB-BBBB", { approved: false }), 404, "CODE_NOT_FOUND");
  });
});

describe("the program polls", () => {
  test("and gets a key with the granted scopes, once the person has approved", async () => {
    const ada = await member();
    const codes = await begin({ scope: "read chat" });
    const now = Date.now();
    setSystemTime(now);
    expect(await poll(codes)).toMatchObject({ status: 400, body: { error: "authorization_pending" } });
    expect((await decide(ada, codes.user_code, { approved: true, scopes: ["read", "write"] })).status).toBe(200);
    setSystemTime(now + 5 * SECOND);
    const { status, body } = await poll(codes);
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        access_token: expect.stringMatching(/^bk_/),
        token_type: "Bearer",
        expires_in: 90 * 24 * 3600,
        // Not `write`, which was granted but not asked for.
        scope: "read",
        account: ada.account.email,
      },
    });
    expect((await withKey(body.access_token)).body.email).toBe(ada.account.email);
    const { keys } = (await ada.get<{ keys: { name: string; scopes: string[] }[] }>("/api/keys")).body;
    expect(keys).toMatchObject([{ name: "berth on atlas", scopes: ["read"] }]);
  });

  test("only one of several polls gets the key, and later ones none", async () => {
    const ada = await member();
    const codes = await begin();
    await decide(ada, codes.user_code);
    const answers = await Promise.all([poll(codes), poll(codes), poll(codes)]);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect((await poll(codes)).body.error).toBe("expired_token");
    expect((await ada.get<{ count: number }>("/api/keys")).body.count).toBe(1);
  });

  test("too often, and has to wait five seconds longer each time", async () => {
    const codes = await begin();
    const now = Date.now();
    const at = async (seconds: number) => {
      setSystemTime(now + seconds * SECOND);
      return (await poll(codes)).body.error;
    };
    expect(await at(0)).toBe("authorization_pending");
    expect(await at(2)).toBe("slow_down");
    expect(await at(7)).toBe("slow_down");
    expect(await at(20)).toBe("slow_down");
    expect(await at(40)).toBe("authorization_pending");
  });

  test("with a code of its own and under its own name only", async () => {
    const codes = await begin();
    await decide(await member(), codes.user_code);
    expect((await poll(codes, { client_id: "thief" })).body.error).toBe("expired_token");
    expect((await poll(codes, { device_code: "bdc_guess" })).body.error).toBe("expired_token");
    expect((await poll(codes, { grant_type: "password" })).body.error).toBe("unsupported_grant_type");
    expect((await poll(codes, { device_code: "" })).body.error).toBe("invalid_request");
    expect((await poll(codes)).status).toBe(200);
  });

  test("and is told once that the person has refused", async () => {
    const ada = await member();
    const codes = await begin();
    await decide(ada, codes.user_code, { approved: false });
    expectRefusal(await decide(ada, codes.user_code), 404, "CODE_NOT_FOUND");
    expect((await poll(codes)).body.error).toBe("access_denied");
    expect((await poll(codes)).body.error).toBe("expired_token");
  });

  test("until the code expires after ten minutes, for the person too", async () => {
    const ada = await member();
    const codes = await begin();
    setSystemTime(Date.now() + 10 * MINUTE);
    expect((await poll(codes)).body.error).toBe("expired_token");
    expectRefusal(await decide(ada, codes.user_code), 404, "CODE_NOT_FOUND");
    await begin();
    expect(JSON.parse(await stored())).toHaveLength(1);
  });

  test("soon after the approval: one that is not picked up is void after two minutes", async () => {
    const codes = await begin();
    await decide(await member(), codes.user_code);
    setSystemTime(Date.now() + 2 * MINUTE);
    expect((await poll(codes)).body.error).toBe("expired_token");
  });
});

describe("an approval", () => {
  test("is given once, by one person", async () => {
    const [ada, eve] = [await member(), await member()];
    const codes = await begin();
    expect((await decide(ada, codes.user_code)).status).toBe(200);
    expectRefusal(await decide(eve, codes.user_code), 404, "CODE_NOT_FOUND");
    expectRefusal(await look(eve, codes.user_code), 404, "CODE_NOT_FOUND");
    expect((await poll(codes)).body.account).toBe(ada.account.email);
  });

  test("of nothing is refused, and the code stays open", async () => {
    const ada = await member();
    const codes = await begin({ scope: "read" });
    for (const scopes of [[], ["write"]]) {
      expectRefusal(await decide(ada, codes.user_code, { approved: true, scopes }), 400, "INVALID_INPUT");
    }
    expect((await look(ada, codes.user_code)).status).toBe(200);
  });

  test("is refused to an account with fifty keys", async () => {
    const ada = await member();
    await Promise.all(Array.from({ length: 50 }, (_, n) => ada.post("/api/keys", { name: `k${n}` })));
    expectRefusal(await decide(ada, (await begin()).user_code), 409, "TOO_MANY_KEYS");
  });

  test("ends with the account, and when the account changes hands", async () => {
    const ada = await member();
    const codes = await begin();
    await decide(ada, codes.user_code);
    const { id } = (await ada.get<{ id: string }>("/api/settings")).body;
    await server.kernel.database.write([{ sql: "DELETE FROM users WHERE id = ?", args: [id] }]);
    expect((await poll(codes)).body.error).toBe("expired_token");
  });
});

test("a key revokes itself, with any scope, and a session can't be mistaken for one", async () => {
  const ada = await member();
  const codes = await begin({ scope: "chat" });
  await decide(ada, codes.user_code);
  const key = (await poll(codes)).body.access_token;
  const headers = { authorization: `Bearer ${key}` };
  expect((await createClient(server.web).delete("/api/keys/current", undefined, { headers })).status).toBe(200);
  expectRefusal(await withKey(key), 401, "UNAUTHORIZED");
  expectRefusal(await ada.delete("/api/keys/current"), 404, "KEY_NOT_FOUND");
  expectRefusal(await createClient(server.web).delete("/api/keys/current"), 401, "UNAUTHORIZED");
});

test("openid-client signs in without knowing Berth", async () => {
  const ada = await member();
  const config = new openid.Configuration(
    {
      issuer: server.web,
      device_authorization_endpoint: `${server.web}/api/auth/device`,
      token_endpoint: `${server.web}/api/auth/device/token`,
    },
    "library",
    undefined,
    openid.None(),
  );
  openid.allowInsecureRequests(config);
  const begun = await openid.initiateDeviceAuthorization(config, { scope: "read chat" });
  await decide(ada, begun.user_code);
  const tokens = await openid.pollDeviceAuthorizationGrant(config, { ...begun, interval: 0 });
  expect((await withKey(tokens.access_token)).body.email).toBe(ada.account.email);
});

test("codes can't be guessed: looks and decisions are counted by account and by address", async () => {
  await using strict = await openServer({ env: { RATE_LIMITS: '{"default":"100000/m"}' } });
  const { client: eve } = await createMember(strict);
  let refused = 0;
  for (let n = 0; n < 25; n++) {
    const { status } = await look(eve, `BBBB-BBB${"BCDFG"[n % 5]}`);
    if (status === 429) refused += 1;
    else expect(status).toBe(404);
  }
  expect(refused).toBe(5);
  const begun = await Promise.all(
    Array.from({ length: 12 }, () =>
      fetch(`${strict.web}/api/auth/device`, { method: "POST", body: new URLSearchParams({ client_id: "x" }) }),
    ),
  );
  expect(begun.filter(({ status }) => status === 429).length).toBeGreaterThan(0);
});
