// Tests the gate against an RPC server that returns balances, is slow, sends nothing, or sends invalid results.
import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { loadConfig } from "../../src/kernel/config/config.ts";
import { AppError } from "../../src/kernel/errors.ts";
import { createChains } from "../chains/index.ts";
import { createGate } from "./gate.ts";

const TOKEN = `0x${"ab".repeat(20)}`;
const ADDRESS = `0x${"Cd".repeat(20)}`;
const word = (value: bigint) => `0x${value.toString(16).padStart(64, "0")}`;

type Answer = (id: number) => Response | Promise<Response>;
const result =
  (value: unknown): Answer =>
  (id) =>
    Response.json({ jsonrpc: "2.0", id, result: value });
const error =
  (code: number): Answer =>
  (id) =>
    Response.json({ jsonrpc: "2.0", id, error: { code, message: "execution reverted" } });

let chainId: unknown;
let balance: Answer;
/** Call data of each `eth_call`. */
let calls: string[];
beforeEach(() => {
  chainId = "0x2105";
  balance = result(word(100n));
  calls = [];
});

const rpc = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  async fetch(request) {
    const { id, method, params } = (await request.json()) as { id: number; method: string; params: [{ data: string }] };
    if (method === "eth_chainId") return result(chainId)(id);
    calls.push(params[0].data);
    return balance(id);
  },
});
afterAll(() => rpc.stop(true));

let time = 1_000_000;
function gateOf(env: Record<string, string> = {}, timeoutMs = 2_000) {
  const url = `http://user:password@127.0.0.1:${rpc.port}/v2/a-key?key=another`;
  const settings = { MAINNET_RPC_URL: url, GATING_TOKEN_ADDRESS: TOKEN, GATING_MIN_BALANCE: "100", ...env };
  const config = loadConfig(settings, { cwd: "/" });
  return createGate(config, createChains(config, { timeoutMs }).mainnet, { now: () => time });
}

/** Expects a 500 whose message does not tell the cause. */
async function expectUnavailable(answer: Promise<boolean>): Promise<void> {
  const thrown: unknown = await answer.then(
    (passes) => expect.unreachable(`It resolved with ${passes}.`),
    (reason: unknown) => reason,
  );
  if (!(thrown instanceof AppError)) throw thrown;
  expect(thrown).toMatchObject({ status: 500, code: "CHAIN_UNAVAILABLE" });
  expect(thrown.message).not.toMatch(/RPC|0x|contract/);
}

test("without a configured token every address passes, and the chain is not called", async () => {
  const gate = gateOf({ GATING_TOKEN_ADDRESS: "" });
  expect({ on: gate.enabled, contract: gate.requirement.contractAddress }).toEqual({ on: false, contract: "" });
  expect(await gate.hasAccess(ADDRESS)).toBe(true);
  expect(calls).toEqual([]);
});

test("the requirement shows the origin of the RPC URL, without parts that may hold a key", () => {
  const { enabled, requirement } = gateOf({ GATING_TOKEN_SYMBOL: "HARBOUR" });
  expect(enabled).toBe(true);
  expect(requirement).toEqual({
    minBalance: "100",
    token: "HARBOUR",
    chain: "mainnet_chain",
    contractAddress: TOKEN,
    rpcEndpoint: `http://127.0.0.1:${rpc.port}`,
  });
});

test.each<[bigint, bigint, boolean]>([
  [99n, 100n, false],
  [100n, 100n, true],
  [0n, 0n, true],
  [10n ** 18n - 1n, 10n ** 18n, false],
  // These two are equal as floating-point numbers.
  [2n ** 53n, 2n ** 53n + 1n, false],
  [2n ** 255n - 1n, 2n ** 255n, false],
  [2n ** 256n - 1n, 2n ** 256n - 1n, true],
  [2n ** 256n - 1n, 2n ** 256n, false],
])("a balance of %p with a minimum of %p: access is %p", async (held, minimum, passes) => {
  balance = result(word(held));
  expect(await gateOf({ GATING_MIN_BALANCE: String(minimum) }).hasAccess(ADDRESS)).toBe(passes);
  expect(calls).toEqual([`0x70a08231${"0".repeat(24)}${"cd".repeat(20)}`]);
});

