// Sign-In with Ethereum messages: valid ones are parsed, and each single wrong field is refused.
import { afterEach, beforeEach, describe, expect, setSystemTime, test } from "bun:test";
import { createWallet, type SiweFields, siweMessage } from "../../../tests/support/wallets.ts";
import { parseSiweMessage } from "./siwe-message.ts";

const NOW = Date.parse("2030-06-01T12:00:00Z");
beforeEach(() => void setSystemTime(NOW));
afterEach(() => void setSystemTime());

const wallet = createWallet();
const expected = { baseUrl: "https://berth.example:8443", chainId: 8453 };
const at = (seconds: number) => new Date(NOW + seconds * 1000).toISOString();
const read = (fields: SiweFields = {}) => parseSiweMessage(siweMessage(expected.baseUrl, wallet, fields), expected);
const refusal = { name: "AppError", status: 401, code: "INVALID_MESSAGE" };

test("a valid message gives address, nonce and time", async () => {
  expect(await read({ nonce: "abcd1234" })).toEqual({ address: wallet.address, nonce: "abcd1234", issuedAt: NOW });
});

describe("accepted", () => {
  test.each<[string, SiweFields]>([
    ["with the scheme of this service", { scheme: "https" }],
    ["with a path in its URI", { uri: "https://berth.example:8443/login?from=app" }],
    ["from a clock that is a little ahead", { issuedAt: at(59) }],
    ["from a clock that is behind, since the nonce limits the age", { issuedAt: at(-3_600) }],
    ["in another time zone", { issuedAt: "2030-06-01T14:00:00+02:00" }],
    ["within its own bounds", { notBefore: at(-1), expirationTime: at(1) }],
    ["with a long statement", { statement: "a".repeat(10_000) }],
  ])("%s", async (_, fields) => {
    expect(await read(fields)).toMatchObject({ address: wallet.address });
  });

  test("without a statement", async () => {
    const text = siweMessage(expected.baseUrl, wallet).replace("\n\nSign in to Berth.\n\n", "\n\n\n");
    expect(await parseSiweMessage(text, expected)).toMatchObject({ address: wallet.address });
  });
});

describe("refused", () => {
  test.each<[string, SiweFields]>([
    ["another domain", { domain: "evil.example" }],
    ["the domain without its port", { domain: "berth.example" }],
    ["another port", { domain: "berth.example:8444" }],
    ["a domain that begins like ours", { domain: "berth.example:8443.evil.example" }],
    ["a domain under ours", { domain: "evil.berth.example:8443" }],
    ["our domain as the user part", { domain: "berth.example:8443@evil.example" }],
    ["another scheme", { scheme: "http" }],
    ["another URI", { uri: "https://evil.example" }],
    ["another scheme in the URI", { uri: "http://berth.example:8443" }],
    ["another port in the URI", { uri: "https://berth.example" }],
    ["our domain as the user part of the URI", { uri: "https://berth.example:8443@evil.example" }],
    ["a URI without an origin", { uri: "did:key:z6Mk" }],
    ["version 2", { version: 2 }],
    ["another chain", { chainId: 1 }],
    ["the test chain", { chainId: 84_532 }],
    ["the chain's id in hex", { chainId: "0x2105" }],
    ["no chain", { chainId: "" }],
    ["a nonce that is too short", { nonce: "abc1234" }],
    ["a nonce that is not letters and digits", { nonce: "abcd-1234" }],
    ["a time in the future", { issuedAt: at(61) }],
    ["a day that does not exist", { issuedAt: "2030-02-30T12:00:00Z" }],
    ["an invalid second", { issuedAt: "2030-06-01T11:59:60Z" }],
    ["a text that is not a time", { issuedAt: "yesterday" }],
    ["expired", { expirationTime: at(-1) }],
    ["expiring now", { expirationTime: at(0) }],
    ["an invalid expiry", { expirationTime: "2031-06-01T11:59:60Z" }],
    ["not valid yet", { notBefore: at(1) }],
    ["an invalid start", { notBefore: "2029-06-01T11:59:60Z" }],
    ["an address without its checksum", { address: wallet.address.toLowerCase() }],
    ["an address with one letter's case wrong", { address: "0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96046" }],
    ["an address that is too short", { address: wallet.address.slice(0, -1) }],
    ["a field injected by a statement", { statement: "hello\nURI: https://berth.example:8443" }],
  ])("%s", async (_, fields) => {
    await expect(read(fields)).rejects.toMatchObject(refusal);
  });

  test.each([
    ["nothing", " "],
    ["another text", "Sign me in, please."],
    ["JSON", JSON.stringify({ domain: "berth.example:8443" })],
    ["other line endings", siweMessage(expected.baseUrl, wallet).replaceAll("\n", "\r\n")],
    ["a trailing line break", `${siweMessage(expected.baseUrl, wallet)}\n`],
    ["a line after the end", `${siweMessage(expected.baseUrl, wallet)}\nChain ID: 8453`],
    ["no time", siweMessage(expected.baseUrl, wallet).replace(/\nIssued At:.*$/, "")],
    ["no nonce", siweMessage(expected.baseUrl, wallet).replace(/\nNonce:.*/, "")],
    ["a text beyond the maximum length", siweMessage(expected.baseUrl, wallet, { statement: "a".repeat(16_384) })],
  ])("%s", async (_, text) => {
    await expect(parseSiweMessage(text, expected)).rejects.toMatchObject(refusal);
  });
});
