// Signatures: those of keys are verified locally, those of smart wallets on a real chain.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  type Address,
  concatHex,
  encodeFunctionData,
  type Hex,
  parseErc6492Signature,
  serializeErc6492Signature,
  zeroAddress,
} from "viem";
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
});
afterAll(() => anvil?.[Symbol.asyncDispose]());

const chainAt = (url: string, timeoutMs = 10_000) =>
  createChains(loadConfig({ MAINNET_RPC_URL: url }, { cwd: "/" }), { timeoutMs }).mainnet;
/** Fails the test if it is called. */
const forbiddenChain: Chain = {
  name: "mainnet_chain",
  id: 8453,
  explorerUrl: "https://explorer.example.com",
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
    expect(await isSignedBy(chain, zeroAddress, text, signature)).toBe(false);
  });

  // `ecrecover` answers zero for bytes that no key signed: without a check anybody would sign for that address.
  test.each<Hex>(["0x1b", "0x1c", "0x00", "0x01"])("nobody signs for the zero address, with v = %s", async (v) => {
    const words: Hex[] = [`0x${"00".repeat(32)}`, `0x${"ff".repeat(32)}`, `0x${"12".repeat(32)}`];
    for (const r of words) {
      for (const s of words) expect(await isSignedBy(chain, zeroAddress, text, concatHex([r, s, v]))).toBe(false);
    }
  });

  test("nobody signs for a precompiled contract", async () => {
    for (const last of ["01", "02", "04", "06"]) {
      const precompiled: Address = `0x${last.padStart(40, "0")}`;
      for (const signature of [`0x${"12".repeat(64)}1b`, "0x12", `0x1626ba7e${"00".repeat(28)}`]) {
        expect(await isSignedBy(chain, precompiled, text, signature)).toBe(false);
      }
    }
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
  });

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
  /** As long as that of a key: a shorter one is refused before the contract is asked. */
  const anySignature: Hex = `0x${"12".repeat(65)}`;
  const deploy = async (name: string, ...args: unknown[]) =>
    anvil.deploy(await compileContract("HostileWallet.sol", name), ...args);

  test("can't make the server fetch an address (CCIP read)", async () => {
    let visits = 0;
    const trap = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response(String(visits++)) });
    const curious = await deploy("CuriousWallet", trap.url.href);
    expect(await isSignedBy(chain, curious, text, anySignature)).toBe(false);
    const call = { to: curious, data: "0x1626ba7e" } as const;
    await expect(chain.withClient((client) => client.call(call))).rejects.toThrow();
    expect(visits).toBe(0);
    await trap.stop(true);
  });

  test("that says yes to everything signs for its own address alone", async () => {
    const yes = await deploy("YesWallet");
    const victims = [createWallet(), await wallets.deployed(), await wallets.predeployed()];
    expect(await isSignedBy(chain, yes, text, anySignature)).toBe(true);
    for (const { address } of [...victims, { address: zeroAddress }]) {
      expect(await isSignedBy(chain, address, text, anySignature)).toBe(false);
      const wrapped = serializeErc6492Signature({ address: yes, data: "0x1626ba7e", signature: anySignature });
      expect(await isSignedBy(chain, address, text, wrapped)).toBe(false);
    }
  });

  test("that a signature names as factory signs for nobody else, and deploys nothing", async () => {
    const contract = await compileContract("HostileWallet.sol", "HostileFactory");
    const { abi } = contract;
    const factory = await anvil.deploy(contract);
    const salt: Hex = `0x${"07".repeat(32)}`;
    const data = encodeFunctionData({ abi, functionName: "deploy", args: [salt] });
    const own = await anvil.client.readContract({ address: factory, abi, functionName: "addressOf", args: [salt] });
    const deploysItsOwn = serializeErc6492Signature({ address: factory, data, signature: anySignature });
    const answersItself = serializeErc6492Signature({ address: factory, data: "0x1626ba7e", signature: anySignature });
    const [key, deployed, predeployed] = [createWallet(), await wallets.deployed(), await wallets.predeployed()];
    for (const { address } of [key, deployed, predeployed, { address: zeroAddress }]) {
      for (const signature of [deploysItsOwn, answersItself]) {
        expect(await isSignedBy(chain, address, text, signature)).toBe(false);
      }
    }
    expect(await isSignedBy(chain, own as Address, text, deploysItsOwn)).toBe(true);
    expect(await anvil.client.getCode({ address: own as Address })).toBeUndefined();
  });

  test("that calls the victim's real factory gains nothing by it", async () => {
    const victim = await wallets.predeployed();
    const stranger = await wallets.predeployed();
    const { data, address } = parseErc6492Signature(await victim.sign(text));
    const { signature } = parseErc6492Signature(await stranger.sign(text));
    if (!address || !data) throw new Error("The wallet is deployed.");
    const forged = serializeErc6492Signature({ address, data, signature });
    expect(await isSignedBy(chain, victim.address, text, forged)).toBe(false);
  });

  test.each(["EndlessWallet", "AgreeableWallet"])("%s has no valid signature", async (name) => {
    expect(await isSignedBy(chain, await deploy(name), text, anySignature)).toBe(false);
  });
});
