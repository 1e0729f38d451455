// Verification of agents by data on a real chain: attestations, exchange accounts and names; also while the chain is down.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Anvil, startAnvil } from "./support/anvil.ts";
import { type AttestationFields, type Attesters, deployAttesters, SCHEMA } from "./support/attesters.ts";
import { createAuthenticator } from "./support/authenticator.ts";
import { type Berth, startBerth } from "./support/berth.ts";
import { expectRefusal } from "./support/refusal.ts";
import { compileContract } from "./support/solidity.ts";
import {
  BASE_URL,
  challenge,
  expectFailed,
  expectVerified,
  NOT_VERIFIED,
  type Owner,
  owner,
  recordOf,
  verify,
  walletOwner,
} from "./support/verification.ts";
import { createSmartWallets, createWallet, type SmartWallets, type Wallet } from "./support/wallets.ts";

let chain: Anvil;
let attesters: Attesters;
let smart: SmartWallets;
let berth: Berth;
beforeAll(async () => {
  chain = await startAnvil();
  attesters = await deployAttesters(chain);
  smart = await createSmartWallets(chain);
  const MAINNET_RPC_URL = `${chain.url}/?key=secret-of-the-rpc`;
  berth = await startBerth({ env: { BASE_URL, RATE_LIMITS: "off", ...attesters.env, MAINNET_RPC_URL } });
});
afterAll(async () => {
  await berth?.[Symbol.asyncDispose]();
  await chain?.[Symbol.asyncDispose]();
});

const makers: Record<string, () => Wallet | Promise<Wallet>> = {
  "a key": createWallet,
  "a smart wallet": () => smart.deployed(),
  "a smart wallet that is not on the chain yet": () => smart.predeployed(),
};
const kinds = Object.keys(makers);
const make = async (kind: string) => (await makers[kind]?.()) ?? expect.unreachable();

describe("an attestation", () => {
  test("of the wallet that the owner signed in with verifies without a signature", async () => {
    const wallet = createWallet();
    const ada = await walletOwner(berth, wallet);
    const attestationUid = await attesters.attest(wallet.address);
    const metadata = { chainId: 8453, schema: SCHEMA, expiresAt: null };
    const answer = await verify(ada, "attestation", { attestationUid });
    await expectVerified(ada, answer, "attestation", {
      attestationUid,
      verifierAddress: wallet.address,
      metadata: expect.objectContaining(metadata),
    });
    const other = await owner(berth, ada.client);
    const upper = `0x${attestationUid.slice(2).toUpperCase()}`;
    await expectVerified(other, await verify(other, "attestation", { attestationUid: upper }), "attestation", {
      attestationUid,
    });
  });

  test.each(kinds)("of %s verifies with its signature in the same request", async (kind) => {
    const wallet = await make(kind);
    const ada = await owner(berth);
    const attestationUid = await attesters.attest(wallet.address, { expirationTime: 4_000_000_000n });
    const { message } = await challenge(ada, "attestation");
    const claim = { attestationUid, walletAddress: wallet.address, signature: await wallet.sign(message) };
    await expectVerified(ada, await verify(ada, "attestation", claim), "attestation", {
      verifierAddress: wallet.address,
    });
  });

  const past = BigInt(Math.floor(Date.now() / 1000)) - 60n;
  test.each<[string, AttestationFields, RegExp]>([
    ["revoked", { revocationTime: past }, /revoked/],
    ["expired", { expirationTime: past }, /expired/],
    ["of another schema", { schema: `0x${"11".repeat(32)}` }, /schema/],
    ["by another attester", { attester: `0x${"22".repeat(20)}` }, /made by/],
  ])("that is %s verifies nothing", async (_, fields, reason) => {
    const wallet = createWallet();
    const ada = await walletOwner(berth, wallet);
    const attestationUid = await attesters.attest(wallet.address, fields);
    await expectFailed(ada, await verify(ada, "attestation", { attestationUid }), reason);
    const signature = await wallet.sign((await challenge(ada, "attestation")).message);
    const proven = { attestationUid, walletAddress: wallet.address, signature };
    await expectFailed(ada, await verify(ada, "attestation", proven), reason);
  });

  test("that does not exist verifies nothing", async () => {
    const ada = await owner(berth);
    for (const digits of ["00", "ab"]) {
      const claim = { attestationUid: `0x${digits.repeat(32)}` };
      await expectFailed(ada, await verify(ada, "attestation", claim), /no attestation/);
    }
  });

  test("of another user's wallet verifies nothing, with either signature", async () => {
    const [own, foreign] = [createWallet(), createWallet()];
    const ada = await walletOwner(berth, own);
    const attestationUid = await attesters.attest(foreign.address);
    await expectFailed(ada, await verify(ada, "attestation", { attestationUid }), /Sign in with that wallet/);
    const signature = await own.sign((await challenge(ada, "attestation")).message);
    const claim = { attestationUid, signature };
    await expectFailed(ada, await verify(ada, "attestation", claim), /did not sign/);
    await expectFailed(
      ada,
      await verify(ada, "attestation", { ...claim, walletAddress: own.address }),
      /attestation is of/,
    );
    await expectFailed(
      ada,
      await verify(ada, "attestation", { ...claim, walletAddress: foreign.address }),
      /did not sign/,
    );
    await walletOwner(berth, foreign);
    await expectFailed(ada, await verify(ada, "attestation", { attestationUid }), /Sign in with that wallet/);
  });
});

