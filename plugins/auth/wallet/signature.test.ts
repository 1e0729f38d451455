// Signatures: those of keys are verified locally, those of smart wallets on a real chain.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Hex, serializeErc6492Signature } from "viem";
import { loadConfig } from "../../../src/kernel/config/config.ts";
import { type Anvil, startAnvil } from "../../../tests/support/anvil.ts";
import { compileContract } from "../../../tests/support/solidity.ts";
import { createSmartWallets, createWallet, type SmartWallets } from "../../../tests/support/wallets.ts";
import { type Chain, createChains } from "../../chains/index.ts";
import { isSignedBy } from "./signature.ts";

let anvil: Anvil;
let chain: Chain;
let wallets: SmartWallets;
beforeAll(async () => {
  anvil = await startAnvil();
  chain = chainAt(anvil.url);
  wallets = await createSmartWallets(anvil);
}, 30_000);
afterAll(() => anvil?.[Symbol.asyncDispose]());

const chainAt = (url: string, timeoutMs = 10_000) =>
  createChains(loadConfig({ MAINNET_RPC_URL: url }, { cwd: "/" }), { timeoutMs }).mainnet;
/** Fails the test if it is called. */
const forbiddenChain: Chain = {
  name: "mainnet_chain",
  id: 8453,
  withClient: () => Promise.reject(new Error("The chain was called.")),
};
const unavailable = { status: 500, code: "CHAIN_UNAVAILABLE" };
const text = "hello";

describe("a key", () => {
  const ada = createWallet();

  test("is verified without a call to the chain", async () => {
    expect(await isSignedBy(forbiddenChain, ada.address, text, await ada.sign(text))).toBe(true);
  });

  test("does not sign for another key, or another text", async () => {
    expect(await isSignedBy(chain, createWallet().address, text, await ada.sign(text))).toBe(false);
    expect(await isSignedBy(chain, ada.address, `${text} `, await ada.sign(text))).toBe(false);
  });

  test.each<[string, string]>([
    ["empty", "0x"],
    ["no hex", "0xzz"],
    ["half a byte", "0x123"],
    ["without 0x", "12".repeat(65)],
    ["with something behind", `0x${"12".repeat(65)}\n`],
    ["100 kB", `0x${"12".repeat(100_000)}`],
    ["in ERC-8010 format", `0x${"12".repeat(65)}${"8010".repeat(16)}`],
    ["just too long", `0x${"12".repeat(32_769)}`],
  ])("a signature that is %s is refused without a call", async (_, signature) => {
    expect(await isSignedBy(forbiddenChain, ada.address, text, signature)).toBe(false);
  });

  test.each<[string, Hex]>([
    ["of zeros", `0x${"00".repeat(65)}`],
    ["of ones", `0x${"ff".repeat(65)}`],
    ["of one byte", "0x00"],
    ["as long as they may be", `0x${"12".repeat(32_768)}`],
    ["with the mark of ERC-6492 and nothing before", `0x${"6492".repeat(16)}`],
    [
      "that names a factory without code",
      serializeErc6492Signature({ address: ada.address, data: "0x12", signature: "0x12" }),
    ],
  ])("a signature %s is invalid", async (_, signature) => {
    expect(await isSignedBy(chain, ada.address, text, signature)).toBe(false);
    expect(await isSignedBy(chain, "0x0000000000000000000000000000000000000000", text, signature)).toBe(false);
  });
});

describe.each(["deployed", "predeployed"] as const)("a smart wallet, %s", (kind) => {
  test("signs for itself", async () => {
    const wallet = await wallets[kind]();
    expect(await isSignedBy(chain, wallet.address, text, await wallet.sign(text))).toBe(true);
  });

  test("signs neither another text nor for another wallet", async () => {
    const [wallet, other] = [await wallets[kind](), await wallets[kind]()];
    const signature = await wallet.sign(text);
    expect(await isSignedBy(chain, wallet.address, "another", signature)).toBe(false);
    expect(await isSignedBy(chain, other.address, text, signature)).toBe(false);
    expect(await isSignedBy(chain, createWallet().address, text, signature)).toBe(false);
  });

  test("throws CHAIN_UNAVAILABLE while the chain is down, too slow, or another one", async () => {
    const wallet = await wallets[kind]();
    const signature = await wallet.sign(text);
    const verifyAt = (at: Chain) => isSignedBy(at, wallet.address, text, signature);

    const never = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Promise<Response>(() => undefined) });
    await expect(verifyAt(chainAt(never.url.href, 100))).rejects.toMatchObject(unavailable);
    await never.stop(true);
    await expect(verifyAt(chainAt(never.url.href))).rejects.toMatchObject(unavailable);

    await anvil.stop();
    await anvil.start({ chainId: 1 });
    await expect(verifyAt(chain)).rejects.toMatchObject(unavailable);
    await anvil.stop();
    await anvil.start();
    expect(await verifyAt(chain)).toBe(true);
  }, 30_000);

  test("throws CHAIN_UNAVAILABLE if the chain fails during the check", async () => {
    const wallet = await wallets[kind]();
    const relay = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      async fetch(request) {
        const body = await request.text();
        if (body.includes("eth_call")) return new Response("gone", { status: 503 });
        return fetch(anvil.url, { method: "POST", body, headers: { "content-type": "application/json" } });
      },
    });
    const check = isSignedBy(chainAt(relay.url.href), wallet.address, text, await wallet.sign(text));
    await expect(check).rejects.toMatchObject(unavailable);
    await relay.stop(true);
  });
});

describe("a hostile contract", () => {
  const deploy = async (name: string, ...args: unknown[]) =>
    anvil.deploy(await compileContract("HostileWallet.sol", name), ...args);

  test("can't make the server fetch an address (CCIP read)", async () => {
    let visits = 0;
    const trap = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response(String(visits++)) });
    const curious = await deploy("CuriousWallet", trap.url.href);
    expect(await isSignedBy(chain, curious, text, "0x12")).toBe(false);
    const call = { to: curious, data: "0x1626ba7e" } as const;
    await expect(chain.withClient((client) => client.call(call))).rejects.toThrow();
    expect(visits).toBe(0);
    await trap.stop(true);
  });

  test.each(["EndlessWallet", "AgreeableWallet"])("%s has no valid signature", async (name) => {
    expect(await isSignedBy(chain, await deploy(name), text, "0x12")).toBe(false);
  });
});
