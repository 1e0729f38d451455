// The HTTP interface of wallets: a user's own wallet with its balance on a real chain, and those of the managed platform.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseEther } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { type Anvil, startAnvil } from "./support/anvil.ts";
import { type Berth, startBerth } from "./support/berth.ts";
import { type Client, createClient } from "./support/client.ts";
import { expectRefusal } from "./support/refusal.ts";
import { deployToken, type Token, tokenAt } from "./support/tokens.ts";

/** The configured address of USDC on the testnet. */
const STABLECOIN = "0x036CbD53842c5426634e7929541eC2318f3dCF7e";
const ADDRESS = expect.stringMatching(/^0x[0-9a-fA-F]{40}$/);
const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const FEATURES = ["create_wallet", "get_balance", "send_stablecoin", "trade_tokens", "x402_payments"];
const CHAINS = ["mainnet_chain", "testnet_chain"];
const NO_WALLET = {
  address: null,
  balance: "0",
  network: "testnet_chain",
  hasWallet: false,
  message: expect.any(String),
};
const ROOT = "root-key-of-the-wallet-tests-0123456789";

let chain: Anvil;
let token: Token;
let berth: Berth;
beforeAll(async () => {
  chain = await startAnvil({ chainId: 84_532 });
  token = await deployToken(chain);
  const env = { RATE_LIMITS: "off", SECRET_KEY: ROOT, TESTNET_RPC_URL: `${chain.url}/?key=secret-of-the-rpc` };
  berth = await startBerth({ env });
});
afterAll(async () => {
  await berth?.[Symbol.asyncDispose]();
  await chain?.[Symbol.asyncDispose]();
});

async function newUser(): Promise<Client> {
  const client = createClient(berth);
  await client.join();
  return client;
}

async function withWallet(client: Client): Promise<`0x${string}`> {
  const { status, body } = await client.post<{ address: `0x${string}` }>("/api/wallet", { action: "create" });
  expect(status).toBe(200);
  return body.address;
}

/** Expects that neither the log nor a file of the data folder contains this text. */
function expectNowhere(secret: string): void {
  const { stdout, stderr } = berth.output();
  const data = join(berth.dir, "data");
  const files = readdirSync(data, { recursive: true, withFileTypes: true }).filter((file) => file.isFile());
  const texts = files.map((file) => readFileSync(join(file.parentPath, file.name)).toString("latin1"));
  for (const text of [stdout, stderr, ...texts]) expect(text.toLowerCase().includes(secret.toLowerCase())).toBe(false);
}

