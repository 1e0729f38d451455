// Sign-In with Ethereum on the running service with a real chain: keys, smart wallets, and a chain that is down.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Anvil, startAnvil } from "./support/anvil.ts";
import { type Berth, startBerth } from "./support/berth.ts";
import { type Client, createClient } from "./support/client.ts";
import { expectRefusal } from "./support/refusal.ts";
import {
  createSmartWallets,
  createWallet,
  type SiweFields,
  type SmartWallets,
  siweMessage,
  type Wallet,
} from "./support/wallets.ts";

const BASE_URL = "http://berth.example:3000";
const json = { headers: { accept: "application/json" } };

let chain: Anvil;
let wallets: SmartWallets;
let berth: Berth;
beforeAll(async () => {
  chain = await startAnvil();
  [wallets, berth] = await Promise.all([
    createSmartWallets(chain),
    startBerth({ env: { BASE_URL, MAINNET_RPC_URL: `${chain.url}/?key=secret-of-the-rpc`, RATE_LIMITS: "off" } }),
  ]);
});
afterAll(async () => {
  await berth?.[Symbol.asyncDispose]();
  await chain?.[Symbol.asyncDispose]();
});

const makers: Record<string, () => Wallet | Promise<Wallet>> = {
  "a key": createWallet,
  "a smart wallet": () => wallets.deployed(),
  "a smart wallet that is not on the chain yet": () => wallets.predeployed(),
};
const signed = async (wallet: Wallet, fields?: SiweFields) => {
  const message = siweMessage(BASE_URL, wallet, fields);
  return { message, signature: await wallet.sign(message) };
};
const send = (body: unknown, client: Client = createClient(berth)) =>
  client.post<{ user: { id: string; email: string } }>("/api/auth/callback/wallet", body, json);
const nonce = async () => (await createClient(berth).get<{ nonce: string }>("/api/auth/nonce")).body.nonce;

/** Expects an error without a session cookie. */
function expectOut(answer: Awaited<ReturnType<typeof send>>, status: number, code: string): void {
  expectRefusal(answer, status, code);
  expect(answer.headers.getSetCookie()).toEqual([]);
}

describe.each(Object.keys(makers))("%s", (kind) => {
  const make = async () => (await makers[kind]?.()) ?? expect.unreachable();

  test("signs in, later to the same account", async () => {
    const wallet = await make();
    const ada = createClient(berth);
    const first = await send(await signed(wallet, { nonce: await nonce() }), ada);
    expect(first).toMatchObject({
      status: 200,
      body: { user: { email: `${wallet.address.toLowerCase()}@wallet.invalid` } },
    });
    expect((await ada.get("/api/settings")).body).toMatchObject({ id: first.body.user.id, emailVerified: false });
    expect((await send(await signed(wallet))).body.user.id).toBe(first.body.user.id);
  });

  test("is redirected in a browser", async () => {
    const body = { ...(await signed(await make())), callbackUrl: "/agents" };
    const answer = await createClient(berth).post("/api/auth/callback/wallet", body);
    expect({ status: answer.status, to: answer.headers.get("location") }).toEqual({ status: 302, to: "/agents" });
    expect(answer.headers.getSetCookie()).toHaveLength(1);
  });

  test("gets one account and one session when its first message arrives many times at once", async () => {
    const wallet = await make();
    const proof = await signed(wallet, { nonce: await nonce() });
    const answers = await Promise.all(Array.from({ length: 20 }, () => send(proof)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const answer of answers.filter(({ status }) => status !== 200)) expectOut(answer, 401, "INVALID_NONCE");
  });

  const past = new Date(Date.now() - 60_000).toISOString();
  const future = new Date(Date.now() + 3_600_000).toISOString();
  test.each<[string, SiweFields]>([
    ["domain", { domain: "evil.example" }],
    ["URI", { uri: "https://evil.example" }],
    ["version", { version: 2 }],
    ["chain", { chainId: 84_532 }],
    ["time", { issuedAt: future }],
    ["expiry", { expirationTime: past }],
    ["beginning", { notBefore: future }],
    ["nonce", { nonce: "short" }],
    ["checksum", { address: `0x${"ab".repeat(20)}` }],
  ])("with a wrong %s alone stays out", async (_, fields) => {
    expectOut(await send(await signed(await make(), fields)), 401, "INVALID_MESSAGE");
  });

  test("is rejected with an old message, a foreign or used nonce, and another wallet's signature", async () => {
    const [wallet, other] = [await make(), await make()];
    const old = new Date(Date.now() - 601_000).toISOString();
    expectOut(await send(await signed(wallet, { issuedAt: old })), 401, "INVALID_NONCE");
    const used = await nonce();
    expect((await send(await signed(wallet, { nonce: used }))).status).toBe(200);
    expectOut(await send(await signed(wallet, { nonce: used })), 401, "INVALID_NONCE");

    const { message, signature } = await signed(wallet);
    expectOut(await send({ message, signature: await other.sign(message) }), 401, "INVALID_SIGNATURE");
    expectOut(await send({ message, signature: await createWallet().sign(message) }), 401, "INVALID_SIGNATURE");
    expectOut(await send({ message: message.replace("Sign in", "Log in"), signature }), 401, "INVALID_SIGNATURE");
    expectOut(await send({ message, signature: signature.slice(0, -2) }), 401, "INVALID_SIGNATURE");
    expectOut(await send({ message, signature: `0x${"12".repeat(100_000)}` }), 401, "INVALID_SIGNATURE");
    expectOut(await send({ message }), 401, "SIGNATURE_REQUIRED");
    expectOut(await send({ signature }), 401, "SIGNATURE_REQUIRED");
    expect((await send({ message, signature })).status).toBe(200);
  });
});

test("the zero address signs in with no signature, also with one for which the chain's check returns it", async () => {
  const address = "0x0000000000000000000000000000000000000000";
  for (const last of ["1b", "1c", "00"]) {
    const message = siweMessage(BASE_URL, { address }, { nonce: await nonce() });
    expectOut(await send({ message, signature: `0x${"00".repeat(64)}${last}` }), 401, "INVALID_SIGNATURE");
  }
});

describe("while the chain", () => {
  /** Expects that keys sign in, and that smart wallets get 500 without a session. */
  async function expectKeysAlone(proofs: object[]): Promise<void> {
    expect((await send(await signed(createWallet()))).status).toBe(200);
    for (const proof of proofs) expectOut(await send(proof), 500, "CHAIN_UNAVAILABLE");
    const forged = { ...(await signed(createWallet())), signature: `0x${"12".repeat(65)}` };
    expectOut(await send(forged), 500, "CHAIN_UNAVAILABLE");
  }

  test("is down or has another id, only keys sign in; afterwards the same messages work", async () => {
    const proofs = await Promise.all(
      [wallets.deployed(), wallets.predeployed()].map(async (made) => signed(await made)),
    );
    await chain.stop();
    await expectKeysAlone(proofs);
    await chain.start({ chainId: 1 });
    await expectKeysAlone(proofs);
    await chain.stop();
    await chain.start();
    for (const proof of proofs) expect((await send(proof)).status).toBe(200);
    const { stdout, stderr } = berth.output();
    expect(stdout + stderr).toContain("mainnet_chain");
    expect(stdout + stderr).not.toContain("secret-of-the-rpc");
  });
});
