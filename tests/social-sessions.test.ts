// Sessions of social identities on the running service: single-use refresh tokens, links to accounts, several processes.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Address } from "viem";
import { type Berth, startBerth } from "./support/berth.ts";
import { type Client, createClient } from "./support/client.ts";
import { eventually } from "./support/eventually.ts";
import { INVALID_TOKENS } from "./support/invalid-identity-tokens.ts";
import { openMailbox } from "./support/mailbox.ts";
import { expectRefusal } from "./support/refusal.ts";
import {
  checkGate,
  expectRefusalWithoutTokens,
  LINK,
  openSocialFixture,
  REFRESH,
  refresh,
  type SocialFixture,
  sessionOf,
  startSession,
  type Tokens,
  verify,
  withBearer,
} from "./support/social.ts";
import { type Sqld, startSqld } from "./support/sqld.ts";

let fixture: SocialFixture;
let sufficient: Address;
let insufficient: Address;
let berth: Berth;
beforeAll(async () => {
  fixture = await openSocialFixture();
  ({ sufficient, insufficient } = fixture);
  berth = await startBerth({ env: fixture.env });
});
afterAll(async () => {
  await berth?.[Symbol.asyncDispose]();
  await fixture?.[Symbol.asyncDispose]();
});

describe("refresh", () => {
  test("returns new tokens, once for each refresh token", async () => {
    const first = await startSession(berth, fixture, sufficient);
    const { status, body } = await refresh(berth, first.refreshToken);
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        success: true,
        sessionToken: expect.any(String),
        refreshToken: expect.any(String),
        expiresIn: 86_400,
        message: expect.any(String),
      },
    });
    expect(body.refreshToken).not.toBe(first.refreshToken);
    expect((await checkGate(berth, sufficient, body.sessionToken)).status).toBe(200);
    expectRefusal(await checkGate(berth, insufficient, body.sessionToken), 403, "ADDRESS_NOT_PROVEN");
    expect((await refresh(berth, body.refreshToken)).status).toBe(200);
  });

  test("a reused refresh token ends the session, with its newest refresh token and all session tokens", async () => {
    const [first, other] = [
      await startSession(berth, fixture, sufficient),
      await startSession(berth, fixture, sufficient),
    ];
    const second = (await refresh(berth, first.refreshToken)).body;
    const third = (await refresh(berth, second.refreshToken)).body;
    expectRefusalWithoutTokens(await refresh(berth, first.refreshToken), 401, "INVALID_TOKEN");
    for (const { refreshToken, sessionToken } of [first, second, third]) {
      expectRefusalWithoutTokens(await refresh(berth, refreshToken), 401, "INVALID_TOKEN");
      expectRefusal(await checkGate(berth, sufficient, sessionToken), 401, "UNAUTHORIZED");
    }
    // Other sessions go on.
    expect((await refresh(berth, other.refreshToken)).status).toBe(200);
  });

  test("of twenty requests at once exactly one succeeds, and the session ends", async () => {
    const { refreshToken } = await startSession(berth, fixture);
    const answers = await Promise.all(Array.from({ length: 20 }, () => refresh(berth, refreshToken)));
    const won = answers.filter(({ status }) => status === 200);
    expect(won).toHaveLength(1);
    for (const answer of answers.filter(({ status }) => status !== 200))
      expectRefusalWithoutTokens(answer, 401, "INVALID_TOKEN");
    expectRefusalWithoutTokens(await refresh(berth, won[0]?.body.refreshToken), 401, "INVALID_TOKEN");
  });

  test("a forged refresh token ends no session", async () => {
    const { refreshToken, sessionToken } = await startSession(berth, fixture, sufficient);
    const [header, claims = "", mac = ""] = Buffer.from(refreshToken, "base64").toString().split(".");
    const payload = JSON.parse(Buffer.from(claims, "base64url").toString());
    const older = Buffer.from(JSON.stringify({ ...payload, generation: -1 })).toString("base64url");
    for (const parts of [
      [header, older, mac],
      [header, claims, "A".repeat(mac.length)],
    ]) {
      expectRefusalWithoutTokens(
        await refresh(berth, Buffer.from(parts.join(".")).toString("base64")),
        401,
        "INVALID_TOKEN",
      );
    }
    expectRefusalWithoutTokens(await refresh(berth, sessionToken), 401, "INVALID_TOKEN");
    expect((await refresh(berth, refreshToken)).status).toBe(200);
  });

  test("garbage: 401; a missing token: 400", async () => {
    const noise = Buffer.from(crypto.getRandomValues(new Uint8Array(300))).toString("base64");
    const json = Buffer.from('{"fid":1,"exp":99999999999}').toString("base64");
    const garbage = [
      "x",
      "====",
      "!!!",
      noise,
      json,
      "Li4=",
      "e30uZTMwLg==",
      "null",
      "A".repeat(900_000),
      await fixture.issuer.token(),
    ];
    for (const text of garbage) expectRefusalWithoutTokens(await refresh(berth, text), 401, "INVALID_TOKEN");
    for (const body of [
      undefined,
      {},
      { refreshToken: "" },
      { refreshToken: null },
      { refreshToken: 1 },
      { refreshToken: ["x"] },
    ]) {
      expectRefusalWithoutTokens(await createClient(berth).post(REFRESH, body), 400, "INVALID_INPUT");
    }
  });

  test("only the twenty newest sessions of one fid stay valid", async () => {
    const { fidToken } = await fixture.newIdentity();
    const begun: Tokens[] = [];
    for (let i = 0; i < 22; i++) begun.push((await verify(berth, { fidToken })).body);
    const statuses: number[] = [];
    for (const { refreshToken } of begun) statuses.push((await refresh(berth, refreshToken)).status);
    expect(statuses).toEqual([401, 401, ...Array.from({ length: 20 }, () => 200)]);
  });
});

