// Compares the estimates of the API with exact decimal arithmetic.
import { expect, test } from "bun:test";
import { serveAi } from "../support.test.ts";
import { builtInProviders } from "./registry.ts";

/** Digits of a decimal number as JSON writes it, as a whole number of 1e-`places`. */
function scaled(text: string, places: number): bigint {
  const [, sign = "", whole = "0", fraction = "", exponent = "0"] =
    /^(-?)(\d+)(?:\.(\d+))?(?:e([-+]?\d+))?$/.exec(text) ?? [];
  const digits = whole + fraction;
  const shift = Number(exponent) - fraction.length + places;
  const value = shift >= 0 ? BigInt(digits) * 10n ** BigInt(shift) : BigInt(digits) / 10n ** BigInt(-shift);
  return sign ? -value : value;
}
/** USD of so many tokens at such prices per million, in units of 1e-24. */
const byHand = (inputCost: string, outputCost: string, input: bigint, output: bigint) =>
  (scaled(inputCost, 24) * input + scaled(outputCost, 24) * output) / 1_000_000n;

const NANO = 10n ** 15n;
const COUNTS: [bigint, bigint][] = [
  [0n, 0n],
  [1n, 0n],
  [0n, 1n],
  [7n, 13n],
  [1_234_567n, 89n],
  [999_999_999n, 1n],
];

test("estimates are right to 1e-9 for every listed model and number of tokens", async () => {
  // No server listens there, so the list is the binary's own table.
  const nobody = (n: number) => [
    [`PROVIDER_${n}_BASE_URL`, "http://berth.invalid/v1"],
    [`PROVIDER_${n}_API_KEY`, "sk-none"],
  ];
  await using berth = await serveAi(Object.fromEntries([1, 2, 3, 4, 5].flatMap(nobody)));
  // The text of the answer, so that a price is what a client reads, digit by digit.
  const text = await (await berth.get("/api/ai/models")).text();
  const models = [
    ...text.matchAll(
      /\{"id":"([^"]+)"[^{}]*?"provider":"(provider_\d)"[^{}]*?"inputCost":([\d.e-]+),"outputCost":([\d.e-]+)/g,
    ),
  ];
  expect(models).toHaveLength(builtInProviders.flatMap(({ models }) => models).length);
  for (const [, id = "", provider = "", inputCost = "", outputCost = ""] of models) {
    for (const [input, output] of COUNTS) {
      const model = `${provider}:${id}`;
      const body = `{"model":${JSON.stringify(model)},"inputTokens":${input},"outputTokens":${output}}`;
      const answer = await (await berth.post("/api/ai/estimate-cost", body)).text();
      const said = /"estimatedCost":([\d.e-]+)/.exec(answer)?.[1] ?? answer;
      const expected = byHand(inputCost, outputCost, input, output);
      const off = scaled(said, 24) - expected;
      expect({ model, input, output, said, right: off <= NANO / 2n && off >= -NANO / 2n }).toEqual({
        model,
        input,
        output,
        said,
        right: true,
      });
    }
  }
});

test.each(["-1", "1.5", "1e400", "9007199254740993", "null", '"7"', "[7]", "true", "-0.5"])(
  "for %s tokens there is none, but a sentence",
  async (count) => {
    await using berth = await serveAi();
    for (const name of ["inputTokens", "outputTokens"]) {
      const other = name === "inputTokens" ? "outputTokens" : "inputTokens";
      const answer = await berth.post("/api/ai/estimate-cost", `{"model":"gpt-4o","${name}":${count},"${other}":1}`);
      expect([answer.status, await answer.json()]).toMatchObject([
        400,
        { code: "INVALID_INPUT", issues: [{ path: name }] },
      ]);
    }
  },
);

test("an estimate for the greatest number of tokens is a number", async () => {
  await using berth = await serveAi();
  const most = Number.MAX_SAFE_INTEGER;
  const answer = await berth.post("/api/ai/estimate-cost", { model: "gpt-4o", inputTokens: most, outputTokens: most });
  // 12.50 USD for a million of both.
  expect(await answer.json()).toMatchObject({ estimatedCost: 112_589_990_684.26239 });
});
