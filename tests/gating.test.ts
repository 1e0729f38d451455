// Token gating on the running service with real tokens on a real chain: sufficient balances pass, and no error gives access.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Address } from "viem";
import { type Anvil, startAnvil } from "./support/anvil.ts";
import { type Berth, startBerth } from "./support/berth.ts";
import { type Client, createClient } from "./support/client.ts";
import { eventually } from "./support/eventually.ts";
import { expectRefusal } from "./support/refusal.ts";
import { compileContract } from "./support/solidity.ts";
import { createWallet } from "./support/wallets.ts";

const PATH = "/api/auth/token-gating/verify";
const ETHER = 10n ** 18n;

interface Answer {
  fid?: string;
  address: string;
  hasAccess: boolean;
  tokenGated: boolean;
  minBalance: string;
  token: string;
  chain: string;
  contractAddress?: string;
  rpcEndpoint?: string;
  message?: string;
  timestamp?: string;
}

let chain: Anvil;
let token: Address;
beforeAll(async () => {
  chain = await startAnvil();
  token = await deploy("GatingToken", 18);
});
afterAll(() => chain?.[Symbol.asyncDispose]());

const deploy = async (name: string, ...args: unknown[]) =>
  chain.deploy(await compileContract("GatingToken.sol", name), ...args);

/** A new wallet with this balance. */
async function holder(balance: bigint, of = token): Promise<Address> {
  const { address } = createWallet();
  await setBalance(of, address, balance);
  return address;
}

async function setBalance(of: Address, address: Address, balance: bigint): Promise<void> {
  const { abi } = await compileContract("GatingToken.sol", "GatingToken");
  const { client } = chain;
  const hash = await client.writeContract({ address: of, abi, functionName: "setBalance", args: [address, balance] });
  await client.waitForTransactionReceipt({ hash });
}

const rpcUrl = (url = chain.url) => `${url.replace("//", "//operator:secret-of-the-rpc@")}/?key=secret-of-the-rpc`;

/** Starts a service whose gate requires `minimum` of this token. */
const gated = (minimum: bigint, of: string = token, env: Record<string, string> = {}) =>
  startBerth({
    env: {
      MAINNET_RPC_URL: rpcUrl(),
      GATING_TOKEN_ADDRESS: of,
      GATING_TOKEN_SYMBOL: "HARBOUR",
      GATING_MIN_BALANCE: String(minimum),
      RATE_LIMITS: "off",
      ...env,
    },
  });

const get = (client: Client, address: string) => client.get<Answer>(`${PATH}?address=${address}`);
const post = (client: Client, address: string) => client.post<Answer>(PATH, { fid: "12345", address });

/** Asks with GET and POST, which must agree. */
async function access(berth: Berth, address: string): Promise<boolean> {
  const client = createClient(berth);
  const [one, other] = await Promise.all([get(client, address), post(client, address)]);
  expect([one.status, other.status]).toEqual([200, 200]);
  expect(other.body.hasAccess).toBe(one.body.hasAccess);
  return one.body.hasAccess;
}

async function expectClosed(berth: Berth, address: string): Promise<void> {
  const client = createClient(berth);
  for (const answer of await Promise.all([get(client, address), post(client, address)])) {
    expectRefusal(answer, 500, "CHAIN_UNAVAILABLE");
    expect(answer.text).not.toMatch(/hasAccess|127\.0\.0\.1|secret/);
  }
}

