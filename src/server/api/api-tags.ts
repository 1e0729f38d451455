// What the API documents say of their tags, with the guide of each, which the server has at /docs/<page> (docs/<page>.md). A page may
// have the anchor of a section. A test wants a request of the tag to be named there.
import type { Tag } from "../../kernel/http/openapi/document.ts";

interface TagRow {
  description: string;
  page: string;
  guide: string;
}

const tag = (description: string, page: string, guide: string): TagRow => ({ description, page, guide });

/** The texts of all tags, by name. The addresses of guides are whole, because some linters refuse relative ones. */
export const describeTags = (baseUrl: string): Record<string, Omit<Tag, "name">> =>
  Object.fromEntries(
    Object.entries(TAGS).map(([name, { description, page, guide }]) => [
      name,
      { description, externalDocs: { url: `${new URL(baseUrl).origin}/docs/${page}`, description: `Guide: ${guide}` } },
    ]),
  );

/** By name. A test wants a row for each tag of a route. */
const TAGS: Readonly<Record<string, TagRow>> = {
  Accounts: tag("Sign up, sign in, sessions, API keys and settings of an account.", "api-tour", "a tour of the API"),
  Agents: tag("Agents, their configuration, credentials and logs.", "agents", "agents and their configuration"),
  Billing: tag("Plans and credits, paid through Stripe or in stablecoin.", "billing", "plans and billing"),
  Interaction: tag("Talk to an agent in one request.", "api-tour", "a tour of the API"),
  Conversations: tag(
    "Conversations of all platforms, their messages and turns; messages that are answered in the background.",
    "api-tour",
    "a tour of the API",
  ),
  Gateway: tag("Talk to an agent over a WebSocket.", "gateway", "the gateway"),
  "Life cycle": tag("Start, stop, update, back up and repair agents.", "operating", "operating Berth"),
  Memory: tag("What agents remember.", "memory", "memory"),
  Files: tag("Files that agents know, and search in them.", "files", "files"),
  Uploads: tag("Files that come with messages.", "sent-files", "files in messages"),
  Skills: tag("What agents can do: tools, and folders with instructions.", "skills", "skills"),
  "MCP servers": tag("Servers whose tools an agent uses.", "mcp", "MCP"),
  "MCP server": tag("Agents as tools of other assistants.", "mcp", "MCP"),
  "Connected apps": tag("Apps that act for an account, with OAuth.", "mcp", "MCP"),
  Schedules: tag("Prompts that agents get at set times.", "schedules", "schedules"),
  Approvals: tag("Tool calls that wait for their owner's word.", "approvals", "approvals"),
  Channels: tag("Bots on messaging platforms, and who may talk to them.", "channels", "channels"),
  People: tag(
    "People who write to an agent: a copy of what it has of them, and their erasure.",
    "privacy#people-of-an-agent",
    "what people may ask for",
  ),
  "Public page": tag(
    "Agents for visitors and for agents of other hosts.",
    "gateway",
    "the gateway and the public page",
  ),
  Embed: tag("An agent's chat on sites of its owner.", "embed", "the chat on your site"),
  "Live streams": tag("Live video by RTMP and HLS.", "streams", "live streams"),
  Verification: tag("Proofs of who stands behind an agent.", "verification", "verification"),
  Wallets: tag("Wallets of accounts, and spending within a policy.", "wallets", "wallets"),
  "Social identity and token gating": tag(
    "Sign-in with a social network, and access by a token balance.",
    "gating",
    "token gating",
  ),
  AI: tag("Models of all providers: chat, embeddings, prices.", "operating", "operating Berth"),
  OpenAI: tag(
    "Models and agents for OpenAI's clients, in the shapes of its API.",
    "openai-api",
    "clients of OpenAI and Anthropic",
  ),
  Anthropic: tag(
    "Models and agents for Anthropic's clients, in the shape of its API.",
    "openai-api",
    "clients of OpenAI and Anthropic",
  ),
  Usage: tag("What accounts and agents use, cost and may spend.", "operating#what-models-cost", "what models cost"),
  Webhooks: tag("Events for other services, by POST and as a stream.", "webhooks", "webhooks"),
  Setup: tag("How far an account has come with the first run.", "api-tour", "a tour of the API"),
  Admin: tag("Accounts, subscriptions and model providers, for admins.", "operating", "operating Berth"),
  Fleet: tag("The whole installation: agents, channels, jobs, storage, backups.", "operating", "operating Berth"),
  Health: tag("Whether the service is up, and its figures.", "operating", "operating Berth"),
};
