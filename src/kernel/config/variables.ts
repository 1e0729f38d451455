// Every variable Berth reads, one entry each: loadConfig, `berth doctor` and docs/configuration.md are made from this table.

import * as parsers from "./parsers.ts";

/** How a value is shown: in full, not at all, or (an address that may carry a password or key) only its scheme and host. */
export type Secrecy = "open" | "secret" | "address";

/** What a default may depend on: the text in force of other variables, and the place of the start. */
export interface DefaultContext extends parsers.ParseContext {
  text(name: string): string;
}

/** Text, or a rule over other variables together with the words that describe it. */
export type Default = string | { description: string; compute(context: DefaultContext): string };

/** One variable: how it is read, what it is when nobody sets it, and what it means. */
export interface Variable<T> {
  parser: parsers.Parser<NonNullable<T>>;
  defaultValue: Default | undefined;
  secrecy: Secrecy;
  description: string;
}

/** A variable that always has a value. */
const withDefault = <T>(
  parser: parsers.Parser<NonNullable<T>>,
  defaultValue: Default,
  description: string,
  secrecy: Secrecy = "open",
): Variable<T> => ({ parser, defaultValue, secrecy, description });

/** A variable that may stay unset: its value is then undefined. */
const optional = <T>(
  parser: parsers.Parser<NonNullable<T>>,
  description: string,
  secrecy: Secrecy = "open",
): Variable<T | undefined> => ({ parser, defaultValue: undefined, secrecy, description });

/** A list; empty when nobody sets it. */
const listOf = <T>(itemParser: parsers.Parser<T>, description: string, defaultValue = ""): Variable<T[]> =>
  withDefault(parsers.commaSeparated(itemParser), defaultValue, description);

const urlWithQuery = parsers.urlWithScheme("http", "https");
const hostOf = (url: string) => URL.parse(url)?.host ?? "localhost";
const hostNameOf = (url: string) => URL.parse(url)?.hostname ?? "localhost";
const baseUrlHost: Default = { description: "host of `BASE_URL`", compute: ({ text }) => hostOf(text("BASE_URL")) };

/** Where a listener can be reached from this machine. */
function localAddress(host: string, port: string): string {
  const reachable = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host;
  return `http://${reachable.includes(":") ? `[${reachable}]` : reachable}:${port}`;
}

