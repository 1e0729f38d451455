// Tests the warnings about what a stored configuration holds without an effect.
import { describe, expect, test } from "bun:test";
import { fastestRun } from "../../../tests/support/eventually.ts";
import { findIneffective } from "./config-check.ts";

const warningsOf = (config: unknown) => findIneffective(JSON.stringify(config)).warnings;

describe("the warnings of a configuration", () => {
  test("are none where all of it has an effect", () => {
    const config = {
      model: "provider_1:x/y",
      instructions: "Be kind.",
      memory: { enabled: false },
      skills: { clock: true },
      channels: { channel_a: { access: "allowlist", allow: ["42"], groups: "off" } },
      budget: { usdPerDay: 0.1 },
      schedules: [{ cron: "@daily", prompt: "Hi", enabled: false }],
      mcpServers: { docs: { url: "https://docs.example.com", tools: ["search"], access: "everyone" } },
      timezone: "UTC",
    };
    expect(warningsOf(config)).toEqual([]);
  });

  test("name an unknown key, and the known one that is nearest", () => {
    expect(warningsOf({ instuctions: "Be kind.", banana: 1 })).toEqual([
      { path: "instuctions", message: "This key is stored, but nothing reads it. Did you mean instructions?" },
      { path: "banana", message: "This key is stored, but nothing reads it." },
    ]);
  });

  test.each([
    [{ budget: { usdPerWeek: 1 } }, "budget.usdPerWeek", /Did you mean usdPerDay\?/],
    [{ channels: { chanel_a: {} } }, "channels.chanel_a", /Did you mean channel_a\?/],
    [{ channels: { channel_a: { acces: "open" } } }, "channels.channel_a.acces", /Did you mean access\?/],
    [{ channels: { channel_a: { allow: ["42"] } } }, "channels.channel_a.allow", /"access": "allowlist"/],
    [{ memory: { enable: true } }, "memory.enable", /Did you mean enabled\?/],
    [
      { mcpServers: { docs: { url: "https://docs.example.com", tool: ["search"] } } },
      "mcpServers.docs.tool",
      /Did you mean tools\?/,
    ],
  ])("of %j name %s", (config, path, message) => {
    expect(warningsOf(config)).toEqual([{ path, message: expect.stringMatching(message) }]);
  });

  test("name unknown keys inside a list, and a run that is over", () => {
    const schedules = [{ at: "2001-01-01T00:00", prompt: "Hi", promt: "Hi" }];
    expect(warningsOf({ schedules }).map(({ path }) => path)).toEqual(["schedules[0].promt", "schedules[0].at"]);
  });

  test("are bounded, and found fast, for thousands of unknown keys", async () => {
    const many = Object.fromEntries(Array.from({ length: 8_000 }, (_, n) => [`ke${n}`, 1]));
    const warnings = warningsOf({ ...many, ["x".repeat(10_000)]: 1 });
    expect(warnings).toHaveLength(51);
    expect(warnings.at(-1)).toEqual({ path: "", message: "Nothing reads 7951 further keys." });
    expect(await fastestRun(() => void warningsOf(many))).toBeLessThan(200);
  });
});
