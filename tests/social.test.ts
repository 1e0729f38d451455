// Social sign-in on the running service: identity tokens of an issuer, the token gate, and the issuer's keys.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Address } from "viem";
import { type Berth, startBerth } from "./support/berth.ts";
import { createClient } from "./support/client.ts";
import { INVALID_TOKENS } from "./support/invalid-identity-tokens.ts";
import { makeKey, startIssuer } from "./support/jwks.ts";
import { expectRefusal } from "./support/refusal.ts";
import {
  checkGate,
  expectRefusalWithoutTokens,
  GATE,
  openSocialFixture,
  REFRESH,
  refresh,
  type SocialFixture,
  sessionOf,
  startSession,
  VERIFY,
  verify,
  withBearer,
} from "./support/social.ts";
import { createWallet } from "./support/wallets.ts";

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

describe("verify", () => {
  test("a valid token without an address: a session with basic access, without the gate", async () => {
    const { fidToken } = await fixture.newIdentity();
    const { status, body } = await verify(berth, { fidToken });
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        success: true,
        sessionToken: expect.stringMatching(/^[A-Za-z0-9+/]+=*$/),
        refreshToken: expect.stringMatching(/^[A-Za-z0-9+/]+=*$/),
        address: "",
        message: expect.stringMatching(/\S/),
        tokenGated: false,
        accessLevel: "basic",
      },
    });
  });

  test("with a sufficient balance: premium access, with a signed session token for 24 hours", async () => {
    const { fid, fidToken } = await fixture.newIdentity();
    const { body } = await verify(berth, { fidToken, address: sufficient });
    expect(body).toMatchObject({ address: sufficient, tokenGated: true, accessLevel: "premium" });
    const parts = Buffer.from(body.sessionToken, "base64").toString().split(".");
    expect(parts).toHaveLength(3);
    const claims = JSON.parse(Buffer.from(parts[1] ?? "", "base64url").toString());
    expect(claims).toMatchObject({ sub: fid, address: sufficient.toLowerCase() });
    expect(claims.exp - claims.iat).toBe(86_400);
    expect(Math.abs(claims.iat - Date.now() / 1000)).toBeLessThan(30);
  });

  test("with an insufficient balance: 403 with the required minimum", async () => {
    const { fidToken } = await fixture.newIdentity();
    const refusal = expectRefusalWithoutTokens(
      await verify(berth, { fidToken, address: insufficient }),
      403,
      "INSUFFICIENT_BALANCE",
    );
    expect(refusal).toMatchObject({ required: "HARBOUR", minBalance: "25000000" });
  });

  test("no token: 401, not 400, with any other fields", async () => {
    for (const body of [undefined, {}, { fidToken: "" }, { fidToken: null }, { fidToken: 5 }, { fidToken: ["x"] }]) {
      expectRefusalWithoutTokens(await verify(berth, body), 401, "TOKEN_REQUIRED");
    }
    expectRefusalWithoutTokens(await verify(berth, { address: "nonsense" }), 401, "TOKEN_REQUIRED");
    expectRefusalWithoutTokens(
      await verify(berth, { fidToken: "nonsense", address: "nonsense" }),
      401,
      "INVALID_TOKEN",
    );
  });

  test("an invalid address: 400", async () => {
    const { fidToken } = await fixture.newIdentity();
    const bad = [
      1,
      [sufficient],
      " ",
      "0x",
      sufficient.slice(0, -1),
      `${sufficient}0`,
      sufficient.slice(2),
      `0x${"g".repeat(40)}`,
      `${sufficient}\n`,
    ];
    for (const address of bad) {
      const { issues } = expectRefusalWithoutTokens(await verify(berth, { fidToken, address }), 400, "INVALID_INPUT");
      expect(issues?.map(({ path }) => path)).toEqual(["address"]);
    }
    for (const address of [null, ""]) {
      expect(await verify(berth, { fidToken, address })).toMatchObject({
        status: 200,
        body: { address: "", tokenGated: false },
      });
    }
  });

  test.each(Object.entries(INVALID_TOKENS))("%s: 401 without a reason", async (_, forge) => {
    const { message } = expectRefusalWithoutTokens(
      await verify(berth, { fidToken: await forge(fixture.issuer) }),
      401,
      "INVALID_TOKEN",
    );
    expect(message).toBe("This token is not valid or no longer valid. Verify with a new identity token.");
  });

  test("more than a megabyte: 413", async () => {
    expectRefusal(await verify(berth, { fidToken: "a".repeat(1_048_600) }), 413, "BODY_TOO_LARGE");
  });

  test("GET describes the request", async () => {
    const { status, body } = await createClient(berth).get(VERIFY);
    expect({ status, body }).toMatchObject({
      status: 200,
      body: {
        endpoint: VERIFY,
        method: "POST",
        body: { fidToken: expect.any(String), address: expect.any(String) },
        issuer: fixture.issuer.url,
        audience: "berth.example",
        tokenGating: { enabled: true, minBalance: "25000000", token: "HARBOUR", chain: "mainnet_chain" },
      },
    });
    const other = await createClient(berth).get(REFRESH);
    expect(other).toMatchObject({ status: 200, body: { endpoint: REFRESH, method: "POST", expiresIn: 86_400 } });
  });

  test("while the chain is down: 500 and no session if the gate must be checked; else no change", async () => {
    const { fidToken } = await fixture.newIdentity();
    await fixture.chain.stop();
    try {
      const { address } = createWallet();
      expectRefusalWithoutTokens(await verify(berth, { fidToken, address }), 500, "CHAIN_UNAVAILABLE");
      expect((await verify(berth, { fidToken })).status).toBe(200);
    } finally {
      await fixture.chain.start();
    }
    expect((await verify(berth, { fidToken, address: sufficient })).body.accessLevel).toBe("premium");
  });

  test("with the gate off every session has premium access", async () => {
    await using open = await startBerth({ env: { ...fixture.env, GATING_TOKEN_ADDRESS: "" } });
    for (const address of [undefined, insufficient]) {
      const answer = await verify(open, { fidToken: await fixture.issuer.token(), address });
      expect(answer).toMatchObject({
        status: 200,
        body: { tokenGated: false, accessLevel: "premium", address: address ?? "" },
      });
    }
  });
});

