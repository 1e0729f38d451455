// Every variable Berth reads, one entry each: loadConfig, `berth doctor` and docs/configuration.md are made from this table.

import * as as from "./parsers.ts";

/** How a value is shown: in full, not at all, or (an address that may carry a password or key) only its scheme and host. */
export type Secrecy = "open" | "secret" | "address";

/** What a default may depend on: the text in force of other variables, and the place of the start. */
export interface Context extends as.Place {
  text(name: string): string;
}

/** Text, or a rule over other variables together with the words that describe it. */
export type Default = string | { says: string; from(context: Context): string };

/** One variable: how it is read, what it is when nobody sets it, and what it means. */
export interface Variable<T> {
  parser: as.Parser<NonNullable<T>>;
  fallback: Default | undefined;
  secrecy: Secrecy;
  about: string;
}

/** A variable that always has a value. */
const given = <T>(
  parser: as.Parser<NonNullable<T>>,
  fallback: Default,
  about: string,
  secrecy: Secrecy = "open",
): Variable<T> => ({ parser, fallback, secrecy, about });

/** A variable that may stay unset: its value is then undefined. */
const optional = <T>(
  parser: as.Parser<NonNullable<T>>,
  about: string,
  secrecy: Secrecy = "open",
): Variable<T | undefined> => ({ parser, fallback: undefined, secrecy, about });

/** A list; empty when nobody sets it. */
const several = <T>(of: as.Parser<T>, about: string, fallback = ""): Variable<T[]> =>
  given(as.list(of), fallback, about);

const rpc = as.address("http", "https");
const hostOf = (url: string) => URL.parse(url)?.host ?? "localhost";
const hostNameOf = (url: string) => URL.parse(url)?.hostname ?? "localhost";
const baseHost: Default = { says: "host of `BASE_URL`", from: ({ text }) => hostOf(text("BASE_URL")) };

/** Where a listener can be reached from this machine. */
function localAddress(host: string, port: string): string {
  const reachable = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host;
  return `http://${reachable.includes(":") ? `[${reachable}]` : reachable}:${port}`;
}