export const variables = {
  HOST: withDefault(parsers.bindHost, "127.0.0.1", "Address the web listener binds."),
  PORT: withDefault(parsers.port, "3000", "Port of the web listener; 0 takes a free one."),
  BACKEND_HOST: withDefault(parsers.bindHost, "127.0.0.1", "Address the backend listener binds."),
  BACKEND_PORT: withDefault(parsers.port, "3001", "Port of the backend listener; 0 takes a free one."),
  BACKEND_URL: withDefault(
    parsers.httpUrl,
    {
      description: "from `BACKEND_HOST` and `BACKEND_PORT`",
      compute: ({ text }) => localAddress(text("BACKEND_HOST"), text("BACKEND_PORT")),
    },
    "Where a process with `ROLE=web` finds the backend.",
  ),
  ROLE: withDefault(
    parsers.oneOf("all", "web", "backend"),
    "all",
    "Which surfaces this process serves. Any role but `all` needs a remote `DATABASE_URL` and an explicit `SECRET_KEY`.",
  ),
  BASE_URL: withDefault(
    parsers.origin,
    { description: "`http://localhost:$PORT`", compute: ({ text }) => `http://localhost:${text("PORT")}` },
    "Public address: sign-in messages, mail links, OAuth redirects, cookie security.",
  ),
  AGENTS_DOMAIN: withDefault(parsers.hostName, baseUrlHost, "Agents answer at `<subdomain>.$AGENTS_DOMAIN`."),
  DATA_DIR: withDefault(
    parsers.absolutePath,
    "./data",
    "Folder of the database, key file, backups, mail outbox and stream segments.",
  ),
  DATABASE_URL: withDefault(
    parsers.databaseUrl,
    { description: "`file:$DATA_DIR/berth.db`", compute: ({ text }) => `file:${text("DATA_DIR")}/berth.db` },
    "Database: a file, or a libSQL server.",
    "address",
  ),
  DATABASE_AUTH_TOKEN: optional(parsers.anyText, "Token for a remote database.", "secret"),
  SECRET_KEY: optional(
    parsers.rootKey,
    "Root key of sessions, service tokens and stored secrets. Unset: made at the first start in `$DATA_DIR/secret.key`.",
    "secret",
  ),
  SECRET_KEY_PREVIOUS: optional(parsers.rootKey, "The root key before; still decrypts, for rotation.", "secret"),
  ADMIN_EMAILS: listOf(parsers.email, "Accounts with these addresses, once verified, are admins."),
  LOG_LEVEL: withDefault(
    parsers.oneOf("debug", "info", "warn", "error"),
    "info",
    "The least serious line that is logged.",
  ),
  LOG_FORMAT: withDefault(
    parsers.oneOf("pretty", "json"),
    { description: "`pretty` on a terminal, else `json`", compute: ({ terminal }) => (terminal ? "pretty" : "json") },
    "How log lines look.",
  ),
  SMTP_URL: optional(
    parsers.urlWithScheme("smtp", "smtps"),
    "Mail server. Unset: each mail becomes an `.eml` file in `$DATA_DIR/outbox`.",
    "address",
  ),
  MAIL_FROM: withDefault(
    parsers.mailSender,
    {
      description: "`Berth <berth@…>` at the host of `BASE_URL`",
      compute: ({ text }) => `Berth <berth@${hostNameOf(text("BASE_URL"))}>`,
    },
    "Sender of all mail.",
  ),
  GOOGLE_CLIENT_ID: optional(parsers.anyText, "Google sign-in, with its secret."),
  GOOGLE_CLIENT_SECRET: optional(parsers.anyText, "Secret of that client.", "secret"),
  GOOGLE_ISSUER: withDefault(parsers.httpUrl, "https://accounts.google.com", "OpenID issuer of that sign-in."),
  GITHUB_CLIENT_ID: optional(parsers.anyText, "GitHub sign-in, with its secret."),
  GITHUB_CLIENT_SECRET: optional(parsers.anyText, "Secret of that client.", "secret"),
  GITHUB_BASE_URL: withDefault(parsers.httpUrl, "https://github.com", "Where GitHub's sign-in pages are."),
  GITHUB_API_URL: withDefault(parsers.httpUrl, "https://api.github.com", "Where GitHub's API is."),
  BOT_DETECTION: withDefault(
    parsers.oneOf("off", "standard", "strict"),
    "standard",
    "Who is refused at sign-up and forgot-password: `standard` lets plain API clients pass, `strict` only browsers.",
  ),
  RATE_LIMITS: withDefault(parsers.rateLimits, "on", 'All limits, or overrides by rule: `{"sign-up":"10/m,60/h"}`.'),
  TRUSTED_PROXIES: listOf(parsers.network, "Proxies whose forwarding headers are believed."),
  CORS_ORIGINS: listOf(parsers.origin, "Foreign origins that browsers may call from."),
  SIGNUP_TRIAL: optional(parsers.trial, "Subscription of each new account, such as `starter:7d`."),
  PROVIDER_1_API_KEY: optional(parsers.anyText, "Key for provider 1.", "secret"),
  PROVIDER_1_BASE_URL: withDefault(
    parsers.httpUrl,
    "https://openrouter.ai/api/v1",
    "OpenAI-compatible address of provider 1.",
  ),
  PROVIDER_1_LABEL: withDefault(parsers.anyText, "OpenRouter", "Name of provider 1, for people."),
  PROVIDER_2_API_KEY: optional(parsers.anyText, "Key for provider 2.", "secret"),
  PROVIDER_2_BASE_URL: withDefault(
    parsers.httpUrl,
    "https://generativelanguage.googleapis.com/v1beta/openai",
    "OpenAI-compatible address of provider 2.",
  ),
  PROVIDER_2_LABEL: withDefault(parsers.anyText, "Google Gemini", "Name of provider 2, for people."),
  PROVIDER_3_API_KEY: optional(parsers.anyText, "Key for provider 3; a local server needs none.", "secret"),
  PROVIDER_3_BASE_URL: withDefault(
    parsers.httpUrl,
    "https://api.groq.com/openai/v1",
    "OpenAI-compatible address of provider 3, such as a local Ollama's `http://127.0.0.1:11434/v1`.",
  ),
  PROVIDER_3_LABEL: withDefault(parsers.anyText, "Groq", "Name of provider 3, for people."),
  PROVIDER_4_API_KEY: optional(parsers.anyText, "Key for provider 4.", "secret"),
  PROVIDER_4_BASE_URL: withDefault(
    parsers.httpUrl,
    "https://api.anthropic.com/v1",
    "OpenAI-compatible address of provider 4.",
  ),
  PROVIDER_4_LABEL: withDefault(parsers.anyText, "Anthropic", "Name of provider 4, for people."),
  PROVIDER_5_API_KEY: optional(parsers.anyText, "Key for provider 5.", "secret"),
  PROVIDER_5_BASE_URL: withDefault(
    parsers.httpUrl,
    "https://api.openai.com/v1",
    "OpenAI-compatible address of provider 5.",
  ),
  PROVIDER_5_LABEL: withDefault(parsers.anyText, "OpenAI", "Name of provider 5, for people."),
  MODEL_A: withDefault(
    parsers.modelRef,
    "provider_1:anthropic/claude-sonnet-4.5",
    "Model behind the choice `model_a`, the default.",
  ),
  MODEL_B: withDefault(parsers.modelRef, "provider_1:openai/gpt-5-mini", "Model behind the choice `model_b`."),
  CHANNEL_A_API_ROOT: withDefault(parsers.httpUrl, "https://api.telegram.org", "Telegram Bot API."),
  CHANNEL_A_MODE: withDefault(
    parsers.oneOf("auto", "polling", "webhook"),
    "auto",
    "How Telegram's updates come; `auto` is `webhook` when `BASE_URL` is https, else `polling`.",
  ),
  CHANNEL_B_API_ROOT: withDefault(parsers.httpUrl, "https://discord.com/api", "Discord REST API."),
  CHANNEL_C_API_ROOT: withDefault(parsers.httpUrl, "https://graph.facebook.com/v25.0", "Graph API, with its version."),
  CHANNEL_C_APP_ID: optional(
    parsers.anyText,
    "Your Meta app: what WhatsApp posts for tokens it made has to be signed.",
  ),
  CHANNEL_C_APP_SECRET: optional(parsers.anyText, "Secret of that app.", "secret"),
  MAINNET_RPC_URL: withDefault(
    urlWithQuery,
    "https://mainnet.base.org",
    "RPC of `mainnet_chain` (Base, chain id 8453).",
    "address",
  ),
  TESTNET_RPC_URL: withDefault(
    urlWithQuery,
    "https://sepolia.base.org",
    "RPC of `testnet_chain` (Base Sepolia, chain id 84532).",
    "address",
  ),
  GATING_TOKEN_ADDRESS: optional(parsers.contractAddress, "Token whose holders pass the gate. Unset: the gate is off."),
  GATING_TOKEN_SYMBOL: withDefault(parsers.anyText, "TOKEN", "Symbol of that token."),
  GATING_MIN_BALANCE: withDefault(
    parsers.tokenAmount,
    "1000000000000000000",
    "Balance that passes the gate, in smallest units.",
  ),
  SOCIAL_ISSUER: withDefault(
    parsers.httpUrl,
    "https://auth.farcaster.xyz",
    "Issuer of social-identity tokens; its keys are at `/.well-known/jwks.json`.",
  ),
  SOCIAL_AUDIENCE: withDefault(parsers.anyText, baseUrlHost, "Audience those tokens must name."),
  WALLET_PLATFORM: withDefault(
    parsers.oneOf("none", "local", "cdp"),
    "none",
    "Managed wallets: `local` keeps keys here, encrypted; `cdp` is the Coinbase Developer Platform.",
  ),
  WALLET_PLATFORM_PROJECT_ID: optional(parsers.anyText, "Project shown, shortened, in the platform's status."),
  CDP_API_KEY_ID: optional(parsers.anyText, "With `WALLET_PLATFORM=cdp`: API key id."),
  CDP_API_KEY_SECRET: optional(parsers.anyText, "With `WALLET_PLATFORM=cdp`: API key secret.", "secret"),
  CDP_WALLET_SECRET: optional(parsers.anyText, "With `WALLET_PLATFORM=cdp`: wallet secret.", "secret"),
  CDP_BASE_PATH: optional(parsers.httpUrl, "With `WALLET_PLATFORM=cdp`: another address of the platform."),
  STABLECOIN_ADDRESS_MAINNET: withDefault(
    parsers.contractAddress,
    "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
    "Stablecoin of `mainnet_chain`; USDC's.",
  ),
  STABLECOIN_ADDRESS_TESTNET: withDefault(
    parsers.contractAddress,
    "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
    "Stablecoin of `testnet_chain`; USDC's.",
  ),
  SWAP_ROUTER_ADDRESS_MAINNET: withDefault(
    parsers.contractAddress,
    "0x2626664c2603336E57B271c5C0b26F421741e481",
    "Uniswap v3's SwapRouter02 on `mainnet_chain`.",
  ),
  SWAP_ROUTER_ADDRESS_TESTNET: withDefault(
    parsers.contractAddress,
    "0x94cC0AaC535CCDB3C01d6787D6413C739ae12bc4",
    "The same on `testnet_chain`.",
  ),
  SWAP_QUOTER_ADDRESS_MAINNET: withDefault(
    parsers.contractAddress,
    "0x3d4e44Eb1374240CE5F1B871ab261CD16335B76a",
    "Uniswap v3's QuoterV2 on `mainnet_chain`.",
  ),
  SWAP_QUOTER_ADDRESS_TESTNET: withDefault(
    parsers.contractAddress,
    "0xC5290058841028F1614F3A6F0F5816cAd0df5E27",
    "The same on `testnet_chain`.",
  ),
  VERIFY_EAS_ADDRESS: withDefault(
    parsers.contractAddress,
    "0x4200000000000000000000000000000000000021",
    "Attestation service.",
  ),
  VERIFY_ATTESTATION_SCHEMAS: listOf(
    parsers.bytes32,
    "Schemas of attestations that count.",
    "0xf8b05c79f090979bf4a80270aba232dff11a10d9ca55c4f88de95317970f0de9",
  ),
  VERIFY_ATTESTERS: listOf(
    parsers.contractAddress,
    "Attesters that count.",
    "0x357458739F90461b99789350868CD7CF330Dd7EE",
  ),
  VERIFY_EXCHANGE_INDEXER: withDefault(
    parsers.contractAddress,
    "0x2c7eE1E5f416dfF40054c27A62f7B357C4E8619C",
    "Index of the exchange's attestations.",
  ),
  VERIFY_EXCHANGE_SCHEMA: withDefault(
    parsers.bytes32,
    "0xf8b05c79f090979bf4a80270aba232dff11a10d9ca55c4f88de95317970f0de9",
    'The exchange\'s schema "verified account".',
  ),
  VERIFY_NAME_REGISTRY: withDefault(
    parsers.contractAddress,
    "0xC6d566A56A1aFf6508b41f6c90ff131615583BCD",
    "Resolver of the name service.",
  ),
  STREAM_DRIVER: withDefault(
    parsers.oneOf("embedded", "off"),
    "embedded",
    "Live streams: RTMP in and HLS out in this process, or none.",
  ),
  RTMP_PORT: withDefault(parsers.port, "1935", "Port streams are sent to; 0 takes a free one."),
  STREAM_RTMP_URL: withDefault(
    parsers.urlWithScheme("rtmp", "rtmps"),
    {
      description: "`rtmp://<host of BASE_URL>:$RTMP_PORT/live`",
      compute: ({ text }) => `rtmp://${hostNameOf(text("BASE_URL"))}:${text("RTMP_PORT")}/live`,
    },
    "Address streams are sent to, without the key.",
  ),
  STREAM_PLAYBACK_URL: withDefault(
    parsers.httpUrl,
    { description: "`$BASE_URL/live`", compute: ({ text }) => `${text("BASE_URL").replace(/\/+$/, "")}/live` },
    "Address under which streams are played.",
  ),
  WEBHOOK_URL: optional(urlWithQuery, "An endpoint of the operator that gets all events.", "address"),
  WEBHOOK_SECRET: optional(parsers.anyText, "Signs the events sent to `WEBHOOK_URL`.", "secret"),
  PLUGINS: listOf(parsers.absolutePath, "Files of third-party plugins."),
  OUTBOUND_ALLOW: listOf(parsers.network, "Private networks that addresses given by users may reach all the same."),
  AI_PUBLIC_BUDGET_USD_PER_DAY: withDefault(
    parsers.microUsd,
    "1",
    "What `/api/ai/*` may spend on the operator's keys a day; 0 turns keyless use off.",
  ),
  AI_PLAN_BUDGETS_USD_PER_MONTH: withDefault(
    parsers.planBudgets,
    "free:1,starter:10,pro:50,enterprise:500",
    "What each account may use of the operator's keys a month before its credits, by plan; admins are free of it.",
  ),
  METRICS_TOKEN: optional(parsers.anyText, "Bearer token for `/metrics`.", "secret"),
  SHUTDOWN_GRACE: withDefault(parsers.duration, "20s", "How long turns in flight may finish after SIGTERM."),
};

export type VariableName = keyof typeof variables;
/** The parsed value of every variable, by name. */
export type Values = {
  [Name in VariableName]: (typeof variables)[Name] extends Variable<infer T> ? T : never;
};
export const variableNames = Object.keys(variables) as VariableName[];
