// What a chain's silence, errors and lies become: an error of ours, never an answer.
import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { loadConfig } from "../../src/kernel/config/config.ts";
import { AppError } from "../../src/kernel/errors.ts";
import { createChains } from "./chains.ts";

interface Call {
  id: number;
  method: string;
}
type Answer = (call: Call) => Response | Promise<Response>;

const result =
  (value: unknown): Answer =>
  ({ id }) =>
    Response.json({ jsonrpc: "2.0", id, result: value });
const error =
  (code: number, message: string, status = 200): Answer =>
  ({ id }) =>
    Response.json({ jsonrpc: "2.0", id, error: { code, message } }, { status });

let asked: string[] = [];
let answers: Record<string, Answer> = {};
beforeEach(() => {
  asked = [];
  answers = { eth_chainId: result("0x2105"), eth_blockNumber: result("0x10") };
});

/** An RPC that says what the test wants. */
const rpc = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  async fetch(request) {
    const call = (await request.json()) as Call;
    asked.push(call.method);
    return answers[call.method]?.(call) ?? error(-32_601, "no such method")(call);
  },
});
afterAll(() => rpc.stop(true));

const KEY = "a-key-in-the-address";
const chainsAt = (url: string, timeoutMs?: number) => {
  const config = loadConfig({ MAINNET_RPC_URL: url, TESTNET_RPC_URL: url }, { cwd: "/" });
  return createChains(config, timeoutMs === undefined ? {} : { timeoutMs });
};
const { mainnet, testnet } = chainsAt(`http://127.0.0.1:${rpc.port}/v2/${KEY}`);
const block = (chain = mainnet) => chain.withClient((client) => client.getBlockNumber());

/** Asks, and expects an error that tells the caller nothing and the log why. */
async function expectUnavailable(question: Promise<unknown>, why: RegExp | string): Promise<void> {
  const thrown: unknown = await question.then(
    (value) => expect.unreachable(`It answered ${value}.`),
    (reason: unknown) => reason,
  );
  if (!(thrown instanceof AppError)) throw thrown;
  expect(thrown).toMatchObject({ status: 500, code: "CHAIN_UNAVAILABLE", message: expect.not.stringMatching(/RPC/) });
  expect(String(thrown.cause)).toMatch(why);
  expect(Bun.inspect(thrown)).not.toContain(KEY);
}

test("nothing is asked before the first question, and the chain's id before each", async () => {
  expect({ name: mainnet.name, id: mainnet.id }).toEqual({ name: "mainnet_chain", id: 8453 });
  expect({ name: testnet.name, id: testnet.id }).toEqual({ name: "testnet_chain", id: 84_532 });
  expect(asked).toEqual([]);
  expect(await block()).toBe(16n);
  expect(await block()).toBe(16n);
  expect(asked).toEqual(["eth_chainId", "eth_blockNumber", "eth_chainId", "eth_blockNumber"]);
});

test("another chain than ours is asked nothing", async () => {
  await expectUnavailable(block(testnet), "The RPC of testnet_chain is on chain 8453, and should be on 84532.");
  answers.eth_chainId = result("0x1");
  await expectUnavailable(block(), "is on chain 1, and should be on 8453");
  expect(asked).not.toContain("eth_blockNumber");
});

describe("no answer", () => {
  test("when no node listens", async () => {
    const gone = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
    const url = `http://127.0.0.1:${gone.port}/${KEY}`;
    await gone.stop(true);
    await expectUnavailable(block(chainsAt(url).mainnet), "The RPC of mainnet_chain gave no answer");
  });

  test("when it takes too long, all requests of a question together", async () => {
    const never = new Promise<Response>(() => undefined);
    answers.eth_blockNumber = () => never;
    const began = performance.now();
    await expectUnavailable(block(chainsAt(rpc.url.href, 150).mainnet), "gave no answer");
    answers.eth_chainId = () => never;
    await expectUnavailable(block(chainsAt(rpc.url.href, 150).mainnet), "gave no answer");
    expect(performance.now() - began).toBeLessThan(5_000);
  });

  test("when the body never ends", async () => {
    answers.eth_blockNumber = () =>
      new Response(new ReadableStream({ start: (out) => out.enqueue(new Uint8Array([32])) }));
    await expectUnavailable(block(chainsAt(rpc.url.href, 150).mainnet), "gave no answer");
  });

  test.each<[string, Answer]>([
    ["a server error", () => new Response("oops", { status: 502 })],
    ["too many requests", () => new Response("slow down", { status: 429 })],
    ["too many requests, as JSON-RPC", error(-32_016, "over rate limit", 429)],
    ["a limit", error(-32_005, "limit exceeded")],
    ["an inner error", error(-32_603, "internal error")],
    ["a method it lacks", error(-32_601, "not supported")],
    ["a page", () => new Response("<html>hello</html>", { headers: { "content-type": "text/html" } })],
    ["nothing at all", () => new Response()],
  ])("%s is none", async (_, answer) => {
    answers.eth_blockNumber = answer;
    await expectUnavailable(block(), "The RPC of mainnet_chain gave no answer");
    expect(await mainnet.withClient(async () => "another question")).toBe("another question");
  });

  test("is not mistaken for success by code that ignores the error", async () => {
    answers.eth_blockNumber = () => new Response("oops", { status: 500 });
    const swallowed = mainnet.withClient((client) => client.getBlockNumber().catch(() => false));
    await expectUnavailable(swallowed, "gave no answer");
  });
});

test("what hiccups once is asked once more", async () => {
  const good = result("0x11");
  answers.eth_blockNumber = (call) => {
    answers.eth_blockNumber = good;
    return new Response(`no block for ${call.id}`, { status: 503 });
  };
  expect(await block()).toBe(17n);
});

test("a refusal by the chain itself is the question's to deal with", async () => {
  const to = "0x1111111111111111111111111111111111111111";
  for (const code of [3, -32_000, -32_015]) {
    answers.eth_call = error(code, "execution reverted");
    await expect(mainnet.withClient((client) => client.call({ to }))).rejects.toThrow("execution reverted");
    expect(await mainnet.withClient((client) => client.call({ to }).catch(() => "no"))).toBe("no");
  }
  await expect(mainnet.withClient(() => Promise.reject(new Error("mine")))).rejects.toThrow("mine");
});

test("what a node says of a call keeps its code, and nothing of the address or of what was asked", async () => {
  answers.eth_blockNumber = error(-32_000, "execution failed");
  const thrown: unknown = await block().catch((reason: unknown) => reason);
  const shown = Bun.inspect(thrown, { depth: 20 });
  expect(shown).toContain("execution failed");
  expect(shown).not.toContain(KEY);
  expect(shown).not.toContain("/v2/");
});
