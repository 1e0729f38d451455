// Each setting that does nothing without another one says so, and names what to set as well.
import { afterAll, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDir } from "../../../tests/support/process.ts";
import { type Environment, loadConfig } from "../../kernel/config/config.ts";
import { allSettings } from "../settings.ts";
import { findIdleSettings } from "./idle-settings.ts";

const dir = temporaryDir();
afterAll(dir.remove);

/** The warnings of these settings, each without the name of the setting. */
function warningsOf(env: Environment): Record<string, string> {
  const config = loadConfig(env, { cwd: dir.path, dotenv: false, terminal: false, settings: allSettings });
  const warnings = [...config.warnings, ...findIdleSettings(config)];
  return Object.fromEntries(warnings.map(({ name, message }) => [name, message.replace(`${name}: `, "")]));
}

function plans(name: string, starter: object): string {
  const path = join(dir.path, name);
  writeFileSync(path, JSON.stringify({ plans: { starter } }));
  return path;
}

const ADDRESS = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913";
const HASH = `0x${"1".repeat(64)}`;
const BUCKET = { BACKUP_TO: "s3://berth/x", BACKUP_S3_ACCESS_KEY_ID: "a", BACKUP_S3_SECRET_ACCESS_KEY: "b" };
const OIDC = { OIDC_2_ISSUER: "https://id.example", OIDC_2_CLIENT_ID: "berth", OIDC_2_CLIENT_SECRET: "s" };
const GITHUB = { GITHUB_CLIENT_ID: "berth", GITHUB_CLIENT_SECRET: "s" };
const GOOGLE = { GOOGLE_CLIENT_ID: "berth", GOOGLE_CLIENT_SECRET: "s" };
const STRIPE = { STRIPE_SECRET_KEY: "sk_test_1", STRIPE_WEBHOOK_SECRET: "whsec_1" };
const SELLING = { ...STRIPE, CREDIT_PRICE: "usd:120" };
const CDP = {
  ...{ WALLET_PLATFORM: "cdp", CDP_API_KEY_ID: "a" },
  ...{ CDP_API_KEY_SECRET: "b", CDP_WALLET_SECRET: "c" },
};
const SERVER = { DATABASE_URL: "libsql://db.example" };
const TRACES = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://localhost:4318" };
const METERED = {
  PLANS_FILE: plans("metered.json", { stripePrice: "price_1", stripeMeterPrice: "price_2", overageUsdPerMonth: 5 }),
};

