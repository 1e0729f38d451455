// The routes of agent verification and its challenges, which are bound to agent, owner and type, and work once.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Anvil, startAnvil } from "./support/anvil.ts";
import { type Attesters, deployAttesters } from "./support/attesters.ts";
import { type Berth, startBerth } from "./support/berth.ts";
import { createClient } from "./support/client.ts";
import { member } from "./support/members.ts";
import { expectRefusal } from "./support/refusal.ts";
import {
  BASE_URL,
  challenge,
  expectFailed,
  NOT_VERIFIED,
  owner,
  path,
  recordOf,
  verify,
  walletOwner,
} from "./support/verification.ts";
import { createWallet } from "./support/wallets.ts";

let chain: Anvil;
let attesters: Attesters;
let berth: Berth;
beforeAll(async () => {
  chain = await startAnvil();
  attesters = await deployAttesters(chain);
  berth = await startBerth({ env: { BASE_URL, RATE_LIMITS: "off", ...attesters.env } });
});
afterAll(async () => {
  await berth?.[Symbol.asyncDispose]();
  await chain?.[Symbol.asyncDispose]();
});

describe("a challenge", () => {
  test("has a readable message to sign", async () => {
    const ada = await owner(berth);
    const { message, nonce, expiresAt, options } = await challenge(ada, "name_service");
    const left = Date.parse(expiresAt) - Date.now();
    expect(left).toBeGreaterThan(590_000);
    expect(left).toBeLessThanOrEqual(600_000);
    for (const part of [
      "berth.example:3000 asks you",
      `"${ada.agent.name}"`,
      ada.agent.id,
      "name service",
      nonce,
      expiresAt,
    ]) {
      expect(message).toContain(part);
    }
    expect(options).toBeUndefined();
  });

  test("works for one verification, also if its proof arrives many times at once", async () => {
    const [ada, wallet] = [await owner(berth), createWallet()];
    await attesters.attestAccount(wallet.address);
    const signature = await wallet.sign((await challenge(ada, "exchange")).message);
    const answers = await Promise.all(Array.from({ length: 20 }, () => verify(ada, "exchange", { signature })));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const answer of answers.filter(({ status }) => status !== 200))
      expectRefusal(answer, 400, "VERIFICATION_FAILED");
    await ada.client.delete(`${path(ada)}/verify`);
    await expectFailed(ada, await verify(ada, "exchange", { signature }), /no open challenge/);
  });

  test("works only for its agent, type and owner, and only if it is the newest", async () => {
    const wallet = createWallet();
    await attesters.attestAccount(wallet.address);
    await attesters.setName(wallet.address, "bound.base.eth");
    await attesters.setAddress("bound.base.eth", wallet.address);
    const [ada, eve] = [await owner(berth), await owner(berth)];
    const other = await owner(berth, ada.client);
    const walletAddress = wallet.address;
    const old = await wallet.sign((await challenge(ada, "exchange")).message);
    const signature = await wallet.sign((await challenge(ada, "exchange")).message);

    await expectFailed(other, await verify(other, "exchange", { signature }), /no open challenge/);
    await expectFailed(eve, await verify(eve, "exchange", { signature }), /no open challenge/);
    for (const who of [other, eve]) {
      await challenge(who, "exchange");
      await expectFailed(who, await verify(who, "exchange", { signature, walletAddress }), /did not sign/);
      await expectFailed(who, await verify(who, "exchange", { signature }), /no attestation of/);
    }
    await challenge(ada, "name_service");
    await expectFailed(ada, await verify(ada, "name_service", { signature, walletAddress }), /did not sign/);
    await expectFailed(ada, await verify(ada, "exchange", { signature: old, walletAddress }), /did not sign/);
    expect((await verify(ada, "exchange", { signature, walletAddress })).status).toBe(200);
  });

  test("can be claimed again under its idempotency key if the response was lost", async () => {
    const [ada, wallet] = [await owner(berth), createWallet()];
    await attesters.attestAccount(wallet.address);
    const signature = await wallet.sign((await challenge(ada, "exchange")).message);
    const key = { "idempotency-key": crypto.randomUUID() };
    const first = await verify(ada, "exchange", { signature }, key);
    expect(await verify(ada, "exchange", { signature }, key)).toMatchObject({
      status: 200,
      body: first.body as object,
    });
  });
});

