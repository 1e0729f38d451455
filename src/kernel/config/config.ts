// The only reader of the environment: every setting of Berth, parsed, nested by subject, and frozen.

import { validateVariables, WALLET_EMAIL_DOMAIN } from "./validation.ts";
import {
  ConfigError,
  type Environment,
  type ReadOptions,
  type ResolvedVariables,
  readVariables,
} from "./variable-reader.ts";

export {
  type DatabaseLocation,
  type ModelRef,
  type ProviderId,
  providerIds,
  type RateLimit,
  type RateLimitRule,
  type RateLimits,
  rateLimitRules,
  type Trial,
} from "./parsers.ts";
export { isLoopbackHost, isLoopbackUrl, WALLET_EMAIL_DOMAIN } from "./validation.ts";
export { ConfigError, type Environment, type ReadOptions, type VariableSource } from "./variable-reader.ts";
export type { VariableName } from "./variables.ts";

type DeepReadonly<T> = T extends string | number | boolean | bigint | undefined
  ? T
  : { readonly [Key in keyof T]: DeepReadonly<T[Key]> };

/** All settings; see `nest` for what each one is, and docs/configuration.md for the variable behind it. */
export type Config = DeepReadonly<ReturnType<typeof toConfig>>;

/**
 * Reads, checks and freezes the configuration: the environment first, then the `.env` file of the working directory
 * (every command alike), then defaults. An empty value counts as not set.
 * Throws ConfigError, whose message is one line naming the variable, what was found (masked if secret) and what is allowed.
 *
 * @example const config = loadConfig(process.env);
 */
export function loadConfig(env: Environment, options: ReadOptions = {}): Config {
  const variables = readVariables(env, options);
  const firstError = validateVariables(variables).find(({ severity }) => severity === "error");
  if (firstError) throw new ConfigError(firstError.message);
  return deepFreeze(toConfig(variables));
}