describe("the cache", () => {
  test("keeps a result for exactly five seconds, whatever the case of the address", async () => {
    const gate = gateOf();
    expect(await gate.hasAccess(ADDRESS)).toBe(true);
    balance = result(word(99n));
    time += 4_999;
    expect(await gate.hasAccess(ADDRESS.toLowerCase())).toBe(true);
    expect(calls).toHaveLength(1);
    time += 1;
    expect(await gate.hasAccess(ADDRESS)).toBe(false);
    balance = result(word(100n));
    expect(await gate.hasAccess(ADDRESS)).toBe(false);
    time += 5_000;
    expect(await gate.hasAccess(ADDRESS)).toBe(true);
  });

  test("shares one read between concurrent calls", async () => {
    const gate = gateOf();
    const answers = await Promise.all(Array.from({ length: 50 }, () => gate.hasAccess(ADDRESS)));
    expect(answers).toEqual(Array.from({ length: 50 }, () => true));
    expect(calls).toHaveLength(1);
  });

  test("does not keep a failure", async () => {
    const gate = gateOf();
    balance = error(-32_603);
    await expectUnavailable(gate.hasAccess(ADDRESS));
    balance = result(word(100n));
    expect(await gate.hasAccess(ADDRESS)).toBe(true);
  });

  test("gets a result for each of many addresses at once, with at most 32 concurrent reads", async () => {
    let atOnce = 0;
    let maxAtOnce = 0;
    balance = async (id) => {
      maxAtOnce = Math.max(maxAtOnce, ++atOnce);
      await new Promise((resolve) => setImmediate(resolve));
      atOnce--;
      return result(word(100n))(id);
    };
    const gate = gateOf();
    const addresses = Array.from({ length: 200 }, (_, index) => `0x${index.toString(16).padStart(40, "0")}`);
    expect(await Promise.all(addresses.map(gate.hasAccess))).toEqual(addresses.map(() => true));
    expect(calls).toHaveLength(200);
    expect(maxAtOnce).toBeLessThanOrEqual(32);
  });
});

describe("access is refused when the chain", () => {
  test.each<[string, unknown]>([
    ["a negative number", "-0x1"],
    ["a negative number of 32 bytes", `0x-${"f".repeat(63)}`],
    ["2^300", `0x${(2n ** 300n).toString(16)}`],
    ["2^300 in two words", `0x${(2n ** 300n).toString(16).padStart(128, "0")}`],
    ["33 bytes", `${word(2n ** 200n)}00`],
    ["a megabyte of digits", `0x${"f".repeat(1_000_000)}`],
    ["half a word", `0x${"f".repeat(32)}`],
    ["a short number", "0xffffffff"],
    ["no data, as for an address without a contract", "0x"],
    ["characters that are not hex digits", `0x${"z".repeat(64)}`],
    ["a word with a line break after it", `${word(2n ** 200n)}\n`],
    ["a number", 1e30],
    ["null", null],
    ["true", true],
    ["a list", [word(2n ** 200n)]],
    ["an object", { balance: word(2n ** 200n) }],
  ])("returns %s", async (_, value) => {
    balance = result(value);
    await expectUnavailable(gateOf({ GATING_MIN_BALANCE: "1" }).hasAccess(ADDRESS));
  });

  test.each<[string, Answer]>([
    ["reverts", error(3)],
    ["can't execute the call", error(-32_000)],
    ["has reached its limit", error(-32_005)],
    ["returns bad JSON", () => new Response('{"jsonrpc":"2.0","id":1,"result":"0xff')],
    ["returns an HTML page", () => new Response("<html>", { headers: { "content-type": "text/html" } })],
    ["returns status 500", () => new Response("oops", { status: 500 })],
  ])("%s", async (_, answer) => {
    balance = answer;
    await expectUnavailable(gateOf().hasAccess(ADDRESS));
  });

  test.each(["0x1", "0x14a34", "0x", null, -8453])("has another chain id: %p", async (id) => {
    chainId = id;
    await expectUnavailable(gateOf().hasAccess(ADDRESS));
    expect(calls).toEqual([]);
  });

  test("takes too long, or can't be reached", async () => {
    balance = () => new Promise(() => undefined);
    await expectUnavailable(gateOf({}, 150).hasAccess(ADDRESS));
    await expectUnavailable(gateOf({ MAINNET_RPC_URL: "http://127.0.0.1:1" }).hasAccess(ADDRESS));
  });
});