describe("the gate is on", () => {
  let berth: Berth;
  beforeAll(async () => {
    berth = await gated(ETHER);
  });
  afterAll(() => berth?.[Symbol.asyncDispose]());

  test("the exact minimum passes, with all details in the response", async () => {
    const address = await holder(ETHER);
    const startedAt = Date.now();
    const { body } = await post(createClient(berth), address);
    const { timestamp, ...rest } = body;
    expect(rest).toEqual({
      fid: "12345",
      address,
      hasAccess: true,
      tokenGated: true,
      minBalance: "1000000000000000000",
      token: "HARBOUR",
      chain: "mainnet_chain",
      message: expect.stringMatching(/\S/),
    });
    expect(timestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(Date.parse(timestamp ?? "")).toBeGreaterThanOrEqual(startedAt);
    expect((await get(createClient(berth), address)).body).toEqual({
      address,
      hasAccess: true,
      tokenGated: true,
      minBalance: "1000000000000000000",
      token: "HARBOUR",
      chain: "mainnet_chain",
      contractAddress: token,
      rpcEndpoint: chain.url,
    });
  });

  test("one unit less and zero do not pass, a huge balance does", async () => {
    expect(await access(berth, await holder(ETHER - 1n))).toBe(false);
    expect(await access(berth, await holder(2n ** 256n - 1n))).toBe(true);
    expect(await access(berth, await holder(0n))).toBe(false);
    expect(await access(berth, createWallet().address)).toBe(false);
  });

  test("case does not matter in an address", async () => {
    const address = await holder(ETHER);
    expect(await access(berth, address.toLowerCase())).toBe(true);
    expect(await access(berth, `0x${address.slice(2).toUpperCase()}`)).toBe(true);
  });

  test("access ends within seconds after the tokens are sold", async () => {
    const address = await holder(ETHER);
    expect(await access(berth, address)).toBe(true);
    await setBalance(token, address, ETHER - 1n);
    const out = async () => !(await access(berth, address));
    await eventually(out, { timeoutMs: 10_000, everyMs: 250, what: "the gate sees the sale" });
  });

  test("an invalid address or fid: 400", async () => {
    const client = createClient(berth);
    const good = createWallet().address;
    const bad = ["", "0x", good.slice(0, -1), `${good}0`, good.slice(2), `0X${good.slice(2)}`, `0x${"g".repeat(40)}`];
    for (const address of [...bad, ` ${good}`, `${good}\n`, "0x".padEnd(42, "٣"), "x".repeat(10_000)]) {
      expectRefusal(await get(client, encodeURIComponent(address)), 400, "INVALID_INPUT");
      const { issues } = expectRefusal(await post(client, address), 400, "INVALID_INPUT");
      expect(issues?.map(({ path }) => path)).toEqual(["address"]);
    }
    expectRefusal(await client.get(PATH), 400, "INVALID_INPUT");
    for (const body of [{}, { fid: "1" }, { address: good }, { fid: "", address: good }, { fid: 1, address: good }]) {
      expectRefusal(await client.post(PATH, body), 400, "INVALID_INPUT");
    }
    for (const address of [null, 1, [good], { good }])
      expectRefusal(await client.post(PATH, { fid: "1", address }), 400);
    expectRefusal(await client.post(PATH), 400, "INVALID_INPUT");
  });

  test("an invalid bearer token gives no access; an API key may ask like any caller", async () => {
    const address = await holder(ETHER);
    const ada = createClient(berth);
    await ada.join();
    const { key } = (await ada.post<{ key: string }>("/api/keys", { name: "gate" })).body;
    const anybody = createClient(berth);
    const as = (bearer: string) => ({ headers: { authorization: `Bearer ${bearer}` } });
    for (const bearer of ["", "x", "bk_nothing", "eyJhbGciOiJub25lIn0.e30.", Buffer.from("a.b.c").toString("base64")]) {
      expectRefusal(await anybody.get(`${PATH}?address=${address}`, as(bearer)), 401, "UNAUTHORIZED");
      expectRefusal(await anybody.post(PATH, { fid: "1", address: "bad" }, as(bearer)), 401, "UNAUTHORIZED");
    }
    expect((await anybody.get<Answer>(`${PATH}?address=${address}`, as(key))).body.hasAccess).toBe(true);
  });

  test("no access while the chain is down or has another id; afterwards all is as before", async () => {
    const [rich, poor] = [await holder(ETHER), await holder(0n)];
    await chain.stop();
    await expectClosed(berth, rich);
    await expectClosed(berth, poor);
    await chain.start({ chainId: 84_532 });
    await expectClosed(berth, rich);
    await chain.stop();
    await chain.start();
    expect(await access(berth, rich)).toBe(true);
    expect(await access(berth, poor)).toBe(false);
  });

  test("the operator's secrets are in no response and no log", async () => {
    await get(createClient(berth), createWallet().address);
    const { stdout, stderr } = berth.output();
    expect(stdout + stderr).not.toContain("secret-of-the-rpc");
  });
});

test.each<[decimals: number, minimum: bigint]>([
  [6, 25_000_000n],
  [0, 3n],
])("a token with %d decimals: smallest units count", async (decimals, minimum) => {
  const other = await deploy("GatingToken", decimals);
  await using berth = await gated(minimum, other);
  expect(await access(berth, await holder(minimum, other))).toBe(true);
  expect(await access(berth, await holder(minimum - 1n, other))).toBe(false);
  expect(await access(berth, await holder(minimum * ETHER, other))).toBe(true);
  // A balance of another token does not count.
  expect(await access(berth, await holder(2n ** 255n))).toBe(false);
});

describe("no access with", () => {
  test("an address without a contract, or a contract that is not a token", async () => {
    const contracts = [
      createWallet().address,
      await deploy("RevertingToken"),
      await deploy("TalkativeToken"),
      await deploy("TerseToken"),
    ];
    for (const contract of contracts) {
      await using berth = await gated(0n, contract);
      await expectClosed(berth, createWallet().address);
    }
  });

  test("a node that sends wrong results", async () => {
    const word = `0x${"f".repeat(64)}`;
    let responses: Record<string, unknown> = {};
    await using rpc = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      async fetch(request) {
        const { id, method } = (await request.json()) as { id: number; method: string };
        return Response.json({ jsonrpc: "2.0", id, result: responses[method] });
      },
    });
    await using berth = await gated(1n, token, { MAINNET_RPC_URL: rpc.url.href });
    const { address } = createWallet();
    const call = (result: unknown) => ({ eth_chainId: "0x2105", eth_call: result });
    for (const lie of [
      { eth_chainId: "0x1", eth_call: word },
      { eth_chainId: "what", eth_call: word },
      { eth_call: word },
      call("-0x1"),
      call(`0x${(2n ** 300n).toString(16)}`),
      call(`${word}${"f".repeat(1_000_000)}`),
      call("0x"),
      call(1e30),
      call(null),
    ]) {
      responses = lie;
      await expectClosed(berth, address);
    }
    responses = call(word);
    expect(await access(berth, address)).toBe(true);
  });

  test("a node that never responds: 500 after a timeout, while Berth serves other requests", async () => {
    await using rpc = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      idleTimeout: 0,
      fetch: () => new Promise(() => undefined),
    });
    await using berth = await gated(1n, token, { MAINNET_RPC_URL: rpc.url.href });
    const began = performance.now();
    const slow = expectClosed(berth, createWallet().address);
    expect((await createClient(berth).get("/api/auth/session")).status).toBe(200);
    expect(performance.now() - began).toBeLessThan(5_000);
    await slow;
    expect(performance.now() - began).toBeLessThan(30_000);
    await rpc.stop(true);
  });
});

test("without a configured token the gate is off: every address has access, without a call to the chain", async () => {
  await using berth = await startBerth({ env: { MAINNET_RPC_URL: "http://127.0.0.1:1/secret" } });
  const { address } = createWallet();
  const client = createClient(berth);
  expect((await post(client, address)).body).toMatchObject({
    fid: "12345",
    address,
    hasAccess: true,
    tokenGated: false,
  });
  expect((await get(client, address)).body).toEqual({
    address,
    hasAccess: true,
    tokenGated: false,
    minBalance: "1000000000000000000",
    token: "TOKEN",
    chain: "mainnet_chain",
    contractAddress: "",
    rpcEndpoint: "http://127.0.0.1:1",
  });
  expectRefusal(await get(client, "0x12"), 400, "INVALID_INPUT");
});

test("callers without a session are rate limited", async () => {
  await using berth = await startBerth({ env: { RATE_LIMITS: '{"default":"5/m"}' } });
  const client = createClient(berth);
  const { address } = createWallet();
  for (let i = 0; i < 5; i++) expect((await get(client, address)).status).toBe(200);
  const answer = await get(client, address);
  expectRefusal(answer, 429, "RATE_LIMITED");
  expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
});
