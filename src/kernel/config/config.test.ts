import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  ConfigError,
  defineSettings,
  type Environment,
  isLoopbackUrl,
  type LoadOptions,
  loadConfig,
} from "./config.ts";
import { kernelGroups } from "./kernel-settings.ts";
import { oneOf, port } from "./parsers.ts";
import { warning } from "./section.ts";
import { optional, withDefault } from "./variable.ts";

const folder = mkdtempSync(join(tmpdir(), "berth-config-"));
afterAll(() => rmSync(folder, { recursive: true }));

const load = (env: Environment = {}, options: LoadOptions = {}) =>
  loadConfig(env, { cwd: folder, dotenv: false, terminal: false, ...options });

/** The one line a bad environment is refused with. */
function refusal(env: Environment, options?: LoadOptions): string {
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

  test("is valid", () => {
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
      shutdownGraceMs: 20_000,
      sendGraceMs: 2_000,
    });
    expect(config.secretKey).toBeUndefined();
    expect(config.smtp.url).toBeUndefined();
  });

  test("has only default values", () => {
    expect(Object.keys(config.sources)).toEqual(
      Object.values(kernelGroups).flatMap(({ variables }) => Object.keys(variables)),
    );
    expect(new Set(Object.values(config.sources))).toEqual(new Set(["default", "not set"]));
  });

  test("is frozen to its leaves", () => {
    expect(Object.isFrozen(config)).toBe(true);
    expect(Object.isFrozen(config.backend)).toBe(true);
    expect(Object.isFrozen(config.corsOrigins)).toBe(true);
  });

  test("logs prettily on a terminal", () => {
    expect(load({}, { terminal: true }).log.format).toBe("pretty");
  });
});

describe("the source of a value", () => {
  test("is the environment before the .env file, and the default last", () => {
    writeFileSync(join(folder, ".env"), "PORT=4000\nHOST=0.0.0.0 # everywhere\nLOG_LEVEL='debug'\n");
    const config = load({ PORT: "5000" }, { dotenv: undefined });
    expect(config.web).toEqual({ host: "0.0.0.0", port: 5000 });
    expect(config.log.level).toBe("debug");
    expect(config.sources).toMatchObject({ PORT: "environment", HOST: ".env file", BACKEND_PORT: "default" });
    rmSync(join(folder, ".env"));
  });

  test("is the default for an empty value in the environment, even if the file has another", () => {
    const config = load({ SMTP_URL: "", PORT: " " }, { dotenv: "SMTP_URL=smtp://mail.example\nPORT=4000" });
    expect(config.smtp.url).toBeUndefined();
    expect(config.web.port).toBe(3000);
  });

  test("can't be an unreadable .env file, which is an error", () => {
    const odd = mkdtempSync(join(folder, "odd-"));
    rmSync(join(odd, ".env"), { force: true });
    expect(() => load({}, { dotenv: undefined, cwd: odd })).not.toThrow();
    expect(refusal({}, { dotenv: undefined, cwd: join(import.meta.dir, "config.ts") })).toStartWith(".env: found");
  });
});

describe("derived defaults", () => {
  test("follow the variables they are computed from", () => {
    const config = load({ PORT: "8080", BACKEND_HOST: "::", BACKEND_PORT: "8081", DATA_DIR: "/var/berth" });
    expect(config.baseUrl).toBe("http://localhost:8080");
    expect(config.backend.url).toBe("http://[::1]:8081");
    expect(config.database.file).toBe("/var/berth/berth.db");
  });

  test("follow BASE_URL", () => {
    const config = load({ BASE_URL: "https://berth.example/" });
    expect(config.baseUrl).toBe("https://berth.example");
    expect(config.agentsDomain).toBe("berth.example");
  });

  test("port 0 is accepted, for a free port", () => {
    expect(load({ PORT: "0", BACKEND_PORT: "0" }).web.port).toBe(0);
  });
});

