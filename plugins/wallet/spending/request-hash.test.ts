// Tests that requests with the same meaning have the same hash, however they are written, and others do not.
import { describe, expect, test } from "bun:test";
import { hashRequest } from "./request-hash.ts";

const TO = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";

describe("the same hash for", () => {
  test.each<["send" | "trade" | "pay", object, object]>([
    ["send", { to: TO, amount: "2" }, { amount: "2.00", to: TO.toLowerCase() }],
    ["send", { to: TO, amount: "2" }, { to: ` ${TO} `, amount: " 02.0", network: "testnet_chain", from: undefined }],
    [
      "trade",
      { sell: "USDC", buy: "WETH", amount: "1" },
      { sell: "stablecoin", buy: "weth", amount: "1.0", slippageBps: 50 },
    ],
    ["pay", { url: "https://shop.example", maxAmount: "1" }, { maxAmount: "1.0", url: "HTTPS://Shop.example/" }],
    [
      "pay",
      { url: "https://a.b", maxAmount: "1", body: { a: 1, b: { c: [2], d: 3 } } },
      { url: "https://a.b/", maxAmount: "1", body: { b: { d: 3, c: [2] }, a: 1 }, method: "POST" },
    ],
    ["pay", { url: "https://a.b", maxAmount: "1" }, { url: "https://a.b/", maxAmount: "1", method: "GET" }],
  ])("%s %j and %j", (kind, one, other) => {
    expect(hashRequest(kind, one)).toBe(hashRequest(kind, other));
  });
});

describe("different hashes for", () => {
  test.each<["send" | "trade" | "pay", object, object]>([
    ["send", { to: TO, amount: "2" }, { to: TO, amount: "20" }],
    ["send", { to: TO, amount: "0.000001" }, { to: TO, amount: "0.0000010000001" }],
    ["send", { to: TO, amount: "2" }, { to: TO, amount: "2", network: "mainnet_chain" }],
    ["trade", { sell: "USDC", buy: "WETH", amount: "1" }, { sell: "WETH", buy: "USDC", amount: "1" }],
    ["pay", { url: "https://a.b/News", maxAmount: "1" }, { url: "https://a.b/news", maxAmount: "1" }],
    ["pay", { url: "https://a.b/", maxAmount: "1", body: "a" }, { url: "https://a.b/", maxAmount: "1", body: "A" }],
    [
      "pay",
      { url: "https://a.b/", maxAmount: "1", body: [1, 2] },
      { url: "https://a.b/", maxAmount: "1", body: [2, 1] },
    ],
  ])("%s %j and %j", (kind, one, other) => {
    expect(hashRequest(kind, one)).not.toBe(hashRequest(kind, other));
  });

  test("two kinds of spend", () => {
    expect(hashRequest("send", { amount: "1" })).not.toBe(hashRequest("trade", { amount: "1" }));
  });
});
