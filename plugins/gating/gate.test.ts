// The gate and a chain that answers, is slow, is silent, or lies.
import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { createChains } from "../../src/kernel/chains/chains.ts";
import { loadConfig } from "../../src/kernel/config/config.ts";
import { AppError } from "../../src/kernel/errors.ts";
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
let asked: string[];
beforeEach(() => {
  chainId = "0x2105";
  balance = result(word(100n));
  asked = [];
});

const rpc = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  async fetch(request) {
    const { id, method, params } = (await request.json()) as { id: number; method: string; params: [{ data: string }] };
    if (method === "eth_chainId") return result(chainId)(id);
    asked.push(params[0].data);
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

/** 500 for the caller, and why for the log. */
async function expectClosed(answer: Promise<boolean>): Promise<void> {
  const thrown: unknown = await answer.then(
    (passes) => expect.unreachable(`It said ${passes}.`),
    (reason: unknown) => reason,
  );
  if (!(thrown instanceof AppError)) throw thrown;
  expect(thrown).toMatchObject({ status: 500, code: "CHAIN_UNAVAILABLE" });
  expect(thrown.message).not.toMatch(/RPC|0x|contract/);
}

test("without a token everybody passes, and nothing is asked", async () => {
  const gate = gateOf({ GATING_TOKEN_ADDRESS: "" });
  expect({ on: gate.enabled, contract: gate.requirement.contractAddress }).toEqual({ on: false, contract: "" });
  expect(await gate.hasAccess(ADDRESS)).toBe(true);
  expect(asked).toEqual([]);
});

test("what it asks for is shown, without what may be a key", () => {
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
  // Numbers that are one and the same as floating point.
  [2n ** 53n, 2n ** 53n + 1n, false],
  [2n ** 255n - 1n, 2n ** 255n, false],
  [2n ** 256n - 1n, 2n ** 256n - 1n, true],
  [2n ** 256n - 1n, 2n ** 256n, false],
])("a balance of %p, where %p are asked for: %p", async (held, minimum, passes) => {
  balance = result(word(held));
  expect(await gateOf({ GATING_MIN_BALANCE: String(minimum) }).hasAccess(ADDRESS)).toBe(passes);
  expect(asked).toEqual([`0x70a08231${"0".repeat(24)}${"cd".repeat(20)}`]);
});

describe("an answer", () => {
  test("is remembered for five seconds, however the address is written, and no longer", async () => {
    const gate = gateOf();
    expect(await gate.hasAccess(ADDRESS)).toBe(true);
    balance = result(word(99n));
    time += 4_999;
    expect(await gate.hasAccess(ADDRESS.toLowerCase())).toBe(true);
    expect(asked).toHaveLength(1);
    time += 1;
    expect(await gate.hasAccess(ADDRESS)).toBe(false);
    balance = result(word(100n));
    expect(await gate.hasAccess(ADDRESS)).toBe(false);
    time += 5_000;
    expect(await gate.hasAccess(ADDRESS)).toBe(true);
  });

  test("serves all who ask for it at the same time", async () => {
    const gate = gateOf();
    const answers = await Promise.all(Array.from({ length: 50 }, () => gate.hasAccess(ADDRESS)));
    expect(answers).toEqual(Array.from({ length: 50 }, () => true));
    expect(asked).toHaveLength(1);
  });

  test("is never a failure, and a failure takes no answer's place", async () => {
    const gate = gateOf();
    balance = error(-32_603);
    await expectClosed(gate.hasAccess(ADDRESS));
    balance = result(word(100n));
    expect(await gate.hasAccess(ADDRESS)).toBe(true);
  });

  test("of many addresses at once comes for each; a few are asked for side by side", async () => {
    let atOnce = 0;
    let most = 0;
    balance = async (id) => {
      most = Math.max(most, ++atOnce);
      await new Promise((resolve) => setImmediate(resolve));
      atOnce--;
      return result(word(100n))(id);
    };
    const gate = gateOf();
    const addresses = Array.from({ length: 200 }, (_, index) => `0x${index.toString(16).padStart(40, "0")}`);
    expect(await Promise.all(addresses.map(gate.hasAccess))).toEqual(addresses.map(() => true));
    expect(asked).toHaveLength(200);
    expect(most).toBeLessThanOrEqual(32);
  });
});

describe("nobody gets in when the chain", () => {
  test.each<[string, unknown]>([
    ["a negative number", "-0x1"],
    ["another negative number", `0x-${"f".repeat(63)}`],
    ["2^300", `0x${(2n ** 300n).toString(16)}`],
    ["2^300 in two words", `0x${(2n ** 300n).toString(16).padStart(128, "0")}`],
    ["a word and more", `${word(2n ** 200n)}00`],
    ["a megabyte of digits", `0x${"f".repeat(1_000_000)}`],
    ["half a word", `0x${"f".repeat(32)}`],
    ["a short number", "0xffffffff"],
    ["nothing, as where no contract is", "0x"],
    ["no digits", `0x${"z".repeat(64)}`],
    ["a line break behind", `${word(2n ** 200n)}\n`],
    ["a number", 1e30],
    ["null", null],
    ["true", true],
    ["a list", [word(2n ** 200n)]],
    ["an object", { balance: word(2n ** 200n) }],
  ])("gives %s", async (_, value) => {
    balance = result(value);
    await expectClosed(gateOf({ GATING_MIN_BALANCE: "1" }).hasAccess(ADDRESS));
  });

  test.each<[string, Answer]>([
    ["reverts", error(3)],
    ["can't carry it out", error(-32_000)],
    ["has too much to do", error(-32_005)],
    ["gives bad JSON", () => new Response('{"jsonrpc":"2.0","id":1,"result":"0xff')],
    ["gives a page", () => new Response("<html>", { headers: { "content-type": "text/html" } })],
    ["fails", () => new Response("oops", { status: 500 })],
  ])("%s", async (_, answer) => {
    balance = answer;
    await expectClosed(gateOf().hasAccess(ADDRESS));
  });

  test.each(["0x1", "0x14a34", "0x", null, -8453])("is another one: %p", async (id) => {
    chainId = id;
    await expectClosed(gateOf().hasAccess(ADDRESS));
    expect(asked).toEqual([]);
  });

  test("takes too long, or is not there", async () => {
    balance = () => new Promise(() => undefined);
    await expectClosed(gateOf({}, 150).hasAccess(ADDRESS));
    await expectClosed(gateOf({ MAINNET_RPC_URL: "http://127.0.0.1:1" }).hasAccess(ADDRESS));
  });
});
