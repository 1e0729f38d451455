// Social identity on the running service: tokens of an issuer, and what they open.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Address } from "viem";
import { type Berth, startBerth } from "./support/berth.ts";
import { createClient } from "./support/client.ts";
import { FORGED } from "./support/forged.ts";
import { makeKey, startIssuer } from "./support/jwks.ts";
import { expectRefusal } from "./support/scene.ts";
import {
  as,
  begin,
  expectNothing,
  GATE,
  gate,
  openSocialScene,
  REFRESH,
  refresh,
  type SocialScene,
  sessionOf,
  VERIFY,
  verify,
} from "./support/social.ts";
import { createWallet } from "./support/wallets.ts";

let scene: SocialScene;
let rich: Address;
let poor: Address;
let berth: Berth;
beforeAll(async () => {
  scene = await openSocialScene();
  ({ rich, poor } = scene);
  berth = await startBerth({ env: scene.env });
}, 60_000);
afterAll(async () => {
  await berth?.[Symbol.asyncDispose]();
  await scene?.[Symbol.asyncDispose]();
});

describe("verify", () => {
  test("a good token without an address: a session, basic, the gate not checked", async () => {
    const { fidToken } = await scene.stranger();
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

  test("with an address that holds enough: premium; the session token is signed, and good for 24 hours", async () => {
    const { fid, fidToken } = await scene.stranger();
    const { body } = await verify(berth, { fidToken, address: rich });
    expect(body).toMatchObject({ address: rich, tokenGated: true, accessLevel: "premium" });
    const parts = Buffer.from(body.sessionToken, "base64").toString().split(".");
    expect(parts).toHaveLength(3);
    const claims = JSON.parse(Buffer.from(parts[1] ?? "", "base64url").toString());
    expect(claims).toMatchObject({ sub: fid, address: rich.toLowerCase() });
    expect(claims.exp - claims.iat).toBe(86_400);
    expect(Math.abs(claims.iat - Date.now() / 1000)).toBeLessThan(30);
  });

  test("with one that holds too little: 403, and what is asked for", async () => {
    const { fidToken } = await scene.stranger();
    const refusal = expectNothing(await verify(berth, { fidToken, address: poor }), 403, "INSUFFICIENT_BALANCE");
    expect(refusal).toMatchObject({ required: "HARBOUR", minBalance: "25000000" });
  });

  test("no token: 401, not 400, whatever else is in the body", async () => {
    for (const body of [undefined, {}, { fidToken: "" }, { fidToken: null }, { fidToken: 5 }, { fidToken: ["x"] }]) {
      expectNothing(await verify(berth, body), 401, "TOKEN_REQUIRED");
    }
    expectNothing(await verify(berth, { address: "nonsense" }), 401, "TOKEN_REQUIRED");
    expectNothing(await verify(berth, { fidToken: "nonsense", address: "nonsense" }), 401, "INVALID_TOKEN");
  });

  test("what is no address: 400", async () => {
    const { fidToken } = await scene.stranger();
    const bad = [
      1,
      [rich],
      " ",
      "0x",
      rich.slice(0, -1),
      `${rich}0`,
      rich.slice(2),
      `0x${"g".repeat(40)}`,
      `${rich}\n`,
    ];
    for (const address of bad) {
      const { issues } = expectNothing(await verify(berth, { fidToken, address }), 400, "INVALID_INPUT");
      expect(issues?.map(({ path }) => path)).toEqual(["address"]);
    }
    for (const address of [null, ""]) {
      expect(await verify(berth, { fidToken, address })).toMatchObject({
        status: 200,
        body: { address: "", tokenGated: false },
      });
    }
  });

  test.each(Object.entries(FORGED))("%s: 401, and not a word about why", async (_, forge) => {
    const { message } = expectNothing(
      await verify(berth, { fidToken: await forge(scene.issuer) }),
      401,
      "INVALID_TOKEN",
    );
    expect(message).toBe("This token is not valid or no longer valid. Verify with a new identity token.");
  });

  test("more than a megabyte: 413", async () => {
    expectRefusal(await verify(berth, { fidToken: "a".repeat(1_048_600) }), 413, "BODY_TOO_LARGE");
  });

  test("GET tells what it takes", async () => {
    const { status, body } = await createClient(berth).get(VERIFY);
    expect({ status, body }).toMatchObject({
      status: 200,
      body: {
        endpoint: VERIFY,
        method: "POST",
        body: { fidToken: expect.any(String), address: expect.any(String) },
        issuer: scene.issuer.url,
        audience: "berth.example",
        tokenGating: { enabled: true, minBalance: "25000000", token: "HARBOUR", chain: "mainnet_chain" },
      },
    });
    const other = await createClient(berth).get(REFRESH);
    expect(other).toMatchObject({ status: 200, body: { endpoint: REFRESH, method: "POST", expiresIn: 86_400 } });
  });

  test("with the chain down: 500 where the gate has to be checked, and no session; as ever where not", async () => {
    const { fidToken } = await scene.stranger();
    await scene.chain.stop();
    try {
      const { address } = createWallet();
      expectNothing(await verify(berth, { fidToken, address }), 500, "CHAIN_UNAVAILABLE");
      expect((await verify(berth, { fidToken })).status).toBe(200);
    } finally {
      await scene.chain.start();
    }
    expect((await verify(berth, { fidToken, address: rich })).body.accessLevel).toBe("premium");
  }, 30_000);

  test("with the gate off everybody is premium, and nothing is gated", async () => {
    await using open = await startBerth({ env: { ...scene.env, GATING_TOKEN_ADDRESS: "" } });
    for (const address of [undefined, poor]) {
      const answer = await verify(open, { fidToken: await scene.issuer.token(), address });
      expect(answer).toMatchObject({
        status: 200,
        body: { tokenGated: false, accessLevel: "premium", address: address ?? "" },
      });
    }
  });
});

describe("the session token at the gate", () => {
  test("is good for its own address, in any case, and for no other", async () => {
    const { sessionToken } = await begin(berth, scene, rich);
    expect((await gate(berth, rich, sessionToken)).body).toMatchObject({ hasAccess: true });
    expect((await gate(berth, rich.toLowerCase(), sessionToken)).body).toMatchObject({ hasAccess: true });
    expectRefusal(await gate(berth, poor, sessionToken), 403, "ADDRESS_NOT_PROVEN");
    const posted = await createClient(berth).post(GATE, { fid: "1", address: poor }, as(sessionToken));
    expectRefusal(posted, 403, "ADDRESS_NOT_PROVEN");
    // Without one anybody may ask for any.
    expect((await createClient(berth).get(`${GATE}?address=${poor}`)).status).toBe(200);
  });

  test("that was given without an address is good for none", async () => {
    const { sessionToken } = await begin(berth, scene);
    expectRefusal(await gate(berth, rich, sessionToken), 403, "ADDRESS_NOT_PROVEN");
  });

  test("is none when it was changed, or is for something else: 401", async () => {
    const { sessionToken, refreshToken } = await begin(berth, scene, rich);
    const [header, claims = "", mac] = Buffer.from(sessionToken, "base64").toString().split(".");
    const said = JSON.parse(Buffer.from(claims, "base64url").toString());
    const encoded = (part: object) => Buffer.from(JSON.stringify(part)).toString("base64url");
    const packed = (...parts: (string | undefined)[]) => Buffer.from(parts.join(".")).toString("base64");
    const fakes = [
      refreshToken,
      packed(header, encoded({ ...said, address: poor.toLowerCase() }), mac),
      packed(header, encoded({ ...said, exp: said.exp + 1 }), mac),
      packed(encoded({ alg: "none" }), claims, ""),
      packed(header, claims, ""),
      packed(header, claims),
      packed(header, claims, mac, "x"),
      Buffer.from(sessionToken, "base64").toString(),
      `${sessionToken.slice(0, 40)}!${sessionToken.slice(41)}`,
      await scene.issuer.token(),
    ];
    for (const fake of fakes) {
      expectRefusal(await gate(berth, rich, fake), 401, "UNAUTHORIZED");
      expect(await sessionOf(berth, fake)).toEqual({ user: null, expires: null });
    }
  });
});

describe("the issuer", () => {
  test("changes its keys: new tokens are taken at once", async () => {
    const old = await scene.issuer.token();
    await scene.issuer.rotate({ alg: "ES256" });
    expect((await verify(berth, { fidToken: await scene.issuer.token() })).status).toBe(200);
    expectNothing(await verify(berth, { fidToken: old }), 401, "INVALID_TOKEN");
  });

  test("is asked a few times at most, whatever keys a crowd of tokens names", async () => {
    const { privateKey } = await makeKey();
    const before = scene.issuer.asked;
    const crowd = Array.from({ length: 50 }, async (_, index) => {
      const fidToken = await scene.issuer.token({ header: { alg: "RS256", kid: `unknown-${index}` }, key: privateKey });
      expectNothing(await verify(berth, { fidToken }), 401, "INVALID_TOKEN");
    });
    await Promise.all(crowd);
    expect(scene.issuer.asked - before).toBeLessThanOrEqual(3);
  });

  test("is down: without its keys nobody is let in; once they are known, everybody who has a good token is", async () => {
    await using own = await startIssuer();
    await using house = await startBerth({ env: { ...scene.env, SOCIAL_ISSUER: own.url } });
    own.trouble = "down";
    expectNothing(await verify(house, { fidToken: await own.token() }), 500, "ISSUER_UNAVAILABLE");
    own.trouble = undefined;
    const { refreshToken } = (await verify(house, { fidToken: await own.token() })).body;
    await own.stop();
    expect((await verify(house, { fidToken: await own.token() })).status).toBe(200);
    expect((await refresh(house, refreshToken)).status).toBe(200);
  });
});