function toConfig({ values: v, list }: ResolvedVariables) {
  const sources = Object.fromEntries(list.map(({ name, source }) => [name, source]));
  const provider = (n: 1 | 2 | 3 | 4 | 5) => ({
    apiKey: v[`PROVIDER_${n}_API_KEY`],
    baseUrl: v[`PROVIDER_${n}_BASE_URL`],
    label: v[`PROVIDER_${n}_LABEL`],
    /** The operator set the address; for provider 3 that is enough to use it without a key. */
    hasCustomBaseUrl: sources[`PROVIDER_${n}_BASE_URL`] !== "default",
  });
  return {
    role: v.ROLE,
    web: { host: v.HOST, port: v.PORT },
    /** `url`: where a `ROLE=web` process finds the backend. */
    backend: { host: v.BACKEND_HOST, port: v.BACKEND_PORT, url: v.BACKEND_URL },
    /** An origin, without a slash at its end. */
    baseUrl: v.BASE_URL,
    /** Host, with its port if it has one. */
    agentsDomain: v.AGENTS_DOMAIN,
    /** Absolute. */
    dataDir: v.DATA_DIR,
    /** `file` is the absolute path of a local database; a remote one has none. */
    database: { ...v.DATABASE_URL, authToken: v.DATABASE_AUTH_TOKEN },
    /** Undefined: the vault makes one in the data folder. */
    secretKey: v.SECRET_KEY,
    secretKeyPrevious: v.SECRET_KEY_PREVIOUS,
    /** NFC, lower case. Without what is made for wallets: nobody reads mail there, and anybody can make a wallet. */
    adminEmails: v.ADMIN_EMAILS.filter((email) => !email.endsWith(WALLET_EMAIL_DOMAIN)),
    log: { level: v.LOG_LEVEL, format: v.LOG_FORMAT },
    smtp: { url: v.SMTP_URL, from: v.MAIL_FROM },
    oauth: {
      google: { clientId: v.GOOGLE_CLIENT_ID, clientSecret: v.GOOGLE_CLIENT_SECRET, issuer: v.GOOGLE_ISSUER },
      github: {
        clientId: v.GITHUB_CLIENT_ID,
        clientSecret: v.GITHUB_CLIENT_SECRET,
        baseUrl: v.GITHUB_BASE_URL,
        apiUrl: v.GITHUB_API_URL,
      },
    },
    botDetection: v.BOT_DETECTION,
    rateLimits: v.RATE_LIMITS,
    /** Networks in CIDR form. */
    trustedProxies: v.TRUSTED_PROXIES,
    corsOrigins: v.CORS_ORIGINS,
    signupTrial: v.SIGNUP_TRIAL,
    providers: {
      provider_1: provider(1),
      provider_2: provider(2),
      provider_3: provider(3),
      provider_4: provider(4),
      provider_5: provider(5),
    },
    models: { model_a: v.MODEL_A, model_b: v.MODEL_B },
    channels: {
      /** `mode` is settled: `auto` has become one of the two. */
      channel_a: { apiRoot: v.CHANNEL_A_API_ROOT, mode: resolveChannelMode(v.CHANNEL_A_MODE, v.BASE_URL) },
      channel_b: { apiRoot: v.CHANNEL_B_API_ROOT },
      channel_c: { apiRoot: v.CHANNEL_C_API_ROOT, appId: v.CHANNEL_C_APP_ID, appSecret: v.CHANNEL_C_APP_SECRET },
    },
    chains: {
      mainnet: {
        id: 8453,
        rpcUrl: v.MAINNET_RPC_URL,
        stablecoin: v.STABLECOIN_ADDRESS_MAINNET,
        swapRouter: v.SWAP_ROUTER_ADDRESS_MAINNET,
        swapQuoter: v.SWAP_QUOTER_ADDRESS_MAINNET,
      },
      testnet: {
        id: 84_532,
        rpcUrl: v.TESTNET_RPC_URL,
        stablecoin: v.STABLECOIN_ADDRESS_TESTNET,
        swapRouter: v.SWAP_ROUTER_ADDRESS_TESTNET,
        swapQuoter: v.SWAP_QUOTER_ADDRESS_TESTNET,
      },
    },
    /** No token: the gate is off. `minBalance` in the token's smallest unit. */
    gating: { token: v.GATING_TOKEN_ADDRESS, symbol: v.GATING_TOKEN_SYMBOL, minBalance: v.GATING_MIN_BALANCE },
    social: { issuer: v.SOCIAL_ISSUER, audience: v.SOCIAL_AUDIENCE },
    walletPlatform: {
      kind: v.WALLET_PLATFORM,
      projectId: v.WALLET_PLATFORM_PROJECT_ID,
      cdp: {
        apiKeyId: v.CDP_API_KEY_ID,
        apiKeySecret: v.CDP_API_KEY_SECRET,
        walletSecret: v.CDP_WALLET_SECRET,
        basePath: v.CDP_BASE_PATH,
      },
    },
    verification: {
      eas: v.VERIFY_EAS_ADDRESS,
      schemas: v.VERIFY_ATTESTATION_SCHEMAS,
      attesters: v.VERIFY_ATTESTERS,
      exchangeIndexer: v.VERIFY_EXCHANGE_INDEXER,
      exchangeSchema: v.VERIFY_EXCHANGE_SCHEMA,
      nameRegistry: v.VERIFY_NAME_REGISTRY,
    },
    streams: {
      driver: v.STREAM_DRIVER,
      rtmpPort: v.RTMP_PORT,
      rtmpUrl: v.STREAM_RTMP_URL,
      playbackUrl: v.STREAM_PLAYBACK_URL,
    },
    webhook: { url: v.WEBHOOK_URL, secret: v.WEBHOOK_SECRET },
    /** Absolute paths. */
    plugins: v.PLUGINS,
    /** Networks in CIDR form. */
    outboundAllow: v.OUTBOUND_ALLOW,
    publicBudgetMicroUsd: v.AI_PUBLIC_BUDGET_USD_PER_DAY,
    /** By plan, whole micro-USD a month; Infinity: no limit. */
    planBudgetsMicroUsd: v.AI_PLAN_BUDGETS_USD_PER_MONTH,
    metricsToken: v.METRICS_TOKEN,
    shutdownGraceMs: v.SHUTDOWN_GRACE,
    /** Where each variable's value came from. */
    sources,
  };
}

const resolveChannelMode = (mode: "auto" | "polling" | "webhook", baseUrl: string) =>
  mode === "auto" ? (baseUrl.startsWith("https:") ? "webhook" : "polling") : mode;

function deepFreeze<T>(value: T): DeepReadonly<T>;
function deepFreeze(value: unknown): unknown {
  if (typeof value === "object" && value !== null) for (const part of Object.values(value)) deepFreeze(part);
  return Object.freeze(value);
}

/** The process's own environment: what every command hands to `loadConfig`. */
export const environment = (): Environment => process.env;