describe("an exchange account", () => {
  test("verifies with the signature of a key, and of a named smart wallet", async () => {
    for (const kind of kinds) {
      const wallet = await make(kind);
      const ada = await owner(berth);
      const attestationUid = await attesters.attestAccount(wallet.address);
      const signature = await wallet.sign((await challenge(ada, "exchange")).message);
      if (kind !== "a key")
        expectRefusal(
          await verify(ada, "exchange", { signature }),
          400,
          kind === "a smart wallet" ? "VERIFICATION_FAILED" : "INVALID_INPUT",
        );
      const claim = kind === "a key" ? { signature } : { signature, walletAddress: wallet.address };
      const shown = { attestationUid, verifierAddress: wallet.address };
      await expectVerified(ada, await verify(ada, "exchange", claim), "exchange", shown);
    }
  });

  test("verifies nothing without a valid attestation of the wallet", async () => {
    const past = BigInt(Math.floor(Date.now() / 1000)) - 60n;
    const wrong: [AttestationFields, RegExp][] = [
      [{ revocationTime: past }, /revoked/],
      [{ expirationTime: past }, /expired/],
      [{ attester: `0x${"22".repeat(20)}` }, /made by/],
      [{ schema: SCHEMA }, /schema/],
    ];
    for (const [fields, reason] of wrong) {
      const wallet = createWallet();
      const ada = await owner(berth);
      await attesters.attestAccount(wallet.address, fields);
      const signature = await wallet.sign((await challenge(ada, "exchange")).message);
      await expectFailed(ada, await verify(ada, "exchange", { signature }), reason);
    }
    const [unknown, borrower] = [createWallet(), createWallet()];
    const ada = await owner(berth);
    const { message } = await challenge(ada, "exchange");
    await expectFailed(
      ada,
      await verify(ada, "exchange", { signature: await unknown.sign(message) }),
      /no attestation of/,
    );
    await attesters.index(borrower.address, await attesters.attestAccount(createWallet().address));
    await expectFailed(
      ada,
      await verify(ada, "exchange", { signature: await borrower.sign(message) }),
      /another wallet/,
    );
    const zeros = { signature: `0x${"00".repeat(65)}` };
    await expectFailed(ada, await verify(ada, "exchange", zeros), /No key/);
  });

  test("verifies nothing with another user's attested wallet", async () => {
    const [own, attested] = [createWallet(), createWallet()];
    await attesters.attestAccount(attested.address);
    const ada = await owner(berth);
    const signature = await own.sign((await challenge(ada, "exchange")).message);
    const claim = { signature, walletAddress: attested.address };
    await expectFailed(ada, await verify(ada, "exchange", claim), /did not sign/);
  });
});