describe("without the managed platform", () => {
  test("every route is 401 without a session", async () => {
    const visitor = createClient(berth);
    expectRefusal(await visitor.get("/api/wallet"), 401, "UNAUTHORIZED");
    expectRefusal(await visitor.post("/api/wallet", { action: "nonsense" }), 401, "UNAUTHORIZED");
    expectRefusal(await visitor.post("/api/wallet/create", {}), 401, "UNAUTHORIZED");
    expectRefusal(await visitor.post("/api/wallet/managed", {}), 401, "UNAUTHORIZED");
  });

  test("a wallet is created once, and its balance is read from the chain", async () => {
    const ada = await newUser();
    expect((await ada.get("/api/wallet")).body).toEqual(NO_WALLET);
    const { status, body } = await ada.post<{ address: `0x${string}` }>("/api/wallet", { action: "create" });
    const { address } = body;
    expect(address).toMatch(/^0x[0-9a-fA-F]{40}$/);
    expect({ status, body }).toEqual({
      status: 200,
      body: expect.objectContaining({ address, network: "testnet_chain", message: expect.any(String) }),
    });
    const own = { address, network: "testnet_chain", hasWallet: true, createdAt: TIME };
    expect((await ada.get("/api/wallet")).body).toEqual({ ...own, balance: "0" });

    const again = await ada.post("/api/wallet", { action: "create" });
    expect(expectRefusal(again, 400, "WALLET_EXISTS")).toMatchObject({ address });

    const hash = await chain.client.sendTransaction({ to: address, value: parseEther("1.000000000000000001") });
    await chain.client.waitForTransactionReceipt({ hash });
    expect((await ada.get("/api/wallet")).body).toEqual({ ...own, balance: "1.000000000000000001" });

    // Deploys the stablecoin, which the chain did not have before.
    const usd = await tokenAt(chain, STABLECOIN, token);
    expect((await ada.get("/api/wallet")).body).toMatchObject({ stablecoin: "0" });
    await usd.mint(address, 12_345_678n);
    expect((await ada.get("/api/wallet")).body).toEqual({
      ...own,
      balance: "1.000000000000000001",
      stablecoin: "12.345678",
    });
  });

  test("the seed is stored, and no response reveals it", async () => {
    const ada = await newUser();
    expectRefusal(await ada.post("/api/wallet", { action: "get_seed" }), 404, "NO_WALLET");
    expectRefusal(await ada.post("/api/wallet", { action: "export_seed" }), 403, "SEED_EXPORT_DISABLED");
    const address = await withWallet(ada);
    const { status, body } = await ada.post("/api/wallet", { action: "get_seed" });
    expect({ status, body }).toEqual({
      status: 200,
      body: { address, network: "testnet_chain", createdAt: TIME, warning: expect.any(String) },
    });
    expectRefusal(await ada.post("/api/wallet", { action: "export_seed" }), 403, "SEED_EXPORT_DISABLED");
  });

  test.each([{}, { action: "" }, { action: "destroy" }, { action: 1 }, { action: null }])(
    "%j is not a valid action",
    async (body) => {
      expectRefusal(await (await newUser()).post("/api/wallet", body), 400);
    },
  );

  test("a repeated request with its key gets the first response", async () => {
    const ada = await newUser();
    const headers = { "idempotency-key": "wallet-1" };
    const [first, again] = [
      await ada.post("/api/wallet", { action: "create" }, { headers }),
      await ada.post("/api/wallet", { action: "create" }, { headers }),
    ];
    expect(first.status).toBe(200);
    expect(again).toMatchObject({ status: 200, body: first.body as object });
    expect(again.headers.get("idempotency-replayed")).toBe("true");
  });

  test("the platform's routes name the settings that are missing", async () => {
    const none = {
      authenticated: false,
      needsAuth: true,
      error: expect.any(String),
      setup: expect.stringMatching(/WALLET_PLATFORM/),
    };
    const ada = await newUser();
    for (const client of [createClient(berth), ada])
      expect((await client.get("/api/wallet/address")).body).toEqual(none);
    expectRefusal(await ada.post("/api/wallet/create", {}), 400);
    const refused = await ada.post("/api/wallet/create", { email: "ada@example.com" });
    expect(expectRefusal(refused, 500, "WALLET_PLATFORM_NOT_CONFIGURED")).toMatchObject({ setup: none.setup });
  });

  test("a private key can be imported, and no response reveals it", async () => {
    const ada = await newUser();
    const key = generatePrivateKey();
    const { address } = privateKeyToAccount(key);
    const headers = { "idempotency-key": "client-1" };
    for (let time = 0; time < 2; time++) {
      const { status, body } = await ada.post("/api/wallet/managed", { privateKey: key }, { headers });
      expect({ status, body }).toEqual({ status: 200, body: { success: true, address, network: "testnet_chain" } });
    }
    const made = await ada.post("/api/wallet/managed", {});
    expect(made).toMatchObject({ status: 200, body: { success: true, address: ADDRESS, network: "testnet_chain" } });
    for (const bad of [`${key}00`, key.slice(2), `0x${"0".repeat(64)}`, "words of a seed"]) {
      const refused = await ada.post("/api/wallet/managed", { privateKey: bad });
      expectRefusal(refused, 400);
      expect(refused.text).not.toContain(bad);
    }
    expectNowhere(key.slice(2));
    expect((await createClient(berth).get("/api/wallet/managed")).body).toEqual({
      status: "ok",
      type: "evm_wallet",
      supportedChains: CHAINS,
    });
  });

  test("while the chain is down the balance is an error", async () => {
    const ada = await newUser();
    await withWallet(ada);
    await chain.stop();
    try {
      const refused = await ada.get("/api/wallet");
      expectRefusal(refused, 500, "CHAIN_UNAVAILABLE");
      expect(refused.text).not.toContain("secret-of-the-rpc");
    } finally {
      await chain.start();
    }
  });
});