/** The setting with a value, what it needs, and settings with which it has an effect. */
const TABLE: [name: string, value: string, needed: string, sound: Environment][] = [
  ["NEW_ACCOUNT_MESSAGES_PER_DAY", "50", "NEW_ACCOUNT_DAYS", { NEW_ACCOUNT_DAYS: "7" }],
  ["OTEL_SERVICE_NAME", "harbour", "OTEL_EXPORTER_OTLP_ENDPOINT", TRACES],
  ["OTEL_EXPORTER_OTLP_HEADERS", "authorization=x", "OTEL_EXPORTER_OTLP_ENDPOINT", TRACES],
  ["OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "true", "OTEL_EXPORTER_OTLP_ENDPOINT", TRACES],
  ["DATABASE_AUTH_TOKEN", "token", "a server in DATABASE_URL", SERVER],
  ["GOOGLE_ISSUER", "https://id.example", "GOOGLE_CLIENT_ID", GOOGLE],
  ["GITHUB_BASE_URL", "https://git.example", "GITHUB_CLIENT_ID", GITHUB],
  ["GITHUB_API_URL", "https://git.example/api", "GITHUB_CLIENT_ID", GITHUB],
  ["OIDC_2_NAME", "Harbour", "OIDC_2_CLIENT_ID", OIDC],
  ["OIDC_2_SCOPES", "openid groups", "OIDC_2_CLIENT_ID", OIDC],
  ["OIDC_2_ADMIN_GROUPS", "admins", "OIDC_2_CLIENT_ID", OIDC],
  ["OIDC_2_TRUST_EMAIL", "on", "OIDC_2_CLIENT_ID", OIDC],
  ["OIDC_2_GROUPS_CLAIM", "roles", "OIDC_2_ADMIN_GROUPS", { ...OIDC, OIDC_2_ADMIN_GROUPS: "admins" }],
  ["GATING_TOKEN_SYMBOL", "SHIP", "GATING_TOKEN_ADDRESS", { GATING_TOKEN_ADDRESS: ADDRESS }],
  ["GATING_MIN_BALANCE", "5", "GATING_TOKEN_ADDRESS", { GATING_TOKEN_ADDRESS: ADDRESS }],
  ["CDP_API_KEY_ID", "a", "WALLET_PLATFORM=cdp", CDP],
  ["CDP_API_KEY_SECRET", "b", "WALLET_PLATFORM=cdp", CDP],
  ["CDP_WALLET_SECRET", "c", "WALLET_PLATFORM=cdp", CDP],
  ["CDP_BASE_PATH", "https://cdp.example", "WALLET_PLATFORM=cdp", CDP],
  ["WALLET_PLATFORM_PROJECT_ID", "p", "WALLET_PLATFORM", { WALLET_PLATFORM: "local" }],
  ["STRIPE_WEBHOOK_SECRET", "whsec_1", "STRIPE_SECRET_KEY", SELLING],
  ["STRIPE_API_URL", "http://127.0.0.1:1", "STRIPE_SECRET_KEY", SELLING],
  ["CREDIT_PRICE", "usd:120", "STRIPE_SECRET_KEY", STRIPE],
  ["BILLING_GRACE_DAYS", "3", "STRIPE_SECRET_KEY", SELLING],
  ["STRIPE_METER_EVENT", "use", "STRIPE_SECRET_KEY", { ...STRIPE, ...METERED }],
  ["STABLECOIN_PAY_NETWORK", "testnet_chain", "STABLECOIN_PAY_TO", { STABLECOIN_PAY_TO: ADDRESS }],
  ["STABLECOIN_CREDIT_PRICE", "2", "STABLECOIN_PAY_TO", { STABLECOIN_PAY_TO: ADDRESS }],
  ["STABLECOIN_CONFIRMATIONS", "5", "STABLECOIN_PAY_TO", { STABLECOIN_PAY_TO: ADDRESS }],
  ["X402_SETTLER_KEY", HASH, "STABLECOIN_PAY_TO", { STABLECOIN_PAY_TO: ADDRESS }],
  ["WEBHOOK_SECRET", "secret", "WEBHOOK_URL", { WEBHOOK_URL: "https://hooks.example" }],
  ["CHANNEL_C_APP_ID", "1", "CHANNEL_C_APP_SECRET", { CHANNEL_C_APP_SECRET: "s" }],
  [
    "NODE_ADDRESS",
    "http://10.0.0.5:3001",
    "CLUSTER_URL",
    {
      ...{ CLUSTER_URL: "nats://10.0.0.1", SECRET_KEY: "0123456789abcdef0123456789abcdef" },
      BACKEND_HOST: "0.0.0.0",
    },
  ],
];

describe.each(TABLE)("%s", (name, value, needed, sound) => {
  test(`says that it needs ${needed}`, () => {
    expect(warningsOf({ [name]: value })).toMatchObject({ [name]: `is set without ${needed}, so it has no effect.` });
  });

  test("says nothing with that", () => {
    expect(warningsOf({ ...sound, [name]: value })[name]).toBeUndefined();
  });
});

/** With these settings, this one says exactly this. */
test.each<[Environment, name: string, text: string]>([
  ...["RTMP_PORT=1936", "STREAM_RTMP_URL=rtmp://x/live", "STREAM_PLAYBACK_URL=https://x"].map(
    (line): [Environment, string, string] => {
      const [name = "", value = ""] = line.split("=");
      const text = "is set without STREAM_DRIVER=embedded, so it has no effect.";
      return [{ STREAM_DRIVER: "off", [name]: value }, name, text];
    },
  ),
  ...["ENDPOINT=https://s3.example", "REGION=eu-1", "ACCESS_KEY_ID=a", "SECRET_ACCESS_KEY=b"].map(
    (line): [Environment, string, string] => {
      const [name = "", value = ""] = line.split("=");
      const text = "is set without a bucket in BACKUP_TO (s3://…), so only a restore from a bucket uses it.";
      return [{ ...BUCKET, BACKUP_TO: "backups", [`BACKUP_S3_${name}`]: value }, `BACKUP_S3_${name}`, text];
    },
  ),
  ...["BACKUP_KEEP=3", "BACKUP_KEEP_FOR=30d"].map((line): [Environment, string, string] => {
    const [name = "", value = ""] = line.split("=");
    const text = "is set without BACKUP_SCHEDULE, so it takes effect only after a backup that you make by hand.";
    return [{ [name]: value }, name, text];
  }),
  ...["BACKUP_TO=backups", "BACKUP_KEEP=3", "BACKUP_KEEP_FOR=30d", "BACKUP_CONTINUOUS=true"].map(
    (line): [Environment, string, string] => {
      const [name = "", value = ""] = line.split("=");
      const text = "has no effect: the database is on a server.";
      return [{ ...SERVER, BACKUP_SCHEDULE: "@daily", [name]: value }, name, text];
    },
  ),
  [
    { PLANS_FILE: plans("sold.json", { stripePrice: "price_1", trialDays: 14 }) },
    "PLANS_FILE",
    "stripePrice, trialDays of a plan without STRIPE_SECRET_KEY have no effect: starter.",
  ],
  [
    { PLANS_FILE: plans("one.json", { stripePrice: "price_1" }) },
    "PLANS_FILE",
    "stripePrice of a plan without STRIPE_SECRET_KEY has no effect: starter.",
  ],
  [METERED, "PLANS_FILE", expect.stringContaining("overageUsdPerMonth of a plan without STRIPE_SECRET_KEY")],
  [
    { BACKEND_URL: "http://10.0.0.5:3001" },
    "BACKEND_URL",
    "is used by ROLE=web alone to find the backend. Here it only names an origin that the backend trusts.",
  ],
  [STRIPE, "STRIPE_SECRET_KEY", "sells nothing: give plans a `stripePrice` in PLANS_FILE, or set CREDIT_PRICE."],
  [
    { ...SELLING, STRIPE_METER_EVENT: "use" },
    "STRIPE_METER_EVENT",
    "has no effect, since no plan of PLANS_FILE has `overageUsdPerMonth`.",
  ],
  [
    { AI_PUBLIC_ON_WEB: "on", AI_PUBLIC_BUDGET_USD_PER_DAY: "0" },
    "AI_PUBLIC_ON_WEB",
    "has no effect, since AI_PUBLIC_BUDGET_USD_PER_DAY is 0.",
  ],
  [{ SIGN_UP: "domains:example.com" }, "SIGN_UP", expect.stringContaining("SMTP_URL is not set")],
  ...["MODEL_A", "MODEL_B", "EMBEDDING_MODEL", "TRANSCRIPTION_MODEL", "SPEECH_MODEL", "PICTURE_MODEL"].map(
    (name): [Environment, string, string] => [
      { [name]: "provider_2:x", PROVIDER_1_API_KEY: "k" },
      name,
      "names a model of a provider that has no key, so only agents with a key of their own get it. Set PROVIDER_2_API_KEY, or store a key in the console under Models.",
    ],
  ),
  [
    { MODEL_A: "provider_3:x", PROVIDER_1_API_KEY: "k" },
    "MODEL_A",
    expect.stringContaining("Set PROVIDER_3_API_KEY or PROVIDER_3_BASE_URL, or store"),
  ],
])("%j warns of %s", (env, name, text) => {
  expect(warningsOf(env)[name]).toEqual(text);
});

test.each<[Environment]>([
  [{}],
  [{ ...BUCKET, BACKUP_S3_REGION: "eu-1", BACKUP_SCHEDULE: "@daily", BACKUP_KEEP: "3", BACKUP_KEEP_FOR: "30d" }],
  [{ BACKUP_CONTINUOUS: "true", BACKUP_KEEP: "3" }],
  [{ ...STRIPE, ...METERED, STRIPE_METER_EVENT: "use" }],
  [{ SIGN_UP: "domains:example.com", SMTP_URL: "smtp://mail.example" }],
  [{ AI_PUBLIC_ON_WEB: "on" }],
  [{ MODEL_A: "provider_2:x", EMBEDDING_MODEL: "provider_2:y", PROVIDER_2_API_KEY: "k" }],
  // An Ollama may answer.
  [{ MODEL_A: "provider_3:llama3.2" }],
  // The key may be stored there.
  [{ ...SERVER, MODEL_A: "provider_2:x" }],
  [{ ...SERVER, ROLE: "web", SECRET_KEY: "0123456789abcdef0123456789abcdef", BACKEND_URL: "http://10.0.0.5:3001" }],
])("%j warns of nothing", (env) => {
  expect(warningsOf(env)).toEqual({});
});