describe("a name", () => {
  const named = async (wallet: Wallet, name: string, to = wallet.address) => {
    await attesters.setName(wallet.address, name);
    await attesters.setAddress(name, to);
  };
  const claimOf = async (who: Owner, wallet: Wallet) => ({
    walletAddress: wallet.address,
    signature: await wallet.sign((await challenge(who, "name_service")).message),
  });

  test.each(kinds)("of %s verifies when it resolves to the wallet", async (kind) => {
    const wallet = await make(kind);
    const ada = await owner(berth);
    const name = `ada-${wallet.address.slice(2, 10).toLowerCase()}.base.eth`;
    await named(wallet, name);
    const claim = await claimOf(ada, wallet);
    const shown = { attestationUid: null, verifierAddress: wallet.address, metadata: { chainId: 8453, name } };
    await expectVerified(ada, await verify(ada, "name_service", claim), "name_service", shown);
  });

  test("verifies nothing when it resolves to another address or none, does not exist, or is malformed", async () => {
    const [ada, wallet] = [await owner(berth), createWallet()];
    const claim = await claimOf(ada, wallet);
    const attempt = () => verify(ada, "name_service", claim);
    await expectFailed(ada, await attempt(), /has no primary name/);
    await attesters.setName(wallet.address, "nowhere.base.eth");
    await expectFailed(ada, await attempt(), /nowhere\.base\.eth does not resolve to/);
    await named(wallet, "vitalik.base.eth", createWallet().address);
    await expectFailed(ada, await attempt(), /does not resolve to/);
    for (const name of ["Ada.base.eth", "ada..eth", "аda.base.eth", "a\u200dda.base.eth", "x".repeat(300)]) {
      await attesters.setName(wallet.address, name);
      await expectFailed(ada, await attempt(), /normalized form/);
    }
    await named(wallet, "ada.base.eth");
    expect((await attempt()).status).toBe(200);
  });

  test("verifies nothing for a wallet that did not sign", async () => {
    const [ada, own, foreign] = [await owner(berth), createWallet(), createWallet()];
    await named(foreign, "famous.base.eth");
    const { signature } = await claimOf(ada, own);
    const claim = { signature, walletAddress: foreign.address };
    await expectFailed(ada, await verify(ada, "name_service", claim), /did not sign/);
  });
});

describe("while the chain", () => {
  /** Expects `CHAIN_UNAVAILABLE` for claims that need the chain; their proofs stay valid. */
  async function expectNothing(claims: [Owner, string, object][]): Promise<void> {
    for (const [who, type, claim] of claims) {
      expectRefusal(await verify(who, type, claim), 500, "CHAIN_UNAVAILABLE");
      expect(await recordOf(who)).toEqual(NOT_VERIFIED);
    }
  }
  async function claims(): Promise<[Owner, string, object][]> {
    const [wallet, contract] = [createWallet(), await smart.deployed()];
    const [first, second, third] = [await walletOwner(berth, wallet), await owner(berth), await owner(berth)];
    const attestationUid = await attesters.attest(wallet.address);
    await attesters.attestAccount(wallet.address);
    await attesters.setName(contract.address, "down.base.eth");
    await attesters.setAddress("down.base.eth", contract.address);
    const named = { walletAddress: contract.address };
    return [
      [first, "attestation", { attestationUid }],
      [second, "exchange", { signature: await wallet.sign((await challenge(second, "exchange")).message) }],
      [
        third,
        "name_service",
        { ...named, signature: await contract.sign((await challenge(third, "name_service")).message) },
      ],
    ];
  }

  test("is down or has another id, claims fail and nothing changes; afterwards the same claims verify", async () => {
    const held = await claims();
    await chain.stop();
    await expectNothing(held);
    const ada = await owner(berth);
    const key = createAuthenticator(BASE_URL);
    const { options } = await challenge(ada, "webauthn");
    expect((await verify(ada, "webauthn", { signature: key.register(options) })).status).toBe(200);
    await chain.start({ chainId: 1 });
    await expectNothing(held);
    await chain.stop();
    await chain.start();
    for (const [who, type, claim] of held) expect((await verify(who, type, claim)).status).toBe(200);
  });

  test("returns no contract, another contract, or another attestation, claims fail", async () => {
    const held = await claims();
    const { env } = berth;
    const lying = await chain.deploy(await compileContract("Attestations.sol", "LyingAttestationService"));
    const noContract = createWallet().address;
    const each = (address: string) => ({
      VERIFY_EAS_ADDRESS: address,
      VERIFY_EXCHANGE_INDEXER: address,
      VERIFY_NAME_REGISTRY: address,
    });
    const { VERIFY_EAS_ADDRESS: eas = "", VERIFY_NAME_REGISTRY: names = "" } = attesters.env;
    const wrong = [
      each(noContract),
      { VERIFY_EAS_ADDRESS: names, VERIFY_EXCHANGE_INDEXER: eas, VERIFY_NAME_REGISTRY: eas },
    ];
    for (const addresses of wrong) {
      await berth.restart({ keepPorts: true, env: addresses });
      await expectNothing(held);
    }
    await berth.restart({ keepPorts: true, env: { ...env, VERIFY_EAS_ADDRESS: lying } });
    await expectNothing(held.slice(0, 2));
    await berth.restart({ keepPorts: true, env });
    for (const [who, type, claim] of held) expect((await verify(who, type, claim)).status).toBe(200);
    const { stdout, stderr } = berth.output();
    expect(stdout + stderr).toContain("no usable answer");
    expect(stdout + stderr).not.toContain("secret-of-the-rpc");
  });
});
