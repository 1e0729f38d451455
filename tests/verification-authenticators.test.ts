// Verification of agents by an authenticator (WebAuthn), in one process and in two: registration, assertion, and invalid responses.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createAuthenticator } from "./support/authenticator.ts";
import { type Berth, startBerth } from "./support/berth.ts";
import { eventually } from "./support/eventually.ts";
import { expectRefusal } from "./support/refusal.ts";
import { startSqld } from "./support/sqld.ts";
import {
  BASE_URL,
  challenge,
  expectFailed,
  expectVerified,
  owner,
  path,
  recordOf,
  verify,
} from "./support/verification.ts";

let berth: Berth;
beforeAll(async () => {
  berth = await startBerth({ env: { BASE_URL, RATE_LIMITS: "off" } });
});
afterAll(() => berth?.[Symbol.asyncDispose]());

const showing = (signature: string) => ({ signature });

describe("an authenticator", () => {
  test("verifies by its registration, later by an assertion, on any agent of its owner", async () => {
    const ada = await owner(berth);
    const key = createAuthenticator(BASE_URL);
    const first = await challenge(ada, "webauthn");
    expect(first.options).toMatchObject({
      rp: { id: "berth.example", name: "Berth" },
      attestation: "none",
      challenge: first.nonce,
    });
    const answer = await verify(ada, "webauthn", showing(key.register(first.options)));
    const metadata = {
      credentialId: key.credentialId,
      userVerified: true,
      deviceType: "singleDevice",
      backedUp: false,
    };
    await expectVerified(ada, answer, "webauthn", { attestationUid: null, verifierAddress: null, metadata });

    const other = await owner(berth, ada.client);
    const second = await challenge(other, "webauthn");
    expect(second.options).toMatchObject({
      rpId: "berth.example",
      allowCredentials: [{ id: key.credentialId, transports: ["usb"] }],
    });
    await expectVerified(other, await verify(other, "webauthn", showing(key.assert(second.options))), "webauthn", {
      metadata,
    });
  });

  test("may use self attestation, but certificates are rejected", async () => {
    const ada = await owner(berth);
    const key = createAuthenticator(BASE_URL);
    const { options } = await challenge(ada, "webauthn");
    await expectFailed(
      ada,
      await verify(ada, "webauthn", showing(key.register(options, { format: "certified" }))),
      /Certificates/,
    );
    const forged = key.register(options, { format: "packed", forged: true });
    await expectFailed(ada, await verify(ada, "webauthn", showing(forged)), /is not valid/);
    expect((await verify(ada, "webauthn", showing(key.register(options, { format: "packed" })))).status).toBe(200);
  });

  const twists = [
    ["from another origin", { origin: "http://evil.example:3000" }, /another page/],
    ["from another port", { origin: "http://berth.example:3001" }, /another page/],
    ["from a page under ours", { origin: "http://x.berth.example:3000" }, /another page/],
    ["for another site", { rpId: "evil.example" }, /another site/],
    ["from inside another site's page", { crossOrigin: true }, /inside a page/],
    ["to another challenge", { challenge: "A".repeat(43) }, /another challenge/],
    ["of another kind", { type: "payment.get" }, /different kind/],
    ["without user presence", { absent: true }, /is not valid/],
  ] as const;

  test("registers nothing with a response that has one defect", async () => {
    const ada = await owner(berth);
    const key = createAuthenticator(BASE_URL);
    const { options } = await challenge(ada, "webauthn");
    for (const [, twist, reason] of twists) {
      await expectFailed(ada, await verify(ada, "webauthn", showing(key.register(options, twist))), reason);
    }
    await challenge(ada, "webauthn");
    await expectFailed(ada, await verify(ada, "webauthn", showing(key.register(options))), /another challenge/);
    expect((await challenge(ada, "webauthn")).options.user).toBeDefined();
  });

  test("verifies nothing with an assertion that has one defect, another key, or a lower counter", async () => {
    const ada = await owner(berth);
    const key = createAuthenticator(BASE_URL);
    key.counter = 10;
    expect(
      (await verify(ada, "webauthn", showing(key.register((await challenge(ada, "webauthn")).options)))).status,
    ).toBe(200);
    const other = await owner(berth, ada.client);
    const { options } = await challenge(other, "webauthn");
    const attempt = (answer: string) => verify(other, "webauthn", showing(answer));
    for (const [, twist, reason] of twists)
      await expectFailed(other, await attempt(key.assert(options, twist)), reason);
    await expectFailed(other, await attempt(key.assert(options, { forged: true })), /is not valid/);
    for (const counter of [0, 9, 10])
      await expectFailed(other, await attempt(key.assert(options, { counter })), /counter went back/);
    await expectFailed(other, await attempt(key.assert(options, { id: "unknown" })), /not registered by you/);
    await expectFailed(other, await attempt(key.register(options)), /that you have registered/);
    const good = key.assert(options);
    expect((await attempt(good)).status).toBe(200);
    expectRefusal(await attempt(good), 400, "VERIFICATION_FAILED");
  });

  test("of one user verifies nothing for another", async () => {
    const [ada, eve] = [await owner(berth), await owner(berth)];
    const key = createAuthenticator(BASE_URL);
    expect(
      (await verify(ada, "webauthn", showing(key.register((await challenge(ada, "webauthn")).options)))).status,
    ).toBe(200);
    const { options } = await challenge(eve, "webauthn");
    expect(options.user).toBeDefined();
    await expectFailed(
      eve,
      await verify(eve, "webauthn", showing(key.assert({ ...options, rpId: "berth.example" }))),
      /registration/,
    );
    const copy = createAuthenticator(BASE_URL);
    const stolen = copy.register(options, { id: key.credentialId });
    await expectFailed(eve, await verify(eve, "webauthn", showing(stolen)), /registered already/);
  });

  test("can be replaced on request when the first one is lost", async () => {
    const ada = await owner(berth);
    const [lost, spare] = [createAuthenticator(BASE_URL), createAuthenticator(BASE_URL)];
    await verify(ada, "webauthn", showing(lost.register((await challenge(ada, "webauthn")).options)));
    const { options } = await challenge(ada, "webauthn", { register: true });
    expect(options).toMatchObject({ excludeCredentials: [{ id: lost.credentialId }] });
    expect((await verify(ada, "webauthn", showing(spare.register(options)))).status).toBe(200);
    const both = (await challenge(ada, "webauthn")).options.allowCredentials?.map(({ id }) => id);
    expect(both?.sort()).toEqual([lost.credentialId, spare.credentialId].sort());
  });

  test("with a malformed response is 400", async () => {
    const ada = await owner(berth);
    await challenge(ada, "webauthn");
    const response = { clientDataJSON: "", attestationObject: "" };
    const bad = [
      "{}",
      "null",
      "[]",
      "x",
      "0x12",
      '{"id":1}',
      JSON.stringify({ id: "a", rawId: "a", type: "public-key", response }),
    ];
    for (const signature of [...bad, "[".repeat(50_000)])
      expectRefusal(await verify(ada, "webauthn", { signature }), 400, "INVALID_INPUT");
    const filled = { clientDataJSON: "e30", attestationObject: "AAAA" };
    const empty = JSON.stringify({ id: "a", rawId: "a", type: "public-key", response: filled });
    await expectFailed(ada, await verify(ada, "webauthn", showing(empty)), /./);
  });
});