describe("a fid and an account", () => {
  let ada: Client;
  let adaId: string;
  beforeAll(async () => {
    ada = createClient(berth);
    adaId = await ada.join();
  });
  const link = (client: Client, fidToken: unknown) =>
    client.post<{ success: boolean; fid: string; linkedAt: string; message: string }>(LINK, { fidToken });

  test("are unrelated until they are linked; then a session token names the account, and gives no other access", async () => {
    const { fid, fidToken } = await fixture.newIdentity();
    const { sessionToken } = (await verify(berth, { fidToken })).body;
    expect(await sessionOf(berth, sessionToken)).toEqual({ user: null, expires: null });
    expect((await ada.get(LINK)).body).toEqual({ fid: null, linkedAt: null });

    const { status, body } = await link(ada, fidToken);
    expect({ status, body }).toEqual({
      status: 200,
      body: { success: true, fid, linkedAt: expect.any(String), message: expect.any(String) },
    });
    expect((await ada.get(LINK)).body).toMatchObject({ fid });
    const { user, expires } = await sessionOf(berth, sessionToken);
    expect(user).toEqual({ id: adaId, email: ada.account.email, name: ada.account.name });
    expect(Math.abs(Date.parse(expires ?? "") - Date.now() - 86_400_000)).toBeLessThan(60_000);
    const anybody = createClient(berth);
    for (const path of ["/api/settings", "/api/keys", LINK, "/api/auth/sessions"]) {
      expectRefusal(await anybody.get(path, withBearer(sessionToken)), 401, "UNAUTHORIZED");
    }
    expectRefusal(await anybody.post(LINK, { fidToken }, withBearer(sessionToken)), 401, "UNAUTHORIZED");
    // Later sessions belong to the account, too.
    expect((await sessionOf(berth, (await verify(berth, { fidToken })).body.sessionToken)).user?.id).toBe(adaId);
  });

  test("can be linked again, relinked to another fid, and unlinked", async () => {
    const [one, other] = [await fixture.newIdentity(), await fixture.newIdentity()];
    const { sessionToken } = (await verify(berth, { fidToken: one.fidToken })).body;
    await link(ada, one.fidToken);
    expect((await link(ada, one.fidToken)).body.fid).toBe(one.fid);
    expect((await sessionOf(berth, sessionToken)).user?.id).toBe(adaId);
    expect((await link(ada, other.fidToken)).body.fid).toBe(other.fid);
    expect((await sessionOf(berth, sessionToken)).user).toBeNull();
    expect((await ada.delete(LINK)).status).toBe(200);
    expect((await ada.delete(LINK)).status).toBe(200);
    expect((await ada.get(LINK)).body).toEqual({ fid: null, linkedAt: null });
  });

  test("send one mail for each linked fid", async () => {
    await using mailbox = await openMailbox();
    await using own = await startBerth({ env: { ...fixture.env, SMTP_URL: mailbox.url } });
    const client = createClient(own);
    const { email } = await client.signUp();
    const token = await mailbox.token(email, "verify-email");
    expect((await client.post("/api/auth/verify-email", { token })).status).toBe(200);
    await client.signIn();
    const [one, other] = [await fixture.newIdentity(), await fixture.newIdentity()];
    for (const { fidToken } of [one, one, other]) expect((await link(client, fidToken)).status).toBe(200);
    const notices = () =>
      mailbox
        .of(email)
        .flatMap(({ parsed }) => (parsed.subject?.includes("social identity") ? [parsed.text ?? ""] : []));
    await eventually(() => notices().length === 2);
    for (const { fid } of [one, other])
      expect(notices().filter((text) => text.includes(`identity ${fid} `))).toHaveLength(1);
  });

  test("are unique: linking a fid to a second account is 409, also for all but one of many at once", async () => {
    const { fidToken } = await fixture.newIdentity();
    const people = await Promise.all(
      Array.from({ length: 4 }, async () => {
        const client = createClient(berth);
        await client.join();
        return client;
      }),
    );
    const answers = await Promise.all(people.map((client) => link(client, fidToken)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409]);
    for (const answer of answers.filter(({ status }) => status === 409)) expectRefusal(answer, 409, "SOCIAL_IN_USE");
  });

  test("are linked only with the owner's session and a valid token", async () => {
    const { fidToken } = await fixture.newIdentity();
    expectRefusal(await link(createClient(berth), fidToken), 401, "UNAUTHORIZED");
    const { key } = (await ada.post<{ key: string }>("/api/keys", { name: "k" })).body;
    expectRefusal(await createClient(berth).post(LINK, { fidToken }, withBearer(key)), 403, "SESSION_REQUIRED");
    expectRefusal(await createClient(berth).delete(LINK, {}, withBearer(key)), 403, "SESSION_REQUIRED");
    for (const missing of [undefined, "", null, 1]) expectRefusal(await link(ada, missing), 400, "INVALID_INPUT");
    for (const what of ["no token", "another audience", "no expiry", "another key with the same id"]) {
      expectRefusal(await link(ada, await INVALID_TOKENS[what]?.(fixture.issuer)), 401, "INVALID_TOKEN");
    }
    expect((await ada.get<{ fid: string | null }>(LINK)).body.fid).toBeNull();
  });

  test("are separated when the account is deleted or disabled", async () => {
    const { fidToken } = await fixture.newIdentity();
    const { sessionToken } = (await verify(berth, { fidToken })).body;
    const bob = createClient(berth);
    await bob.join();
    await link(bob, fidToken);
    const { exitCode } = await berth.command("user", "disable", bob.account.email);
    expect(exitCode).toBe(0);
    expect((await sessionOf(berth, sessionToken)).user).toBeNull();
    expect((await berth.command("user", "enable", bob.account.email)).exitCode).toBe(0);
    await bob.signIn();
    expect((await sessionOf(berth, sessionToken)).user?.email).toBe(bob.account.email);
    expect((await bob.delete("/api/settings", { password: bob.account.password })).status).toBe(200);
    expect((await sessionOf(berth, sessionToken)).user).toBeNull();
    expect((await link(ada, fidToken)).status).toBe(200);
  });
});

