// Sign-in: wrong passwords and unknown addresses look the same, and limits on guessing do not lock out others.
import { afterEach, beforeEach, describe, expect, spyOn, test } from "bun:test";
import { createClient } from "../../../tests/support/client.ts";
import { temporaryDir } from "../../../tests/support/process.ts";
import { expectRefusal } from "../../../tests/support/refusal.ts";
import { openServer, type TestServer, type TestServerOptions } from "../../../tests/support/server.ts";

let server: TestServer;
const open = async (options: TestServerOptions = {}) => {
  server = await openServer({
    env: { RATE_LIMITS: '{"default":"100000/m"}', TRUSTED_PROXIES: "127.0.0.1" },
    ...options,
  });
};
beforeEach(() => open());
afterEach(() => server?.[Symbol.asyncDispose]());

const PASSWORD = "correct horse battery";
/** Uses a cheap hash; passwords.test.ts tests the real parameters. */
const account = async (email: string) => {
  const passwordHash = await Bun.password.hash(PASSWORD, { algorithm: "argon2id", memoryCost: 8, timeCost: 1 });
  return server.app.accounts.users.create({ email, name: "Ada", passwordHash });
};
const signIn = async (email: string, password: string, address = "203.0.113.7") => {
  const client = createClient(server.web);
  const headers = { "x-forwarded-for": address };
  const answer = await client.post("/api/auth/callback/credentials", { email, password }, { headers });
  return { client, answer, status: answer.status };
};
const many = async (count: number, one: (n: number) => Promise<{ status: number }>) => {
  const seen: Record<number, number> = {};
  for (const { status } of await Promise.all(Array.from({ length: count }, (_, n) => one(n)))) {
    seen[status] = (seen[status] ?? 0) + 1;
  }
  return seen;
};

test("an unknown address and a wrong password get identical responses", async () => {
  await account("ada@example.com");
  await server.app.accounts.users.create({ email: "0xabc@wallet.invalid", passwordHash: null });
  const answers = [
    await signIn("ada@example.com", "wrong password"),
    await signIn("nobody@example.com", PASSWORD),
    await signIn("0xabc@wallet.invalid", PASSWORD),
    await signIn("no address", PASSWORD),
    await signIn("ada@example.com", PASSWORD.toUpperCase()),
  ];
  for (const { answer, client } of answers) {
    expectRefusal(answer, 401, "BAD_CREDENTIALS");
    expect(answer.text).toBe(answers[0]?.answer.text ?? "");
    expect([...answer.headers.keys()].sort()).toEqual([...(answers[0]?.answer.headers.keys() ?? [])].sort());
    expect(client.cookie).toBe("");
  }
});

test("the address is normalised", async () => {
  await account("jos\u00e9@example.com");
  expect((await signIn("  JOSE\u0301@Example.com ", PASSWORD)).status).toBe(200);
});

describe("guessing passwords", () => {
  test("is limited to ten failures per account and address, sequential or concurrent", async () => {
    await account("ada@example.com");
    expect(await many(25, (n) => signIn("ada@example.com", `guess ${n}`))).toEqual({ 401: 10, 429: 15 });
    const { answer } = await signIn("ada@example.com", PASSWORD);
    expectRefusal(answer, 429, "RATE_LIMITED");
    expect(Number(answer.headers.get("retry-after"))).toBeWithin(1, 901);
    expect(answer.headers.get("ratelimit-policy")).toBe('"sign-in";q=10;w=900');
    // Other spellings are the same account.
    expectRefusal((await signIn(" ADA@example.COM", PASSWORD)).answer, 429, "RATE_LIMITED");
  });

  test("locks out neither the owner at other addresses nor other accounts at this one", async () => {
    await account("ada@example.com");
    await account("bob@example.com");
    await many(12, (n) => signIn("ada@example.com", `guess ${n}`));
    expect((await signIn("ada@example.com", PASSWORD, "198.51.100.1")).status).toBe(200);
    expect((await signIn("bob@example.com", PASSWORD)).status).toBe(200);
  });

  test("is limited to thirty failures per address or IPv6 network over all accounts", async () => {
    for (const address of [() => "203.0.113.7", (n: number) => `2001:db8::${n.toString(16)}`]) {
      expect(await many(40, (n) => signIn(`nobody-${n}@example.com`, "guess", address(n)))).toEqual({
        401: 30,
        429: 10,
      });
    }
    await account("ada@example.com");
    expect((await signIn("ada@example.com", PASSWORD)).status).toBe(429);
    expect((await signIn("ada@example.com", PASSWORD, "2001:db8:0:1::1")).status).toBe(200);
  });

  test("past the limit costs no hashing", async () => {
    await account("ada@example.com");
    await many(10, (n) => signIn("ada@example.com", `guess ${n}`));
    const verify = spyOn(Bun.password, "verify");
    expect(await many(100, () => signIn("ada@example.com", "guess"))).toEqual({ 429: 100 });
    expect(verify).not.toHaveBeenCalled();
    verify.mockRestore();
  });

  test("stays limited after a restart", async () => {
    const dir = temporaryDir();
    await server[Symbol.asyncDispose]();
    await open({ dir: dir.path });
    await account("ada@example.com");
    await many(10, (n) => signIn("ada@example.com", `guess ${n}`));
    await server[Symbol.asyncDispose]();
    await open({ dir: dir.path });
    expect((await signIn("ada@example.com", PASSWORD)).status).toBe(429);
    dir.remove();
  });
});

describe("a correct password", () => {
  test("never counts as a failure, also for many concurrent sign-ins", async () => {
    await account("ada@example.com");
    expect(await many(60, () => signIn("ada@example.com", PASSWORD))).toEqual({ 200: 60 });
  });

  test("takes two units of the default rate of its address", async () => {
    await server[Symbol.asyncDispose]();
    await open({ env: { RATE_LIMITS: '{"default":"20/m"}', TRUSTED_PROXIES: "127.0.0.1" } });
    await account("ada@example.com");
    expect(await many(15, () => signIn("ada@example.com", PASSWORD))).toEqual({ 200: 10, 429: 5 });
    expect((await signIn("ada@example.com", PASSWORD, "198.51.100.1")).status).toBe(200);
  });

  test("does not reset earlier failures", async () => {
    await account("ada@example.com");
    await many(9, (n) => signIn("ada@example.com", `guess ${n}`));
    expect((await signIn("ada@example.com", PASSWORD)).status).toBe(200);
    expect((await signIn("ada@example.com", "one more")).status).toBe(401);
    expect((await signIn("ada@example.com", PASSWORD)).status).toBe(429);
  });
});

test("ACCOUNT_DISABLED is shown only after the correct password", async () => {
  const { id } = await account("ada@example.com");
  await server.kernel.database.write([{ sql: "UPDATE users SET disabled_at = 1 WHERE id = ?", args: [id] }]);
  expectRefusal((await signIn("ada@example.com", "wrong password")).answer, 401, "BAD_CREDENTIALS");
  const { answer, client } = await signIn("ada@example.com", PASSWORD);
  expectRefusal(answer, 403, "ACCOUNT_DISABLED");
  expect(client.cookie).toBe("");
});