describe("with the local platform", () => {
  const PROJECT = "project-of-this-test";
  beforeAll(() => berth.restart({ env: { WALLET_PLATFORM: "local", WALLET_PLATFORM_PROJECT_ID: PROJECT } }), 60_000);

  const status = {
    agenticWallet: { status: "configured", projectId: "project-...", features: FEATURES },
    instructions: expect.any(String),
  };

  test("its status is public, and its owner also gets the wallet", async () => {
    const visitor = await createClient(berth).get("/api/wallet");
    expect(visitor).toMatchObject({ status: 200 });
    expect(visitor.body).toEqual(status);
    expect(visitor.text).not.toContain(PROJECT);
    const ada = await newUser();
    expect((await ada.get("/api/wallet")).body).toEqual({ ...status, ...NO_WALLET });
    const address = await withWallet(ada);
    expect((await ada.get("/api/wallet")).body).toMatchObject({ ...status, address, hasWallet: true, balance: "0" });
  });

  test("a managed wallet is created for an email, once for each user", async () => {
    const [ada, eve] = [await newUser(), await newUser()];
    const needsAuth = { authenticated: false, needsAuth: true, message: expect.any(String) };
    expect((await createClient(berth).get("/api/wallet/address")).body).toEqual(needsAuth);
    expect((await ada.get("/api/wallet/address")).body).toEqual(needsAuth);

    const email = "agents@example.com";
    const made = await ada.post<{ walletAddress: string }>("/api/wallet/create", { email });
    const body = { success: true, walletAddress: ADDRESS, walletId: expect.any(String), networks: CHAINS };
    expect(made).toMatchObject({ status: 200 });
    expect(made.body).toEqual(expect.objectContaining(body));
    expect((await ada.post("/api/wallet/create", { email: " Agents@Example.com " })).body).toEqual(made.body);
    expect((await ada.get("/api/wallet/address")).body).toEqual({
      authenticated: true,
      address: made.body.walletAddress,
    });

    const other = await eve.post<{ walletAddress: string }>("/api/wallet/create", { email });
    expect(other.body.walletAddress).not.toBe(made.body.walletAddress);
  });

  test.each([{}, { email: "" }, { email: "nobody" }, { email: 7 }])("%j is not a valid email", async (body) => {
    expectRefusal(await (await newUser()).post("/api/wallet/create", body), 400);
  });
});

test("the root key can be rotated while the service runs, and the old one removed", async () => {
  const ada = await newUser();
  const address = await withWallet(ada);
  const next = "the-next-root-key-of-the-wallet-tests-01";
  await berth.restart({ env: { SECRET_KEY: next, SECRET_KEY_PREVIOUS: ROOT } });
  const early = await berth.restart({ env: { SECRET_KEY_PREVIOUS: "" } }).catch((error: unknown) => String(error));
  expect(early).toContain("berth vault rotate");
  await berth.restart({ env: { SECRET_KEY_PREVIOUS: ROOT } });
  const rotated = await berth.command("vault", "rotate");
  expect(rotated).toMatchObject({ exitCode: 0, stderr: "" });
  expect(rotated.stdout).toMatch(/wallets: [1-9]\d* sealed again\n/);
  expect((await berth.command("vault", "rotate")).stdout).toContain("wallets: 0 sealed again\n");
  expect((await berth.command("vault")).exitCode).toBe(2);
  await berth.restart({ env: { SECRET_KEY_PREVIOUS: "" } });
  await ada.signIn();
  expect((await ada.get("/api/wallet")).body).toMatchObject({ address, hasWallet: true });
});