test("an account reclaim removes the fid that the previous holder linked", async () => {
  await using mailbox = await openMailbox();
  await using service = await startBerth({ env: { ...fixture.env, SMTP_URL: mailbox.url } });
  const previous = createClient(service);
  await previous.join();
  const { email } = previous.account;
  const fidToken = await fixture.issuer.token();
  await previous.post(LINK, { fidToken });
  const { sessionToken } = (await verify(service, { fidToken })).body;
  expect((await sessionOf(service, sessionToken)).user?.email).toBe(email);

  const owner = createClient(service);
  await owner.post("/api/auth/forgot-password", { email });
  const token = await mailbox.token(email, "reset-password");
  expect((await owner.post("/api/auth/reset-password", { token, password: "a new horse battery" })).status).toBe(200);
  expect((await sessionOf(service, sessionToken)).user).toBeNull();
});

test("sessions survive a kill; the data folder contains no token", async () => {
  await using service = await startBerth({ env: fixture.env });
  const { refreshToken, sessionToken } = await startSession(service, fixture, sufficient);
  await service.kill();
  const files = new Bun.Glob("data/**/*").scanSync({ cwd: service.dir, onlyFiles: true, dot: true });
  for (const file of files) {
    const bytes = Buffer.from(await Bun.file(`${service.dir}/${file}`).arrayBuffer());
    for (const secret of [
      refreshToken,
      sessionToken,
      Buffer.from(refreshToken, "base64").toString().split(".")[2] ?? "",
    ]) {
      expect({ file, found: bytes.includes(secret) }).toEqual({ file, found: false });
    }
  }
  await service.restart();
  expect((await checkGate(service, sufficient, sessionToken)).status).toBe(200);
  const next = (await refresh(service, refreshToken)).body;
  await service.restart({ env: { LOG_LEVEL: "debug" } });
  expectRefusalWithoutTokens(await refresh(service, refreshToken), 401, "INVALID_TOKEN");
  expectRefusalWithoutTokens(await refresh(service, next.refreshToken), 401, "INVALID_TOKEN");
  const { stdout, stderr } = service.output();
  for (const secret of [refreshToken, sessionToken, next.refreshToken]) expect(stdout + stderr).not.toContain(secret);
});

