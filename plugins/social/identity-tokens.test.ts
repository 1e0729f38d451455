// Tests which identity tokens are accepted, and how the issuer's keys are cached, rotated and used while the issuer
// fails.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { DAY, MINUTE, SECOND } from "../../src/kernel/util/time.ts";
import { INVALID_TOKENS } from "../../tests/support/invalid-identity-tokens.ts";
import { type Issuer, type IssuerTrouble, makeKey, startIssuer } from "../../tests/support/jwks.ts";
import { createIdentityTokens } from "./identity-tokens.ts";
import { createIssuerKeys } from "./issuer-keys.ts";

let issuer: Issuer;
let time: number;
beforeEach(async () => {
  issuer = await startIssuer();
  time = Date.now();
});
afterEach(() => issuer.stop());

function open() {
  const log = { warn: () => undefined };
  const findKey = createIssuerKeys({ issuer: issuer.url, log, timeoutMs: 150, minIntervalMs: 20, now: () => time });
  return createIdentityTokens({ issuer: issuer.url, audience: issuer.audience }, findKey);
}

const expectInvalid = (answer: Promise<string>) =>
  expect(answer).rejects.toMatchObject({
    status: 401,
    code: "INVALID_TOKEN",
    message: expect.not.stringMatching(/aud|exp|sub/),
  });
const expectUnavailable = (answer: Promise<string>) =>
  expect(answer).rejects.toMatchObject({ status: 500, code: "ISSUER_UNAVAILABLE" });

describe("a token is accepted", () => {
  test.each<[string, Record<string, unknown>, string]>([
    ["with all required claims", {}, "12345"],
    ["with a number as its subject, as the issuer writes it", { sub: 9007199254740991 }, "9007199254740991"],
    ["with one audience of several", { aud: ["other.example", "berth.example"] }, "12345"],
    ["of an issuer whose clock is a little ahead", { iat: Math.floor(Date.now() / 1000) + 30 }, "12345"],
  ])("%s", async (_, claims, fid) => {
    expect(await open().verifyFid(await issuer.token({ claims }))).toBe(fid);
  });

  test.each(["ES256", "ES384", "EdDSA", "PS256", "RS256"])("signed with %s", async (alg) => {
    await issuer.rotate({ alg });
    expect(await open().verifyFid(await issuer.token())).toBe("12345");
  });

  test("without a key id if the issuer has only one key", async () => {
    expect(await open().verifyFid(await issuer.token({ header: { kid: undefined } }))).toBe("12345");
  });
});

test.each(Object.entries(INVALID_TOKENS))("a token is refused: %s", async (_, forge) => {
  const tokens = open();
  await expectInvalid(tokens.verifyFid(await forge(issuer)));
  expect(await tokens.verifyFid(await issuer.token())).toBe("12345");
});

test("no keys are fetched for a token that no key could make valid", async () => {
  const tokens = open();
  for (const kind of ["no token", "a megabyte", "the public key as a shared secret", "algorithm none"]) {
    await expectInvalid(tokens.verifyFid((await INVALID_TOKENS[kind]?.(issuer)) ?? expect.unreachable()));
  }
  expect(issuer.requests).toBe(0);
});

describe("the issuer's keys", () => {
  const foreign = makeKey();
  const foreignToken = async (_?: unknown, index = 0) =>
    issuer.token({ header: { alg: "RS256", kid: `unknown-${index}` }, key: (await foreign).privateKey });
  const foreignTokens = () => Promise.all(Array.from({ length: 50 }, foreignToken));

  test("are fetched once for concurrent calls, and kept for ten minutes", async () => {
    const tokens = open();
    const token = await issuer.token();
    await Promise.all(Array.from({ length: 20 }, () => tokens.verifyFid(token)));
    time += 10 * MINUTE - 1;
    await tokens.verifyFid(token);
    expect(issuer.requests).toBe(1);
    time += 1;
    await tokens.verifyFid(token);
    expect(issuer.requests).toBe(2);
  });

  test("are rotated: a token of the new key is accepted at once, one of the removed key is refused", async () => {
    const tokens = open();
    const old = await issuer.token();
    await tokens.verifyFid(old);
    await issuer.rotate({ keep: true });
    await tokens.verifyFid(await issuer.token());
    expect(await tokens.verifyFid(old)).toBe("12345");
    await issuer.rotate();
    expect(await tokens.verifyFid(await issuer.token())).toBe("12345");
    await expectInvalid(tokens.verifyFid(old));
  });

  test("that were withdrawn are used for ten minutes at most", async () => {
    const tokens = open();
    const old = await issuer.token();
    await tokens.verifyFid(old);
    await issuer.rotate();
    expect(await tokens.verifyFid(old)).toBe("12345");
    time += 10 * MINUTE;
    await expectInvalid(tokens.verifyFid(old));
  });

  test("are not fetched again for every token with an unknown key id", async () => {
    const tokens = open();
    await tokens.verifyFid(await issuer.token());
    const settle = (all: string[]) => Promise.allSettled(all.map(tokens.verifyFid));
    expect((await settle(await foreignTokens())).map(({ status }) => status)).toEqual(Array(50).fill("rejected"));
    expect(issuer.requests).toBe(2);
    // A new key is found nevertheless.
    await issuer.rotate();
    const [foreign, valid] = [await foreignTokens(), await issuer.token()];
    expect((await settle([...foreign, valid])).at(-1)).toEqual({ status: "fulfilled", value: "12345" });
    expect(issuer.requests).toBe(3);
  });

  test.each<IssuerTrouble>(["down", "hang", "html", "endless", "redirect"])(
    "can't be fetched (%s): known keys stay in use for a day, and new ones are accepted after recovery",
    async (trouble) => {
      const tokens = open();
      const token = await issuer.token();
      await tokens.verifyFid(token);
      issuer.trouble = trouble;
      time += 11 * MINUTE;
      expect(await tokens.verifyFid(token)).toBe("12345");
      const asked = issuer.requests;
      expect(asked).toBe(2);
      // During the cooldown no further fetch delays a call.
      for (let i = 0; i < 5; i++) await tokens.verifyFid(token);
      expect(issuer.requests).toBe(asked);
      await expectInvalid(tokens.verifyFid(await foreignToken()));
      time += DAY;
      await expectUnavailable(tokens.verifyFid(token));
      issuer.trouble = undefined;
      time += 30 * SECOND;
      await issuer.rotate();
      expect(await tokens.verifyFid(await issuer.token())).toBe("12345");
    },
  );

  test.each<IssuerTrouble>(["down", "hang", "html", "endless", "redirect"])(
    "were never fetched (%s): every token is refused until the issuer recovers",
    async (trouble) => {
      issuer.trouble = trouble;
      const tokens = open();
      await expectUnavailable(tokens.verifyFid(await issuer.token()));
      issuer.trouble = undefined;
      expect(await tokens.verifyFid(await issuer.token())).toBe("12345");
    },
  );

  test("are an empty set: every token is refused", async () => {
    issuer.trouble = "empty";
    await expectInvalid(open().verifyFid(await issuer.token()));
  });

  test("can't be fetched because the connection is refused", async () => {
    const tokens = open();
    const token = await issuer.token();
    await issuer.stop();
    await expectUnavailable(tokens.verifyFid(token));
  });
});