describe("the routes", () => {
  test("reject missing and malformed input, with the field", async () => {
    const ada = await owner(berth);
    const claims: [object, string][] = [
      [{}, "verificationType"],
      [{ verificationType: "fax" }, "verificationType"],
      [{ verificationType: ["exchange"] }, "verificationType"],
      [{ verificationType: "attestation" }, "attestationUid"],
      [{ verificationType: "attestation", attestationUid: "0x12" }, "attestationUid"],
      [{ verificationType: "attestation", attestationUid: 12 }, "attestationUid"],
      [{ verificationType: "exchange" }, "signature"],
      [{ verificationType: "exchange", signature: "" }, "signature"],
      [{ verificationType: "exchange", signature: "x".repeat(100_001) }, "signature"],
      [{ verificationType: "name_service", walletAddress: createWallet().address }, "signature"],
      [{ verificationType: "name_service", signature: "0x12" }, "walletAddress"],
      [{ verificationType: "name_service", signature: "0x12", walletAddress: "ada.eth" }, "walletAddress"],
      [{ verificationType: "webauthn" }, "signature"],
    ];
    for (const [claim, field] of claims) {
      const { issues } = expectRefusal(await ada.client.post(`${path(ada)}/verify`, claim), 400, "INVALID_INPUT");
      expect({ claim, path: issues?.[0]?.path }).toEqual({ claim, path: field });
    }
    expectRefusal(await ada.client.post(`${path(ada)}/verification/challenge`, { verificationType: "fax" }), 400);
    expect(await recordOf(ada)).toEqual(NOT_VERIFIED);
  });

  test("remove a verification, also a missing one; the status stays", async () => {
    const wallet = createWallet();
    const ada = await walletOwner(berth, wallet);
    const attestationUid = await attesters.attest(wallet.address);
    await verify(ada, "attestation", { attestationUid });
    for (let time = 0; time < 2; time++) {
      const { status, body } = await ada.client.delete(`${path(ada)}/verify`);
      expect({ status, body }).toEqual({ status: 200, body: { success: true, verified: false } });
      expect(await recordOf(ada)).toEqual(NOT_VERIFIED);
      expect((await ada.client.get(path(ada))).body).toMatchObject({
        agent: { verified: false, verifiedAt: null, status: "running" },
      });
    }
  });

  const routes = [
    ["GET", "/verification"],
    ["POST", "/verification/challenge", { verificationType: "exchange" }],
    ["POST", "/verify", { verificationType: "exchange", signature: "0x12" }],
    ["POST", "/verify", {}],
    ["DELETE", "/verify"],
  ] as const;

  test("are 404 for other users' agents on both surfaces, and 401 without a session", async () => {
    const wallet = createWallet();
    const ada = await walletOwner(berth, wallet);
    await verify(ada, "attestation", { attestationUid: await attesters.attest(wallet.address) });
    const before = await recordOf(ada);
    const eve = await member(berth);
    for (const origin of [berth.web, berth.backend]) {
      for (const [method, rest, body] of routes) {
        const ask = async (id: string, headers: Record<string, string>) => {
          const response = await createClient(origin).fetch(method, `/api/agents/${id}${rest}`, body, { headers });
          return { status: response.status, headers: response.headers, body: await response.text() };
        };
        const foreign = await ask(ada.agent.id, { cookie: eve.cookie });
        expectRefusal(foreign, 404, "AGENT_NOT_FOUND");
        expect((await ask("01890a5d-ac96-774b-bcce-b302099a8057", { cookie: eve.cookie })).body).toBe(foreign.body);
        expectRefusal(await ask(ada.agent.id, {}), 401, "UNAUTHORIZED");
      }
    }
    expect(await recordOf(ada)).toEqual(before);
  });

  test("treat an admin like any other user, also on the backend", async () => {
    const wallet = createWallet();
    const ada = await walletOwner(berth, wallet);
    await verify(ada, "attestation", { attestationUid: await attesters.attest(wallet.address) });
    const before = await recordOf(ada);
    const admin = await member(berth);
    await berth.command("user", "admin", admin.account.email);
    const direct = createClient(berth.backend);
    const headers = { cookie: admin.cookie };
    const body = { verificationType: "exchange", signature: "0x12" };
    for (const [method, rest, sent] of [
      ["GET", "/verification", undefined],
      ["POST", "/verification/challenge", body],
      ["POST", "/verify", body],
      ["DELETE", "/verify", undefined],
    ] as const) {
      const answer = await direct.fetch(method, `${path(ada)}${rest}`, sent, { headers });
      const refused = { status: answer.status, headers: answer.headers, body: await answer.text() };
      expectRefusal(refused, 404, "AGENT_NOT_FOUND");
    }
    expect(await recordOf(ada)).toEqual(before);
  });

  test("publish a verification as an event", async () => {
    const wallet = createWallet();
    const ada = await walletOwner(berth, wallet);
    const attestationUid = await attesters.attest(wallet.address);
    await verify(ada, "attestation", { attestationUid });
    for await (const { event, data } of ada.client.sse("/api/events", undefined, {
      headers: { "last-event-id": "0" },
    })) {
      if (event !== "agent.verified") continue;
      const expected = { id: ada.agent.id, verificationType: "attestation", attestationUid };
      expect(JSON.stringify(JSON.parse(data))).toContain(JSON.stringify(ada.agent.id));
      expect(data).toContain(expected.attestationUid);
      break;
    }
  });
});