export const table = {
  HOST: given(as.bindHost, "127.0.0.1", "Address the web listener binds."),
  PORT: given(as.port, "3000", "Port of the web listener; 0 takes a free one."),
  BACKEND_HOST: given(as.bindHost, "127.0.0.1", "Address the backend listener binds."),
  BACKEND_PORT: given(as.port, "3001", "Port of the backend listener; 0 takes a free one."),
  BACKEND_URL: given(
    as.web,
    {
      says: "from `BACKEND_HOST` and `BACKEND_PORT`",
      from: ({ text }) => localAddress(text("BACKEND_HOST"), text("BACKEND_PORT")),
    },
    "Where a process with `ROLE=web` finds the backend.",
  ),
  ROLE: given(
    as.oneOf("all", "web", "backend"),
    "all",
    "Which surfaces this process serves. Any role but `all` needs a remote `DATABASE_URL` and an explicit `SECRET_KEY`.",
  ),
  BASE_URL: given(
    as.origin,
    { says: "`http://localhost:$PORT`", from: ({ text }) => `http://localhost:${text("PORT")}` },
    "Public address: sign-in messages, mail links, OAuth redirects, cookie security.",
  ),
  AGENTS_DOMAIN: given(as.hostName, baseHost, "Agents answer at `<subdomain>.$AGENTS_DOMAIN`."),
  DATA_DIR: given(as.path, "./data", "Folder of the database, key file, backups, mail outbox and stream segments."),
  DATABASE_URL: given(
    as.databaseUrl,
    { says: "`file:$DATA_DIR/berth.db`", from: ({ text }) => `file:${text("DATA_DIR")}/berth.db` },
    "Database: a file, or a libSQL server.",
    "address",
  ),
  DATABASE_AUTH_TOKEN: optional(as.anyText, "Token for a remote database.", "secret"),
  SECRET_KEY: optional(
    as.key,
    "Root key of sessions, service tokens and stored secrets. Unset: made at the first start in `$DATA_DIR/secret.key`.",
    "secret",
  ),
  SECRET_KEY_PREVIOUS: optional(as.key, "The root key before; still decrypts, for rotation.", "secret"),
  ADMIN_EMAILS: several(as.email, "Accounts with these addresses, once verified, are admins."),
  LOG_LEVEL: given(as.oneOf("debug", "info", "warn", "error"), "info", "The least serious line that is logged."),
  LOG_FORMAT: given(
    as.oneOf("pretty", "json"),
    { says: "`pretty` on a terminal, else `json`", from: ({ terminal }) => (terminal ? "pretty" : "json") },
    "How log lines look.",
  ),
  SMTP_URL: optional(
    as.address("smtp", "smtps"),
    "Mail server. Unset: each mail becomes an `.eml` file in `$DATA_DIR/outbox`.",
    "address",
  ),
  MAIL_FROM: given(
    as.sender,
    {
      says: "`Berth <berth@…>` at the host of `BASE_URL`",
      from: ({ text }) => `Berth <berth@${hostNameOf(text("BASE_URL"))}>`,
    },
    "Sender of all mail.",
  ),
  GOOGLE_CLIENT_ID: optional(as.anyText, "Google sign-in, with its secret."),
  GOOGLE_CLIENT_SECRET: optional(as.anyText, "Secret of that client.", "secret"),
  GOOGLE_ISSUER: given(as.web, "https://accounts.google.com", "OpenID issuer of that sign-in."),
  GITHUB_CLIENT_ID: optional(as.anyText, "GitHub sign-in, with its secret."),
  GITHUB_CLIENT_SECRET: optional(as.anyText, "Secret of that client.", "secret"),
  GITHUB_BASE_URL: given(as.web, "https://github.com", "Where GitHub's sign-in pages are."),
  GITHUB_API_URL: given(as.web, "https://api.github.com", "Where GitHub's API is."),
  BOT_DETECTION: given(
    as.oneOf("off", "standard", "strict"),
    "standard",
    "Who is refused at sign-up and forgot-password: `standard` lets plain API clients pass, `strict` only browsers.",
  ),
  RATE_LIMITS: given(as.rateLimits, "on", 'All limits, or overrides by rule: `{"sign-up":"10/m,60/h"}`.'),
  TRUSTED_PROXIES: several(as.network, "Proxies whose forwarding headers are believed."),
  CORS_ORIGINS: several(as.origin, "Foreign origins that browsers may call from."),
  SIGNUP_TRIAL: optional(as.trial, "Subscription of each new account, such as `starter:7d`."),
  PROVIDER_1_API_KEY: optional(as.anyText, "Key for provider 1.", "secret"),
  PROVIDER_1_BASE_URL: given(as.web, "https://openrouter.ai/api/v1", "OpenAI-compatible address of provider 1."),
  PROVIDER_1_LABEL: given(as.anyText, "OpenRouter", "Name of provider 1, for people."),
  PROVIDER_2_API_KEY: optional(as.anyText, "Key for provider 2.", "secret"),
  PROVIDER_2_BASE_URL: given(
    as.web,
    "https://generativelanguage.googleapis.com/v1beta/openai",
    "OpenAI-compatible address of provider 2.",
  ),
  PROVIDER_2_LABEL: given(as.anyText, "Google Gemini", "Name of provider 2, for people."),
  PROVIDER_3_API_KEY: optional(as.anyText, "Key for provider 3; a local server needs none.", "secret"),
  PROVIDER_3_BASE_URL: given(
    as.web,
    "https://api.groq.com/openai/v1",
    "OpenAI-compatible address of provider 3, such as a local Ollama's `http://127.0.0.1:11434/v1`.",
  ),
  PROVIDER_3_LABEL: given(as.anyText, "Groq", "Name of provider 3, for people."),
  PROVIDER_4_API_KEY: optional(as.anyText, "Key for provider 4.", "secret"),
  PROVIDER_4_BASE_URL: given(as.web, "https://api.anthropic.com/v1", "OpenAI-compatible address of provider 4."),
  PROVIDER_4_LABEL: given(as.anyText, "Anthropic", "Name of provider 4, for people."),
  PROVIDER_5_API_KEY: optional(as.anyText, "Key for provider 5.", "secret"),
  PROVIDER_5_BASE_URL: given(as.web, "https://api.openai.com/v1", "OpenAI-compatible address of provider 5."),
  PROVIDER_5_LABEL: given(as.anyText, "OpenAI", "Name of provider 5, for people."),
  MODEL_A: given(
    as.modelRef,
    "provider_1:anthropic/claude-sonnet-4.5",
    "Model behind the choice `model_a`, the default.",
  ),
  MODEL_B: given(as.modelRef, "provider_1:openai/gpt-5-mini", "Model behind the choice `model_b`."),
  CHANNEL_A_API_ROOT: given(as.web, "https://api.telegram.org", "Telegram Bot API."),
  CHANNEL_A_MODE: given(
    as.oneOf("auto", "polling", "webhook"),
    "auto",
    "How Telegram's updates come; `auto` is `webhook` when `BASE_URL` is https, else `polling`.",
  ),
  CHANNEL_B_API_ROOT: given(as.web, "https://discord.com/api", "Discord REST API."),
  CHANNEL_C_API_ROOT: given(as.web, "https://graph.facebook.com/v25.0", "Graph API, with its version."),
  CHANNEL_C_APP_ID: optional(as.anyText, "Your Meta app: what WhatsApp posts for tokens it made has to be signed."),
  CHANNEL_C_APP_SECRET: optional(as.anyText, "Secret of that app.", "secret"),
  MAINNET_RPC_URL: given(rpc, "https://mainnet.base.org", "RPC of `mainnet_chain` (Base, chain id 8453).", "address"),
  TESTNET_RPC_URL: given(
    rpc,
    "https://sepolia.base.org",
    "RPC of `testnet_chain` (Base Sepolia, chain id 84532).",
    "address",
  ),
  GATING_TOKEN_ADDRESS: optional(as.contractAddress, "Token whose holders pass the gate. Unset: the gate is off."),
  GATING_TOKEN_SYMBOL: given(as.anyText, "TOKEN", "Symbol of that token."),
  GATING_MIN_BALANCE: given(
    as.smallestUnits,
    "1000000000000000000",
    "Balance that passes the gate, in smallest units.",
  ),
  SOCIAL_ISSUER: given(
    as.web,
    "https://auth.farcaster.xyz",
    "Issuer of social-identity tokens; its keys are at `/.well-known/jwks.json`.",
  ),
  SOCIAL_AUDIENCE: given(as.anyText, baseHost, "Audience those tokens must name."),
  WALLET_PLATFORM: given(
    as.oneOf("none", "local", "cdp"),
    "none",
    "Managed wallets: `local` keeps keys here, encrypted; `cdp` is the Coinbase Developer Platform.",
  ),
  WALLET_PLATFORM_PROJECT_ID: optional(as.anyText, "Project shown, shortened, in the platform's status."),
  CDP_API_KEY_ID: optional(as.anyText, "With `WALLET_PLATFORM=cdp`: API key id."),
  CDP_API_KEY_SECRET: optional(as.anyText, "With `WALLET_PLATFORM=cdp`: API key secret.", "secret"),
  CDP_WALLET_SECRET: optional(as.anyText, "With `WALLET_PLATFORM=cdp`: wallet secret.", "secret"),
  CDP_BASE_PATH: optional(as.web, "With `WALLET_PLATFORM=cdp`: another address of the platform."),
  STABLECOIN_ADDRESS_MAINNET: given(
    as.contractAddress,
    "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
    "Stablecoin of `mainnet_chain`; USDC's.",
  ),
  STABLECOIN_ADDRESS_TESTNET: given(
    as.contractAddress,
    "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
    "Stablecoin of `testnet_chain`; USDC's.",
  ),
  SWAP_ROUTER_ADDRESS_MAINNET: given(
    as.contractAddress,
    "0x2626664c2603336E57B271c5C0b26F421741e481",
    "Uniswap v3's SwapRouter02 on `mainnet_chain`.",
  ),
  SWAP_ROUTER_ADDRESS_TESTNET: given(
    as.contractAddress,
    "0x94cC0AaC535CCDB3C01d6787D6413C739ae12bc4",
    "The same on `testnet_chain`.",
  ),
  SWAP_QUOTER_ADDRESS_MAINNET: given(
    as.contractAddress,
    "0x3d4e44Eb1374240CE5F1B871ab261CD16335B76a",
    "Uniswap v3's QuoterV2 on `mainnet_chain`.",
  ),
  SWAP_QUOTER_ADDRESS_TESTNET: given(
    as.contractAddress,
    "0xC5290058841028F1614F3A6F0F5816cAd0df5E27",
    "The same on `testnet_chain`.",
  ),
  VERIFY_EAS_ADDRESS: given(as.contractAddress, "0x4200000000000000000000000000000000000021", "Attestation service."),
  VERIFY_ATTESTATION_SCHEMAS: several(
    as.bytes32,
    "Schemas of attestations that count.",
    "0xf8b05c79f090979bf4a80270aba232dff11a10d9ca55c4f88de95317970f0de9",
  ),
  VERIFY_ATTESTERS: several(as.contractAddress, "Attesters that count.", "0x357458739F90461b99789350868CD7CF330Dd7EE"),
  VERIFY_EXCHANGE_INDEXER: given(
    as.contractAddress,
    "0x2c7eE1E5f416dfF40054c27A62f7B357C4E8619C",
    "Index of the exchange's attestations.",
  ),
  VERIFY_EXCHANGE_SCHEMA: given(
    as.bytes32,
    "0xf8b05c79f090979bf4a80270aba232dff11a10d9ca55c4f88de95317970f0de9",
    'The exchange\'s schema "verified account".',
  ),
  VERIFY_NAME_REGISTRY: given(
    as.contractAddress,
    "0xC6d566A56A1aFf6508b41f6c90ff131615583BCD",
    "Resolver of the name service.",
  ),
  STREAM_DRIVER: given(
    as.oneOf("embedded", "off"),
    "embedded",
    "Live streams: RTMP in and HLS out in this process, or none.",
  ),
  RTMP_PORT: given(as.port, "1935", "Port streams are sent to; 0 takes a free one."),
  STREAM_RTMP_URL: given(
    as.address("rtmp", "rtmps"),
    {
      says: "`rtmp://<host of BASE_URL>:$RTMP_PORT/live`",
      from: ({ text }) => `rtmp://${hostNameOf(text("BASE_URL"))}:${text("RTMP_PORT")}/live`,
    },
    "Address streams are sent to, without the key.",
  ),
  STREAM_PLAYBACK_URL: given(
    as.web,
    { says: "`$BASE_URL/live`", from: ({ text }) => `${text("BASE_URL").replace(/\/+$/, "")}/live` },
    "Address under which streams are played.",
  ),
  WEBHOOK_URL: optional(rpc, "An endpoint of the operator that gets all events.", "address"),
  WEBHOOK_SECRET: optional(as.anyText, "Signs the events sent to `WEBHOOK_URL`.", "secret"),
  PLUGINS: several(as.path, "Files of third-party plugins."),
  OUTBOUND_ALLOW: several(as.network, "Private networks that addresses given by users may reach all the same."),
  AI_PUBLIC_BUDGET_USD_PER_DAY: given(
    as.dollars,
    "1",
    "What `/api/ai/*` may spend on the operator's keys a day; 0 turns keyless use off.",
  ),
  AI_PLAN_BUDGETS_USD_PER_MONTH: given(
    as.planBudgets,
    "free:1,starter:10,pro:50,enterprise:500",
    "What each account may use of the operator's keys a month before its credits, by plan; admins are free of it.",
  ),
  METRICS_TOKEN: optional(as.anyText, "Bearer token for `/metrics`.", "secret"),
  SHUTDOWN_GRACE: given(as.duration, "20s", "How long turns in flight may finish after SIGTERM."),
};

export type VariableName = keyof typeof table;
/** The parsed value of every variable, by name. */
export type Values = {
  [Name in VariableName]: (typeof table)[Name] extends Variable<infer T> ? T : never;
};
export const variableNames = Object.keys(table) as VariableName[];
