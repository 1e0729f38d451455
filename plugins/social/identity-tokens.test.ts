// Identity tokens and the keys of their issuer: whose token is taken, and what happens while the issuer is in trouble.
import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { FORGED } from "../../tests/support/forged.ts";
import { type Issuer, type IssuerTrouble, makeKey, startIssuer } from "../../tests/support/jwks.ts";
import { createIdentityTokens } from "./identity-tokens.ts";
import { createIssuerKeys } from "./issuer-keys.ts";

const MINUTE = 60_000;
let issuer: Issuer;
let time: number;
const issuers: Issuer[] = [];
beforeEach(async () => {
  issuer = await startIssuer();
  issuers.push(issuer);
  time = Date.now();
});
afterAll(() => Promise.all(issuers.map((one) => one.stop())));

function open() {
  const log = { warn: () => undefined };
  const findKey = createIssuerKeys({ issuer: issuer.url, log, timeoutMs: 150, minIntervalMs: 20, now: () => time });
  return createIdentityTokens({ social: { issuer: issuer.url, audience: issuer.audience } }, findKey);
}

const expectInvalid = (answer: Promise<string>) =>
  expect(answer).rejects.toMatchObject({
    status: 401,
    code: "INVALID_TOKEN",
    message: expect.not.stringMatching(/aud|exp|sub/),
  });
const expectUnavailable = (answer: Promise<string>) =>
  expect(answer).rejects.toMatchObject({ status: 500, code: "ISSUER_UNAVAILABLE" });

describe("a token is taken", () => {
  test.each<[string, Record<string, unknown>, string]>([
    ["as it should be", {}, "12345"],
    ["with a number as its subject, as the issuer has it", { sub: 9007199254740991 }, "9007199254740991"],
    ["with one audience of several", { aud: ["other.example", "berth.example"] }, "12345"],
    ["of an issuer whose clock is a little ahead", { iat: Math.floor(Date.now() / 1000) + 30 }, "12345"],
  ])("%s", async (_, claims, fid) => {
    expect(await open().verifyFid(await issuer.token({ claims }))).toBe(fid);
  });

  test.each(["ES256", "ES384", "EdDSA", "PS256", "RS256"])("signed with %s", async (alg) => {
    await issuer.rotate({ alg });
    expect(await open().verifyFid(await issuer.token())).toBe("12345");
  });

  test("without the name of its key, where there is but one", async () => {
    expect(await open().verifyFid(await issuer.token({ header: { kid: undefined } }))).toBe("12345");
  });
});

test.each(Object.entries(FORGED))("%s: not taken", async (_, forge) => {
  const tokens = open();
  await expectInvalid(tokens.verifyFid(await forge(issuer)));
  expect(await tokens.verifyFid(await issuer.token())).toBe("12345");
});

test("nothing is fetched for what no key could make good", async () => {
  const tokens = open();
  for (const what of ["no token", "a megabyte", "the public key as a shared secret", "no signature, and it says so"]) {
    await expectInvalid(tokens.verifyFid((await FORGED[what]?.(issuer)) ?? expect.unreachable()));
  }
  expect(issuer.asked).toBe(0);
});

describe("the issuer's keys", () => {
  const foreign = makeKey();
  const strange = async (_?: unknown, index = 0) =>
    issuer.token({ header: { alg: "RS256", kid: `unknown-${index}` }, key: (await foreign).privateKey });
  const crowd = () => Promise.all(Array.from({ length: 50 }, strange));

  test("are fetched once for all who need them, and kept for ten minutes", async () => {
    const tokens = open();
    const token = await issuer.token();
    await Promise.all(Array.from({ length: 20 }, () => tokens.verifyFid(token)));
    time += 10 * MINUTE - 1;
    await tokens.verifyFid(token);
    expect(issuer.asked).toBe(1);
    time += 1;
    await tokens.verifyFid(token);
    expect(issuer.asked).toBe(2);
  });

  test("change: a token of the new one is taken at once, one of the old one no more", async () => {
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

  test("that are withdrawn are good for ten minutes at most", async () => {
    const tokens = open();
    const old = await issuer.token();
    await tokens.verifyFid(old);
    await issuer.rotate();
    expect(await tokens.verifyFid(old)).toBe("12345");
    time += 10 * MINUTE;
    await expectInvalid(tokens.verifyFid(old));
  });

  test("are not fetched for every token that names an unknown one", async () => {
    const tokens = open();
    await tokens.verifyFid(await issuer.token());
    const settle = (all: string[]) => Promise.allSettled(all.map(tokens.verifyFid));
    expect((await settle(await crowd())).map(({ status }) => status)).toEqual(Array(50).fill("rejected"));
    expect(issuer.asked).toBe(2);
    // A new key is found all the same.
    await issuer.rotate();
    const [strangers, known] = [await crowd(), await issuer.token()];
    expect((await settle([...strangers, known])).at(-1)).toEqual({ status: "fulfilled", value: "12345" });
    expect(issuer.asked).toBe(3);
  });

  test.each<IssuerTrouble>(["down", "hang", "html", "endless", "redirect"])(
    "can't be had (%s): those that are known go on for a day, and new ones are taken when they come back",
    async (trouble) => {
      const tokens = open();
      const token = await issuer.token();
      await tokens.verifyFid(token);
      issuer.trouble = trouble;
      time += 11 * MINUTE;
      expect(await tokens.verifyFid(token)).toBe("12345");
      const asked = issuer.asked;
      expect(asked).toBe(2);
      // Nobody waits for it again and again.
      for (let i = 0; i < 5; i++) await tokens.verifyFid(token);
      expect(issuer.asked).toBe(asked);
      await expectInvalid(tokens.verifyFid(await strange()));
      time += 24 * 60 * MINUTE;
      await expectUnavailable(tokens.verifyFid(token));
      issuer.trouble = undefined;
      time += 30_000;
      await issuer.rotate();
      expect(await tokens.verifyFid(await issuer.token())).toBe("12345");
    },
  );

  test.each<IssuerTrouble>(["down", "hang", "html", "endless", "redirect"])(
    "were never had (%s): nobody is taken for anybody",
    async (trouble) => {
      issuer.trouble = trouble;
      const tokens = open();
      await expectUnavailable(tokens.verifyFid(await issuer.token()));
      issuer.trouble = undefined;
      expect(await tokens.verifyFid(await issuer.token())).toBe("12345");
    },
  );

  test("are none: every token is refused", async () => {
    issuer.trouble = "empty";
    await expectInvalid(open().verifyFid(await issuer.token()));
  });

  test("can't be had because nobody is there", async () => {
    const tokens = open();
    const token = await issuer.token();
    await issuer.stop();
    await expectUnavailable(tokens.verifyFid(token));
  });
});
