import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConfigError, type Environment, isLoopbackUrl, loadConfig, type ReadOptions } from "./config.ts";
import { variableNames } from "./variables.ts";

const folder = mkdtempSync(join(tmpdir(), "berth-config-"));
afterAll(() => rmSync(folder, { recursive: true }));

const load = (env: Environment = {}, options: ReadOptions = {}) =>
  loadConfig(env, { cwd: folder, dotenv: false, terminal: false, ...options });

/** The one line a bad environment is refused with. */
function refusal(env: Environment, options?: ReadOptions): string {
  try {
    load(env, options);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  throw new Error("The configuration was accepted.");
}

describe("an empty environment", () => {
  const config = load();

  test("is enough to start", () => {
    expect(config).toMatchObject({
      role: "all",
      web: { host: "127.0.0.1", port: 3000 },
      backend: { host: "127.0.0.1", port: 3001, url: "http://127.0.0.1:3001" },
      baseUrl: "http://localhost:3000",
      agentsDomain: "localhost:3000",
      dataDir: join(folder, "data"),
      database: { remote: false, file: join(folder, "data/berth.db"), url: `file:${join(folder, "data/berth.db")}` },
      log: { level: "info", format: "json" },
      rateLimits: { enabled: true, overrides: {} },
      channels: { channel_a: { mode: "polling" } },
      gating: { minBalance: 10n ** 18n },
      publicBudgetMicroUsd: 1_000_000,
      planBudgetsMicroUsd: { free: 1_000_000, starter: 10_000_000, pro: 50_000_000, enterprise: 500_000_000 },
      shutdownGraceMs: 20_000,
    });
    expect(config.secretKey).toBeUndefined();
    expect(config.smtp.url).toBeUndefined();
    expect(config.adminEmails).toEqual([]);
    expect(config.gating.token).toBeUndefined();
  });

  test("comes from defaults alone", () => {
    expect(Object.keys(config.sources)).toEqual(variableNames);
    expect(new Set(Object.values(config.sources))).toEqual(new Set(["default", "not set"]));
  });

  test("is frozen to its leaves", () => {
    expect(Object.isFrozen(config)).toBe(true);
    expect(Object.isFrozen(config.channels.channel_a)).toBe(true);
    expect(Object.isFrozen(config.verification.schemas)).toBe(true);
  });

  test("logs prettily on a terminal", () => {
    expect(load({}, { terminal: true }).log.format).toBe("pretty");
  });
});

describe("where a value comes from", () => {
  test("the environment wins over the .env file, which wins over the default", () => {
    writeFileSync(join(folder, ".env"), "PORT=4000\nHOST=0.0.0.0 # everywhere\nLOG_LEVEL='debug'\n");
    const config = load({ PORT: "5000" }, { dotenv: undefined });
    expect(config.web).toEqual({ host: "0.0.0.0", port: 5000 });
    expect(config.log.level).toBe("debug");
    expect(config.sources).toMatchObject({ PORT: "environment", HOST: ".env file", BACKEND_PORT: "default" });
    rmSync(join(folder, ".env"));
  });

  test("an empty value is no value, and switches off the file's", () => {
    const config = load({ SMTP_URL: "", PORT: " " }, { dotenv: "SMTP_URL=smtp://mail.example\nPORT=4000" });
    expect(config.smtp.url).toBeUndefined();
    expect(config.web.port).toBe(3000);
  });

  test("a .env that can't be read is said, not skipped", () => {
    const odd = mkdtempSync(join(folder, "odd-"));
    rmSync(join(odd, ".env"), { force: true });
    expect(() => load({}, { dotenv: undefined, cwd: odd })).not.toThrow();
    expect(refusal({}, { dotenv: undefined, cwd: join(import.meta.dir, "config.ts") })).toStartWith(".env: found");
  });
});

describe("derived defaults", () => {
  test("follow the variables they are made of", () => {
    const config = load({ PORT: "8080", BACKEND_HOST: "::", BACKEND_PORT: "8081", DATA_DIR: "/var/berth" });
    expect(config.baseUrl).toBe("http://localhost:8080");
    expect(config.backend.url).toBe("http://[::1]:8081");
    expect(config.database.file).toBe("/var/berth/berth.db");
  });

  test("follow BASE_URL", () => {
    const config = load({ BASE_URL: "https://berth.example/" });
    expect(config.baseUrl).toBe("https://berth.example");
    expect(config.agentsDomain).toBe("berth.example");
    expect(config.social.audience).toBe("berth.example");
    expect(config.channels.channel_a.mode).toBe("webhook");
    expect(config.streams.rtmpUrl).toBe("rtmp://berth.example:1935/live");
    expect(config.streams.playbackUrl).toBe("https://berth.example/live");
  });

  test("port 0 leaves the choice to the system", () => {
    expect(load({ PORT: "0", BACKEND_PORT: "0" }).web.port).toBe(0);
  });
});

describe("values with a form of their own", () => {
  test.each<[Environment, object]>([
    [{ RATE_LIMITS: "off" }, { rateLimits: { enabled: false } }],
    [
      { RATE_LIMITS: '{"sign-up":"10/m, 60/h","ai":"5/15m"}' },
      {
        rateLimits: {
          enabled: true,
          overrides: {
            "sign-up": [
              { limit: 10, periodMs: 60_000 },
              { limit: 60, periodMs: 3_600_000 },
            ],
            ai: [{ limit: 5, periodMs: 900_000 }],
          },
        },
      },
    ],
    [{ TRUSTED_PROXIES: "10.0.0.0/8, 192.0.2.1,::1" }, { trustedProxies: ["10.0.0.0/8", "192.0.2.1/32", "::1/128"] }],
    [
      { CORS_ORIGINS: "https://A.example/,http://b.example:81" },
      { corsOrigins: ["https://a.example", "http://b.example:81"] },
    ],
    [{ SIGNUP_TRIAL: "starter:7d" }, { signupTrial: { plan: "starter", durationMs: 604_800_000 } }],
    [{ MODEL_A: "provider_3:llama3.2:1b" }, { models: { model_a: { provider: "provider_3", model: "llama3.2:1b" } } }],
    [{ ADMIN_EMAILS: " Ann@Berth.example ,ann@berth.example" }, { adminEmails: ["ann@berth.example"] }],
    [{ ADMIN_EMAILS: "0xAbc@Wallet.invalid,ann@berth.example" }, { adminEmails: ["ann@berth.example"] }],
    [{ AI_PUBLIC_BUDGET_USD_PER_DAY: "0.25" }, { publicBudgetMicroUsd: 250_000 }],
    [{ AI_PUBLIC_BUDGET_USD_PER_DAY: "0" }, { publicBudgetMicroUsd: 0 }],
    [
      { AI_PLAN_BUDGETS_USD_PER_MONTH: "free:0, pro:20.50" },
      { planBudgetsMicroUsd: { free: 0, starter: 10_000_000, pro: 20_500_000, enterprise: 500_000_000 } },
    ],
    [{ AI_PLAN_BUDGETS_USD_PER_MONTH: "off" }, { planBudgetsMicroUsd: { free: Number.POSITIVE_INFINITY } }],
    [{ SHUTDOWN_GRACE: "500ms" }, { shutdownGraceMs: 500 }],
    [{ PLUGINS: "./a.ts,/opt/b.ts" }, { plugins: [join(folder, "a.ts"), "/opt/b.ts"] }],
    [
      { DATABASE_URL: "libsql://db.example" },
      { database: { url: "libsql://db.example", remote: true, file: undefined } },
    ],
    [{ DATABASE_URL: "file:other.db" }, { database: { file: join(folder, "other.db"), remote: false } }],
    [{ DATABASE_URL: "file:///srv/b.db" }, { database: { file: "/srv/b.db" } }],
    [
      { PROVIDER_3_BASE_URL: "http://127.0.0.1:11434/v1/" },
      {
        providers: { provider_3: { baseUrl: "http://127.0.0.1:11434/v1", hasCustomBaseUrl: true, apiKey: undefined } },
      },
    ],
    [{ BOT_DETECTION: "STRICT" }, { botDetection: "strict" }],
  ])("%j", (env, expected) => {
    expect(load(env)).toMatchObject(expected);
  });
});

describe("a bad value is refused with one line: variable, what was found, what is allowed", () => {
  test.each<[Environment, string]>([
    [{ PORT: "http" }, 'PORT: found "http"; allowed is a whole number from 0 to 65535.'],
    [{ ROLE: "both" }, 'ROLE: found "both"; allowed is all, web, backend.'],
    [{ SHUTDOWN_GRACE: "20" }, 'SHUTDOWN_GRACE: found "20"; allowed is a time such as 20s, 5m or 1h (ms, s, m, h, d).'],
    [{ LOG_LEVEL: "a\nb" }, 'LOG_LEVEL: found "a\\nb"; allowed is debug, info, warn, error.'],
  ])("%j", (env, line) => {
    expect(refusal(env)).toBe(line);
  });

  test.each<[Environment]>([
    [{ PORT: "65536" }],
    [{ PORT: "-1" }],
    [{ HOST: "http://x" }],
    [{ BASE_URL: "https://x.example/berth" }],
    [{ BASE_URL: "berth.example" }],
    [{ DATABASE_URL: ":memory:" }],
    [{ DATABASE_URL: "postgres://x" }],
    [{ RATE_LIMITS: '{"sign-out":"1/m"}' }],
    [{ RATE_LIMITS: '{"sign-up":"0/m"}' }],
    [{ RATE_LIMITS: '{"sign-up":5}' }],
    [{ RATE_LIMITS: "[]" }],
    [{ RATE_LIMITS: "5/m" }],
    [{ TRUSTED_PROXIES: "10.0.0.0/8,all" }],
    [{ CORS_ORIGINS: "*" }],
    [{ SIGNUP_TRIAL: "free:7d" }],
    [{ SIGNUP_TRIAL: "starter" }],
    [{ MODEL_A: "gpt-5" }],
    [{ MODEL_B: "provider_6:x" }],
    [{ GATING_MIN_BALANCE: "1.5" }],
    [{ GATING_TOKEN_ADDRESS: "0x12" }],
    [{ AI_PUBLIC_BUDGET_USD_PER_DAY: "-1" }],
    [{ AI_PLAN_BUDGETS_USD_PER_MONTH: "gold:5" }],
    [{ AI_PLAN_BUDGETS_USD_PER_MONTH: "free:-1" }],
    [{ AI_PLAN_BUDGETS_USD_PER_MONTH: "free" }],
    [{ ADMIN_EMAILS: "ann" }],
    [{ SMTP_URL: "mail.example" }],
    [{ STREAM_DRIVER: "on" }],
    [{ CHANNEL_A_MODE: "push" }],
    [{ PROVIDER_1_BASE_URL: "https://x.example/v1?key=1" }],
    [{ VERIFY_ATTESTERS: "0x1,0x2" }],
    [{ OUTBOUND_ALLOW: "10.0.0.0/33" }],
  ])("%j", (env) => {
    const line = refusal(env);
    expect(line).toStartWith(`${Object.keys(env)[0]}: found `);
    expect(line).not.toContain("\n");
  });

  test("without the secret in it", () => {
    expect(refusal({ SECRET_KEY: "hunter2" })).toBe(
      'SECRET_KEY: found "*** (7 characters)"; allowed is at least 16 characters, better 32 random ones.',
    );
    expect(refusal({ SMTP_URL: "https://ann:hunter2@mail.example" })).not.toContain("hunter2");
    expect(refusal({ DATABASE_URL: "mysql://ann:hunter2@db.example" })).not.toContain("hunter2");
    expect(refusal({ BASE_URL: "https://ann:hunter2@berth.example" })).not.toContain("hunter2");
  });

  test("and blames the cause, not what is derived from it", () => {
    expect(refusal({ PORT: "x", BASE_URL: "" })).toStartWith("PORT:");
  });
});

describe("a split deployment", () => {
  const sentence = "a split deployment (ROLE other than all) needs a remote DATABASE_URL and an explicit SECRET_KEY.";
  const DATABASE_URL = "http://db.example:8080";
  const SECRET_KEY = "0123456789abcdef0123456789abcdef";

  test.each<[Environment]>([
    [{ ROLE: "web" }],
    [{ ROLE: "backend", SECRET_KEY }],
    [{ ROLE: "web", DATABASE_URL }],
    [{ ROLE: "web", SECRET_KEY, DATABASE_URL: "file:/srv/berth.db" }],
  ])("is refused: %j", (env) => {
    expect(refusal(env)).toBe(`ROLE: found "${env.ROLE}"; ${sentence}`);
  });

  test("starts with both", () => {
    expect(load({ ROLE: "web", DATABASE_URL, SECRET_KEY }).role).toBe("web");
  });
});

test("two listeners can't share a port", () => {
  expect(refusal({ PORT: "3001" })).toStartWith("BACKEND_PORT: found 3001");
  expect(load({ PORT: "3001", ROLE: "all", BACKEND_HOST: "127.0.0.2" }).web.port).toBe(3001);
});

test("loopback addresses are told from public ones", () => {
  for (const url of ["http://localhost:3000", "http://127.0.0.1", "http://[::1]:80", "http://berth.localhost"]) {
    expect(isLoopbackUrl(url)).toBe(true);
  }
  for (const url of [
    "https://berth.example",
    "http://10.0.0.1",
    "http://localhost.example",
    "http://127.0.0.1.nip.io",
  ]) {
    expect(isLoopbackUrl(url)).toBe(false);
  }
});