test("two processes over one database verify as one does; while the backend is down it is 502, and the challenge stays valid", async () => {
  const sqld = await startSqld();
  const shared = { DATABASE_URL: sqld.url, SECRET_KEY: "verification-root-key-0123456789abcdef", BASE_URL };
  await using backend = await startBerth({ env: { ...shared, ROLE: "backend" } });
  await using web = await startBerth({ env: { ...shared, ROLE: "web", BACKEND_URL: backend.backend } });
  const ada = await owner(web);
  const key = createAuthenticator(BASE_URL);
  const signature = key.register((await challenge(ada, "webauthn")).options);

  await backend.stop();
  expectRefusal(await verify(ada, "webauthn", { signature }), 502, "BACKEND_UNAVAILABLE");
  expectRefusal(await ada.client.delete(`${path(ada)}/verify`), 502, "BACKEND_UNAVAILABLE");
  expect(await recordOf(ada)).toMatchObject({ verified: false });

  await backend.restart({ env: { BACKEND_PORT: new URL(web.env.BACKEND_URL ?? "").port } });
  const answer = await eventually(async () => {
    const answer = await verify(ada, "webauthn", { signature });
    return answer.status === 502 ? undefined : answer;
  });
  await expectVerified(ada, answer, "webauthn", { metadata: { credentialId: key.credentialId } });
  expect((await ada.client.delete(`${path(ada)}/verify`)).body).toEqual({ success: true, verified: false });
  await sqld.stop();
});
