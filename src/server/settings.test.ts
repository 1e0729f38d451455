import { describe, expect, test } from "bun:test";
import { budgetSettings, providerSettings } from "../../plugins/ai/settings.ts";
import { adminSettings, planSettings, signInSettings } from "../../plugins/auth/settings.ts";
import { channelSettings } from "../../plugins/channels/settings.ts";
import { gatingSettings } from "../../plugins/gating/settings.ts";
import { socialSettings } from "../../plugins/social/settings.ts";
import { streamSettings } from "../../plugins/streams/settings.ts";
import { verificationSettings } from "../../plugins/verification/settings.ts";
import { ConfigError, type Environment, loadConfig, type SettingsSection } from "../kernel/config/config.ts";
import { allSettings } from "./settings.ts";

const load = (env: Environment = {}) =>
  loadConfig(env, { cwd: "/srv", dotenv: false, terminal: false, settings: allSettings });

test("every variable has one section, and every section its own name", () => {
  const names = allSettings.flatMap(({ variables }) => Object.keys(variables));
  expect(new Set(names).size).toBe(names.length);
  const sections = allSettings.flatMap((group) => ("name" in group ? [group.name] : []));
  expect(new Set(sections).size).toBe(sections.length);
});

test("defaults are enough for every section", () => {
  const config = load();
  expect(config.of(channelSettings)).toMatchObject({ channel_a: { mode: "polling" } });
  expect(config.of(gatingSettings)).toMatchObject({ minBalance: 10n ** 18n, token: undefined });
  expect(config.of(budgetSettings)).toEqual({
    publicMicroUsd: 1_000_000,
    unpaidMicroUsd: 5_000_000,
    unknownPrice: "dearest",
    planMicroUsd: { free: 1_000_000, starter: 10_000_000, pro: 50_000_000, enterprise: 500_000_000 },
  });
  expect(config.of(adminSettings).emails).toEqual([]);
  expect(Object.isFrozen(config.of(verificationSettings).schemas)).toBe(true);
  expect(new Set(Object.values(config.sources))).toEqual(new Set(["default", "not set"]));
});

test("derived defaults follow BASE_URL", () => {
  const config = load({ BASE_URL: "https://berth.example/" });
  expect(config.of(socialSettings).audience).toBe("berth.example");
  expect(config.of(channelSettings)).toMatchObject({ channel_a: { mode: "webhook" } });
  expect(config.of(streamSettings).rtmpUrl).toBe("rtmp://berth.example:1935/live");
  expect(config.of(streamSettings).playbackUrl).toBe("https://berth.example/live");
});

describe("values with a special format", () => {
  test.each<[Environment, SettingsSection, object]>([
    [{ SIGNUP_TRIAL: "starter:7d" }, planSettings, { signupTrial: { plan: "starter", durationMs: 604_800_000 } }],
    [
      { MODEL_A: "provider_3:llama3.2:1b" },
      providerSettings,
      { models: { model_a: { provider: "provider_3", model: "llama3.2:1b" } } },
    ],
    [{ ADMIN_EMAILS: " Ann@Berth.example ,ann@berth.example" }, adminSettings, { emails: ["ann@berth.example"] }],
    [{ ADMIN_EMAILS: "0xAbc@Wallet.invalid,ann@berth.example" }, adminSettings, { emails: ["ann@berth.example"] }],
    [{ AI_PUBLIC_BUDGET_USD_PER_DAY: "0.25" }, budgetSettings, { publicMicroUsd: 250_000 }],
    [{ AI_PUBLIC_BUDGET_USD_PER_DAY: "0" }, budgetSettings, { publicMicroUsd: 0 }],
    [
      { AI_PLAN_BUDGETS_USD_PER_MONTH: "free:0, pro:20.50" },
      budgetSettings,
      { planMicroUsd: { free: 0, starter: 10_000_000, pro: 20_500_000, enterprise: 500_000_000 } },
    ],
    [{ AI_PLAN_BUDGETS_USD_PER_MONTH: "off" }, budgetSettings, { planMicroUsd: { free: Number.POSITIVE_INFINITY } }],
    [{ BOT_DETECTION: "STRICT" }, signInSettings, { botDetection: "strict" }],
  ])("%j", (env, section, expected) => {
    expect(load(env).of(section)).toMatchObject(expected);
  });
});

test("a custom address of a provider is distinguished from the default one", () => {
  const { of } = load({ PROVIDER_3_BASE_URL: "http://127.0.0.1:11434/v1/" }).of(providerSettings);
  expect(of("provider_3")).toMatchObject({
    baseUrl: "http://127.0.0.1:11434/v1",
    hasCustomBaseUrl: true,
    apiKey: undefined,
  });
  expect(of("provider_1").hasCustomBaseUrl).toBe(false);
});

describe("a bad value of any section stops the start with one line", () => {
  test.each<[Environment]>([
    [{ SIGNUP_TRIAL: "free:7d" }],
    [{ SIGNUP_TRIAL: "starter" }],
    [{ MODEL_A: "gpt-5" }],
    [{ MODEL_B: "provider_98:x" }],
    [{ GATING_MIN_BALANCE: "1.5" }],
    [{ GATING_TOKEN_ADDRESS: "0x12" }],
    [{ AI_PUBLIC_BUDGET_USD_PER_DAY: "-1" }],
    [{ AI_PLAN_BUDGETS_USD_PER_MONTH: "gold:5" }],
    [{ AI_PLAN_BUDGETS_USD_PER_MONTH: "free:-1" }],
    [{ AI_PLAN_BUDGETS_USD_PER_MONTH: "free" }],
    [{ ADMIN_EMAILS: "ann" }],
    [{ STREAM_DRIVER: "on" }],
    [{ CHANNEL_A_MODE: "push" }],
    [{ PROVIDER_1_BASE_URL: "https://x.example/v1?key=1" }],
    [{ VERIFY_ATTESTERS: "0x1,0x2" }],
  ])("%j", (env) => {
    const [name] = Object.keys(env);
    expect(() => load(env)).toThrow(ConfigError);
    expect(() => load(env)).toThrow(new RegExp(`^${name}: found [^\\n]+$`));
  });
});
