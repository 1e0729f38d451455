// Tests the warnings about fields of a provisioning request that have no effect.
import { expect, test } from "bun:test";
import { builtInProviders, createProviderRegistry } from "../ai/providers/registry.ts";
import { parseProvisionRequest } from "./provision-request.ts";

const registry = createProviderRegistry(builtInProviders);
const warningsOf = (body: object) => parseProvisionRequest(body, "{}", registry).warnings;

test("fields that are used have no warning", () => {
  expect(warningsOf({ channelAToken: "1:a", channelAUserId: 42, plan: "free" })).toEqual([]);
  expect(warningsOf({ channelAToken: " ", telegramToken: "1:a", telegramUserId: "42" })).toEqual([]);
});

test("a plan, an owner of a channel without a token, and a field given twice are named", () => {
  expect(warningsOf({ channelAToken: "1:a", plan: "enterprise" })).toEqual([
    { path: "plan", message: expect.stringContaining("the plan of its owner") },
  ]);
  expect(warningsOf({ channelBBotToken: "b", telegramUserId: 42 })).toEqual([
    { path: "telegramUserId", message: "This is used only together with channelAToken." },
  ]);
  expect(warningsOf({ channelAToken: "1:a", telegramToken: "2:b", channelAUserId: 1, telegramUserId: 2 })).toEqual([
    { path: "telegramToken", message: expect.stringContaining("comes first") },
    { path: "telegramUserId", message: expect.stringContaining("comes first") },
  ]);
});