describe("the session token at the gate", () => {
  test("works for its own address only, in upper or lower case", async () => {
    const { sessionToken } = await startSession(berth, fixture, sufficient);
    expect((await checkGate(berth, sufficient, sessionToken)).body).toMatchObject({ hasAccess: true });
    expect((await checkGate(berth, sufficient.toLowerCase(), sessionToken)).body).toMatchObject({ hasAccess: true });
    expectRefusal(await checkGate(berth, insufficient, sessionToken), 403, "ADDRESS_NOT_PROVEN");
    const posted = await createClient(berth).post(GATE, { fid: "1", address: insufficient }, withBearer(sessionToken));
    expectRefusal(posted, 403, "ADDRESS_NOT_PROVEN");
    // Without a session token any address may be checked.
    expect((await createClient(berth).get(`${GATE}?address=${insufficient}`)).status).toBe(200);
  });

  test("works with its own fid only", async () => {
    const { fid, fidToken } = await fixture.newIdentity();
    const { body: session } = await verify(berth, { fidToken, address: sufficient });
    const post = (given: string) =>
      createClient(berth).post(GATE, { fid: given, address: sufficient }, withBearer(session.sessionToken));
    expect(await post(fid)).toMatchObject({ status: 200, body: { fid, hasAccess: true } });
    for (const other of [(await fixture.newIdentity()).fid, `0${fid}`])
      expectRefusal(await post(other), 403, "FID_NOT_PROVEN");
    // Without a session the fid is only returned.
    const anyone = await createClient(berth).post(GATE, { fid: "1", address: sufficient });
    expect(anyone).toMatchObject({ status: 200, body: { fid: "1" } });
  });

  test("of a session without an address works for none", async () => {
    const { sessionToken } = await startSession(berth, fixture);
    expectRefusal(await checkGate(berth, sufficient, sessionToken), 403, "ADDRESS_NOT_PROVEN");
  });

  test("that was changed or has another purpose: 401", async () => {
    const { sessionToken, refreshToken } = await startSession(berth, fixture, sufficient);
    const [header, claims = "", mac] = Buffer.from(sessionToken, "base64").toString().split(".");
    const payload = JSON.parse(Buffer.from(claims, "base64url").toString());
    const encoded = (part: object) => Buffer.from(JSON.stringify(part)).toString("base64url");
    const packed = (...parts: (string | undefined)[]) => Buffer.from(parts.join(".")).toString("base64");
    const fakes = [
      refreshToken,
      packed(header, encoded({ ...payload, address: insufficient.toLowerCase() }), mac),
      packed(header, encoded({ ...payload, exp: payload.exp + 1 }), mac),
      packed(encoded({ alg: "none" }), claims, ""),
      packed(header, claims, ""),
      packed(header, claims),
      packed(header, claims, mac, "x"),
      Buffer.from(sessionToken, "base64").toString(),
      `${sessionToken.slice(0, 40)}!${sessionToken.slice(41)}`,
      await fixture.issuer.token(),
    ];
    for (const fake of fakes) {
      expectRefusal(await checkGate(berth, sufficient, fake), 401, "UNAUTHORIZED");
      expect(await sessionOf(berth, fake)).toEqual({ user: null, expires: null });
    }
  });
});

describe("the issuer", () => {
  test("rotates its keys: new tokens are accepted at once", async () => {
    const old = await fixture.issuer.token();
    await fixture.issuer.rotate({ alg: "ES256" });
    expect((await verify(berth, { fidToken: await fixture.issuer.token() })).status).toBe(200);
    expectRefusalWithoutTokens(await verify(berth, { fidToken: old }), 401, "INVALID_TOKEN");
  });

  test("gets only a few requests, even for many tokens with unknown keys", async () => {
    const { privateKey } = await makeKey();
    const before = fixture.issuer.requests;
    const crowd = Array.from({ length: 50 }, async (_, index) => {
      const fidToken = await fixture.issuer.token({
        header: { alg: "RS256", kid: `unknown-${index}` },
        key: privateKey,
      });
      expectRefusalWithoutTokens(await verify(berth, { fidToken }), 401, "INVALID_TOKEN");
    });
    await Promise.all(crowd);
    expect(fixture.issuer.requests - before).toBeLessThanOrEqual(3);
  });

  test("is down: without its keys no token is accepted; with cached keys every valid token is", async () => {
    await using own = await startIssuer();
    await using service = await startBerth({ env: { ...fixture.env, SOCIAL_ISSUER: own.url } });
    own.trouble = "down";
    expectRefusalWithoutTokens(await verify(service, { fidToken: await own.token() }), 500, "ISSUER_UNAVAILABLE");
    own.trouble = undefined;
    const { refreshToken } = (await verify(service, { fidToken: await own.token() })).body;
    await own.stop();
    expect((await verify(service, { fidToken: await own.token() })).status).toBe(200);
    expect((await refresh(service, refreshToken)).status).toBe(200);
  });
});