describe("values with a special format", () => {
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
    [{ SHUTDOWN_GRACE: "500ms" }, { shutdownGraceMs: 500 }],
    [{ PLUGINS: "./a.ts,/opt/b.ts" }, { plugins: [join(folder, "a.ts"), "/opt/b.ts"] }],
    [
      { DATABASE_URL: "libsql://db.example" },
      { database: { url: "libsql://db.example", remote: true, file: undefined } },
    ],
    [{ DATABASE_URL: "file:other.db" }, { database: { file: join(folder, "other.db"), remote: false } }],
    [{ DATABASE_URL: "file:///srv/b.db" }, { database: { file: "/srv/b.db" } }],
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
    [{ SMTP_URL: "mail.example" }],
    [{ OUTBOUND_ALLOW: "10.0.0.0/33" }],
  ])("%j", (env) => {
    const line = refusal(env);
    expect(line).toStartWith(`${Object.keys(env)[0]}: found `);
    expect(line).not.toContain("\n");
  });

  test("without the secret", () => {
    expect(refusal({ SECRET_KEY: "hunter2" })).toBe(
      'SECRET_KEY: found "*** (7 characters)"; allowed is at least 16 characters, better 32 random ones.',
    );
    expect(refusal({ SMTP_URL: "https://ann:hunter2@mail.example" })).not.toContain("hunter2");
    expect(refusal({ DATABASE_URL: "mysql://ann:hunter2@db.example" })).not.toContain("hunter2");
    expect(refusal({ BASE_URL: "https://ann:hunter2@berth.example" })).not.toContain("hunter2");
  });

  test("that names the cause, not the values derived from it", () => {
    expect(refusal({ PORT: "x", BASE_URL: "" })).toStartWith("PORT:");
  });
});

describe("the section of a capability", () => {
  const harbour = (parsed: string[] = []) =>
    defineSettings({
      name: "harbour",
      variables: {
        HARBOUR_PORT: withDefault(port, { description: "`PORT`", compute: ({ text }) => text("PORT") }, "Its port."),
        HARBOUR_TIDE: optional(oneOf("high", "low"), "Its tide.", "secret"),
      },
      build(values, { kernel, sources }) {
        parsed.push(kernel.baseUrl);
        return {
          port: values.HARBOUR_PORT,
          tide: { state: values.HARBOUR_TIDE, isSet: sources.HARBOUR_TIDE !== "not set" },
        };
      },
      validate: ({ HARBOUR_PORT }, { kernel }) =>
        HARBOUR_PORT === kernel.backend.port
          ? [{ ...warning("HARBOUR_PORT", "is the backend's."), severity: "error" as const }]
          : [],
    });
  const settings = [...Object.values(kernelGroups), harbour()];

  test("is parsed at the first use, once, and frozen", () => {
    const parsed: string[] = [];
    const section = harbour(parsed);
    const config = load({ PORT: "4000", HARBOUR_TIDE: "high" });
    expect(parsed).toEqual([]);
    expect(config.of(section)).toEqual({ port: 4000, tide: { state: "high", isSet: true } });
    expect(config.of(section)).toBe(config.of(section));
    expect(parsed).toEqual(["http://localhost:4000"]);
    expect(Object.isFrozen(config.of(section).tide)).toBe(true);
  });

  test("is refused at the first use when a value is bad", () => {
    expect(() => load({ HARBOUR_PORT: "x" }).of(harbour())).toThrow('HARBOUR_PORT: found "x"');
  });

  test("stops the start when it is listed and a value is bad, or its own check fails", () => {
    expect(refusal({ HARBOUR_TIDE: "ebb" }, { settings })).toBe(
      'HARBOUR_TIDE: found "*** (3 characters)"; allowed is high, low.',
    );
    expect(refusal({ HARBOUR_PORT: "3001" }, { settings })).toBe("HARBOUR_PORT: is the backend's.");
  });

  test("replaces another of the same name", () => {
    const replacement = defineSettings({ name: "harbour", variables: {}, build: () => ({ port: 1, tide: "none" }) });
    const config = load({}, { settings: [...Object.values(kernelGroups), replacement] });
    expect(config.of<unknown>(harbour())).toEqual({ port: 1, tide: "none" });
  });

  test("adds to the sources and to the secrets", () => {
    const config = load({ HARBOUR_TIDE: "low", SMTP_URL: "smtp://ann:a%2Fb-c@mail.example" }, { settings });
    expect(config.sources).toMatchObject({ HARBOUR_TIDE: "environment", HARBOUR_PORT: "default" });
    expect(config.secrets).toEqual(["a/b-c", "low"]);
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

test("loopback addresses are distinguished from public ones", () => {
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