describe("two web processes on one database server", () => {
  let sqld: Sqld;
  let backend: Berth;
  let webs: Berth[] = [];
  beforeAll(async () => {
    sqld = await startSqld();
    const shared = { ...fixture.env, DATABASE_URL: sqld.url, SECRET_KEY: "social-test-root-key-0123456789abcdefg" };
    backend = await startBerth({ env: { ...shared, ROLE: "backend" } });
    const web = () => startBerth({ env: { ...shared, ROLE: "web", BACKEND_URL: backend.backend } });
    webs = [await web(), await web()];
  });
  afterAll(async () => {
    for (const one of [...webs, backend]) await one?.[Symbol.asyncDispose]();
    await sqld?.stop();
  });

  test("share sessions: linked, refreshed once, ended", async () => {
    const [one = expect.unreachable(), other = expect.unreachable()] = webs;
    const { fidToken } = await fixture.newIdentity();
    const { refreshToken, sessionToken } = (await verify(one, { fidToken, address: sufficient })).body;
    const ada = createClient(one.web);
    await ada.join();
    await ada.post(LINK, { fidToken });
    expect((await sessionOf(other, sessionToken)).user?.email).toBe(ada.account.email);
    const answers = await Promise.all([...Array(20).keys()].map((n) => refresh(n % 2 ? one : other, refreshToken)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    await eventually(async () => (await checkGate(one, sufficient, sessionToken)).status === 401);
    expectRefusal(await checkGate(other, sufficient, sessionToken), 401, "UNAUTHORIZED");
    expect((await sessionOf(other, sessionToken)).user).toBeNull();
  });
});
