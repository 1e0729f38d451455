// Tests both drivers of the managed wallet platform: wallets per email, and signatures by the wallet's key.
import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { recoverTransactionAddress, recoverTypedDataAddress } from "viem";
import { createVault } from "../../../src/kernel/security/vault.ts";
import { type Cdp, startCdp } from "../../../tests/support/cdp.ts";
import { createCdpPlatform } from "./cdp-platform.ts";
import { createKeyring } from "./keyring.ts";
import { createLocalPlatform } from "./local-platform.ts";
import type { PlatformWallet, TypedData, WalletPlatform } from "./wallet-platform.ts";

const cdp: Cdp = startCdp();
afterAll(() => cdp.stop());
beforeEach(() => cdp.misbehave(undefined));

const { CDP_API_KEY_ID, CDP_API_KEY_SECRET, CDP_WALLET_SECRET, CDP_BASE_PATH } = cdp.env;
const cdpPlatform = createCdpPlatform({
  apiKeyId: CDP_API_KEY_ID ?? "",
  apiKeySecret: CDP_API_KEY_SECRET ?? "",
  walletSecret: CDP_WALLET_SECRET ?? "",
  basePath: `${CDP_BASE_PATH}/`,
});
const vault = createVault({ key: "the root key of this test" });
const keys = createKeyring({ vault, keyRotation: { registerColumn: () => undefined } });

const platforms: Record<string, WalletPlatform> = { local: createLocalPlatform(keys), cdp: cdpPlatform };

const transaction = {
  type: "eip1559",
  chainId: 84_532,
  to: "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
  data: "0xa9059cbb",
  nonce: 7,
  gas: 65_000n,
  maxFeePerGas: 2_000_000_000n,
  maxPriorityFeePerGas: 1_000_000_000n,
} as const;

const typedData: TypedData = {
  domain: { name: "USD Coin", version: "2", chainId: 84_532, verifyingContract: transaction.to },
  types: {
    TransferWithAuthorization: [
      { name: "from", type: "address" },
      { name: "value", type: "uint256" },
    ],
  },
  primaryType: "TransferWithAuthorization",
  message: { from: transaction.to, value: 2n ** 200n },
};

describe.each(Object.keys(platforms))("the driver %s", (kind) => {
  const platform = platforms[kind] ?? cdpPlatform;
  const make = async (email = "ada@example.com") => {
    const id = Bun.randomUUIDv7();
    const made: PlatformWallet = await platform.create({ id, userId: `user of ${kind}`, email });
    return { id, ...made };
  };

  test("makes a separate wallet for each email", async () => {
    const [ada, bob] = [await make(), await make("bob@example.com")];
    for (const { address } of [ada, bob]) expect(address).toMatch(/^0x[0-9a-fA-F]{40}$/);
    expect(ada.address).not.toBe(bob.address);
  });

  test("signs transactions with the wallet's key", async () => {
    const wallet = await make();
    const { address, signTransaction } = await platform.signer(wallet);
    expect(address).toBe(wallet.address);
    const signed = await signTransaction(transaction);
    const signerAddress = await recoverTransactionAddress({ serializedTransaction: signed as `0x02${string}` });
    expect(signerAddress).toBe(wallet.address);
  });

  test("signs typed data with the wallet's key, including numbers of any size", async () => {
    const wallet = await make();
    const { signTypedData } = await platform.signer(wallet);
    const signature = await signTypedData(typedData);
    expect(await recoverTypedDataAddress({ ...typedData, signature })).toBe(wallet.address);
  });
});

describe("the driver cdp", () => {
  const create = () => cdpPlatform.create({ id: Bun.randomUUIDv7(), userId: "eve", email: "eve@example.com" });

  test("returns the same wallet for repeated and concurrent calls, and no key", async () => {
    const made = await Promise.all([create(), create(), create()]);
    expect(new Set([...made, await create()].map(({ address }) => address)).size).toBe(1);
    for (const { keyId, sealed } of made) expect({ keyId, sealed }).toEqual({ keyId: null, sealed: null });
  });

  test("sends the platform neither user nor email", async () => {
    await create();
    for (const name of cdp.accounts.keys()) expect(name).toMatch(/^berth-[0-9a-f]{30}$/);
  });

  test.each([500, 401, 429, "nonsense"] as const)(
    "throws 502 without secrets if the platform answers %s",
    async (how) => {
      cdp.misbehave(how);
      const error: unknown = await create().catch((reason: unknown) => reason);
      expect(error).toMatchObject({ status: 502, code: "WALLET_PLATFORM_UNAVAILABLE" });
      expect(Bun.inspect(error)).not.toContain(CDP_WALLET_SECRET ?? "");
      expect(Bun.inspect(error)).not.toContain(CDP_API_KEY_SECRET ?? "");
    },
  );

  test("throws 502 if the platform can't be reached", async () => {
    const unreachable = createCdpPlatform({
      apiKeyId: "test-key",
      apiKeySecret: CDP_API_KEY_SECRET ?? "",
      walletSecret: CDP_WALLET_SECRET ?? "",
      basePath: "http://127.0.0.1:1",
    });
    expect(unreachable.create({ id: "1", userId: "1", email: "1@1.de" })).rejects.toMatchObject({ status: 502 });
  });
});

test("the driver local has no signer for a wallet whose key it does not have", async () => {
  const wallet = { id: "1", address: transaction.to, sealed: null };
  expect(createLocalPlatform(keys).signer(wallet)).rejects.toThrow(/not here/);
});
