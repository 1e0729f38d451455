// The types of the API, made from its OpenAPI document by build/api-types.ts. Do not edit.

/** The account of a key or a session. */
export interface Account {
  id: string;
  email: string;
  name: string;
  plan: string;
  credits: number;
  twoFactorEnabled: boolean;
  /** Whether the account can sign in with a password */
  hasPassword: boolean;
  emailVerified: boolean;
  isAdmin: boolean;
  referralCode: string;
  subscription: {
    plan: string;
    status: string;
    active: boolean;
    currentPeriodEnd: string;
  } | null;
  notifications: {
    agent: boolean;
    billing: boolean;
    security: boolean;
    referral: boolean;
    system: boolean;
  };
  /** Set if an admin has frozen the account: it reads, and its agents are paused */
  frozen: {
    /** ISO 8601 */
    since: string;
    /** What the operator wrote */
    reason: string;
  } | null;
  createdAt: string;
}

/** A session that has begun. */
export interface SignedIn {
  ok: true;
  user: {
    id: string;
    email: string;
    name: string;
  };
}

/** How an agent behaves. */
export interface AgentConfig {
  /** What the agent is told before every conversation: who it is, what it knows, how it answers. It is the first part of each prompt. */
  instructions?: string;
  /** The model behind the choice `custom`, as `provider_N:id`; `GET /api/ai/models` lists the ids. An id that no list has yet is accepted. */
  model?: string;
  /** How freely the model chooses its words: low for facts, high for ideas. Left out: the provider's default. */
  temperature?: number;
  /** Nucleus sampling: the share of the likeliest words that the model chooses from. Change this or `temperature`, not both. */
  topP?: number;
  /** The longest answer of one model call, in tokens. Longer answers are cut off there. */
  maxTokens?: number;
  /** Long-term memory: whether the agent keeps facts and finds them again in later conversations. */
  memory?: boolean | {
    enabled?: boolean;
  };
  /** Which skills are on, by their id from `GET /api/skills`. Skills that are not named keep their own default. A list switches all that it names on. */
  skills?: Record<string, boolean | {
    enabled?: boolean;
  }> | string[];
  /** Servers whose tools the agent uses, by a name of your choice: see docs/mcp.md. */
  mcpServers?: Record<string, McpServer>;
  /** Agents of other hosts that the agent may ask, by a name of your choice: see docs/a2a.md. */
  remoteAgents?: Record<string, RemoteAgent>;
  /** Who may talk to the agent on each channel, and who owns it there: see docs/channels.md. */
  channels?: {
    /** Who may talk to the agent on a channel, and who owns it there. */
    channel_a?: ChannelAccess;
    /** Who may talk to the agent on a channel, and who owns it there. */
    channel_b?: ChannelAccess;
    /** Who may talk to the agent on a channel, and who owns it there. */
    channel_c?: ChannelAccess;
    /** Who may talk to the agent on a channel, and who owns it there. */
    channel_d?: ChannelAccess;
    /** Who may talk to the agent on a channel, and who owns it there. */
    channel_e?: ChannelAccess;
  };
  /** Prompts that the agent gets at set times: see docs/schedules.md. */
  schedules?: Schedule[];
  /** The most that the agent may cost. A call that could go beyond it is refused (402 `BUDGET_EXCEEDED`) until the next day or month. 0 stops the agent's calls. */
  budget?: {
    /** US dollars for model calls in a day (UTC). */
    usdPerDay?: number;
    /** US dollars for model calls in a calendar month (UTC). */
    usdPerMonth?: number;
  };
  /** Whether a tool runs, waits for your approval, or never runs: by the name of a tool, all tools of an MCP server (`docs:*`), or a class (`read`, `write`, `spend`, `outside`); the narrowest name wins. A list means `ask` for each. See docs/approvals.md. */
  approvals?: Record<string, "allow" | "ask" | "deny"> | string[];
  /** How recordings and voice messages are written down: see docs/voice.md. */
  transcription?: {
    /** `needed`: if the agent's model does not hear. `always`: also if it does, so that later turns know what was said. `never`: the agent says that it can't listen. */
    when?: "needed" | "always" | "never";
    /** The model that writes them down, as `provider_N:id`. Left out: the operator's, else the first that a provider of the agent or the operator is known to have. */
    model?: string;
    /** The language that is spoken, as two letters (ISO 639-1). Left out: the model finds it out. */
    language?: string;
  };
  /** Whether replies are spoken, as voice messages of the platform and with a player in the console: see docs/voice.md. */
  voice?: "never" | "when spoken to" | "always" | {
    /** When replies are spoken: never, in answer to a voice message, or always. */
    replies?: "never" | "when spoken to" | "always";
    /** The model that speaks, as `provider_N:id`. Left out: the operator's, else the first that a provider of the agent or the operator is known to have. */
    model?: string;
    /** The provider's name of the voice, such as `nova`. Left out: the usual one of the model. */
    voice?: string;
  };
  /** How the skill `pictures` makes pictures: see docs/tools.md. */
  pictures?: {
    /** The model that makes pictures, as `provider_N:id`. Left out: the operator's, else the first that a provider of the agent or the operator is known to have. */
    model?: string;
  };
  /** The chat on sites of yours, for their visitors: see docs/embed.md. They spend the agent's budget, so set one. */
  embed?: {
    /** The sites that may show the chat: scheme, host and port of each. Left out or empty: none. */
    origins?: string[];
    /** What visitors read before they write. Left out: nothing. */
    greeting?: string;
    /** The colour of the button and of what visitors wrote. Left out: Berth's own. */
    accent?: string;
    /** Light or dark; `auto` follows the visitor's system. */
    theme?: "auto" | "light" | "dark";
  };
  /** The time zone in which the agent tells times and in which schedules without one of their own run. */
  timezone?: string;
}

/** An MCP server that an agent uses. */
export interface McpServer {
  /** The address of a server that speaks streamable HTTP. */
  url?: string;
  /** Names of headers and their values. A value may name a credential of the agent, as `${credential:KEY}`. */
  headers?: Record<string, string>;
  /** In place of `url`: one of the operator's `MCP_COMMANDS` (stdio). */
  command?: string;
  /** Arguments of the command. */
  args?: string[];
  /** The tools that the agent may use. Left out: the first 20 of the server. */
  tools?: string[];
  /** The tools of which you know that they only read: they run without approval. */
  reads?: string[];
  /** You answer for what the server says of its tools now, so that offering them taints no conversation. Their results do. */
  trusted?: boolean;
  /** In whose conversations its tools are offered. */
  access?: "owner" | "everyone";
  /** `false` switches the server off. */
  enabled?: boolean;
}

/** An agent of another host. */
export interface RemoteAgent {
  /** Its public address, or that of its card: one that answers by the A2A protocol. */
  url: string;
  /** Names of headers and their values, for that host alone. A value may name a credential of the agent, as `${credential:KEY}`. */
  headers?: Record<string, string>;
  /** `false` switches it off. */
  enabled?: boolean;
}

/** Who may talk to an agent on a channel. */
export interface ChannelAccess {
  /** Who may talk to the agent: only its owners; people whom an owner admits by a code; those in `allow`; or everybody. Left out: `owner` if the agent has owners there, else `pairing`. */
  access?: "owner" | "pairing" | "allowlist" | "open";
  /** The ids of the agent's owners on the platform. Never user names, which people can change. */
  owners?: string[];
  /** The ids of people who may talk to it with `"access": "allowlist"`. */
  allow?: string[];
  /** When the agent answers in groups: if it is mentioned or answered, to every message, or never. */
  groups?: "mention" | "all" | "off";
}

/** A prompt that an agent gets at set times. */
export interface Schedule {
  /** Shown in the list of schedules. */
  name?: string;
  /** The message that the agent gets at that time. */
  prompt?: string;
  /** The name of `prompt` in earlier versions. */
  message?: string;
  /** When: five fields, or a name such as `@daily`. At most once a minute. */
  cron?: string;
  /** In place of `cron`: a single run, in ISO 8601. Without an offset it is a time in `timezone`. */
  at?: string;
  /** Left out: the agent's `timezone`. */
  timezone?: string;
  /** Where the answer goes: to a conversation on a channel, to the webhooks, or nowhere (null, or left out): then it is only stored. */
  deliver?: {
    platform: "channel_a" | "channel_b" | "channel_c" | "channel_d" | "channel_e";
    peer: string;
    /** Not together with the others */
    webhook?: unknown;
  } | {
    webhook: true;
    /** Not together with the others */
    platform?: unknown;
    /** Not together with the others */
    peer?: unknown;
  } | null;
  /** How to treat runs that were missed while the service was down. */
  missed?: "skip" | "once" | "all";
  /** `false` pauses the schedule. */
  enabled?: boolean;
}

/** A key of a configuration that has no effect. */
export interface Warning {
  path: string;
  message: string;
}

/** An agent in a list. */
export interface Agent {
  id: string;
  name: string;
  model: "model_a" | "model_b" | "custom";
  status: "running" | "active" | "stopped" | "error";
  /** The agent's gateway, by its id */
  websocketUrl: string;
  /** ISO 8601 */
  createdAt: string;
  /** ISO 8601 */
  updatedAt: string;
}

/** An agent. */
export interface AgentDetail {
  id: string;
  name: string;
  model: "model_a" | "model_b" | "custom";
  status: "running" | "active" | "stopped" | "error";
  statusReason: string | null;
  frozen: {
    /** What the operator wrote */
    reason: string;
    /** With its owner's account */
    account: boolean;
  } | null;
  /** ISO 8601 */
  startedAt: string | null;
  /** The owner's plan */
  plan: string;
  subdomain: string;
  /** The agent's public address */
  url: string;
  runtimeVersion: string;
  verified: boolean;
  verificationType: string | null;
  attestationUid: string | null;
  /** ISO 8601 */
  verifiedAt: string | null;
}

/** What an agent begins with. */
export interface NewAgent {
  /** 1 to 64 characters after trimming */
  name: string;
  /** model_a, model_b, custom */
  model?: string;
  /** Any JSON object of up to 64 KiB, without secrets. These are the keys that Berth reads; others are stored. */
  config?: AgentConfig;
  /** The id of one of GET /api/templates, in the language of `Accept-Language`; `config` is merged over it */
  template?: string;
  /** A hint: starter, pro or enterprise */
  tier?: string;
}

/** A new agent. */
export interface CreatedAgent {
  success: true;
  agent: {
    id: string;
    name: string;
    status: "running" | "active" | "stopped" | "error";
    websocketUrl: string;
    model: "model_a" | "model_b" | "custom";
    /** ISO 8601 */
    createdAt: string;
  };
  /** What was accepted and has no effect: each with its path, which for a key of the configuration begins in the configuration. Left out if there is nothing to name */
  warnings?: Warning[];
}

/** What changes of an agent; the rest stays. */
export interface AgentChange {
  /** 1 to 64 characters after trimming */
  name?: string;
  /** model_a, model_b, custom */
  model?: string;
  /** Any JSON object of up to 64 KiB, without secrets. These are the keys that Berth reads; others are stored. */
  config?: AgentConfig;
  /** The version of the configuration that `config` was made from: 409 if another one is in force */
  configVersion?: number;
}

/** A changed agent. */
export interface ConfiguredAgent {
  agent: AgentDetail;
  status: "updated";
  /** What was accepted and has no effect: each with its path, which for a key of the configuration begins in the configuration. Left out if there is nothing to name */
  warnings?: Warning[];
}

/** A configuration, as it was given. */
export interface ConfigAnswer {
  /** Any JSON object of up to 64 KiB, without secrets. These are the keys that Berth reads; others are stored. */
  config: AgentConfig;
  status: "updated";
  /** What was accepted and has no effect: each with its path, which for a key of the configuration begins in the configuration. Left out if there is nothing to name */
  warnings?: Warning[];
}

/** An agent that runs. */
export interface Started {
  success: true;
  status: "active";
}

/** An agent that was stopped. */
export interface Stopped {
  success: true;
  status: "stopped";
}

/** A line of an agent's log. */
export interface LogLine {
  id: string;
  /** ISO 8601 */
  timestamp: string;
  level: string;
  message: string;
  source: string;
  agentId: string;
  /** What the line is about, by id */
  links: {
    turn?: string;
    schedule?: string;
    approval?: string;
    file?: string;
    channel?: string;
    /** The name of an MCP server */
    server?: string;
    skill?: string;
    /** Of the configuration */
    version?: number;
  };
}

/** A message that is stored, and will be answered. */
export interface SentTurn {
  /** The id of the message and of its turn */
  turnId: string;
  conversationId: string;
}

/** A file of a reply. */
export interface ReplyFile {
  id: string;
  name: string;
  /** The media type */
  type: string;
  /** Bytes */
  size: number;
  kind: "picture" | "audio" | "voice" | "document";
  caption: string | null;
  /** Its path on this server; fetch it with the same credentials */
  url: string;
}

/** A file that can be sent with a message. */
export interface Upload {
  id: string;
  name: string;
  /** The media type: of pictures by their first bytes, else as its sender claims */
  type: string;
  /** Bytes */
  size: number;
  /** ISO 8601 */
  createdAt: string;
}

/** Uploads, newest first. */
export interface UploadList {
  uploads: {
    id: string;
    name: string;
    /** The media type: of pictures by their first bytes, else as its sender claims */
    type: string;
    /** Bytes */
    size: number;
    /** ISO 8601 */
    createdAt: string;
  }[];
  count: number;
  /** For the next page */
  nextCursor: string | null;
}

/** A file that an agent knows. */
export interface KnowledgeFile {
  id: string;
  name: string;
  /** The media type, as its sender or server claims */
  type: string;
  /** Bytes of the file as it came */
  size: number;
  /** SHA-256 of its bytes as they came, in base64url; null until an address was read */
  digest: string | null;
  /** The address that it is read from */
  url: string | null;
  /** How often the address is read again; null: only when you say so */
  refresh: "hour" | "day" | "week" | null;
  /** A file that failed when it was read again is still found in its earlier form */
  status: "queued" | "indexing" | "ready" | "failed";
  /** Passages that can be found */
  chunks: number;
  progress: {
    /** Passages that are stored so far */
    written: number;
    /** All of them; 0 until the document has been read */
    expected: number;
  };
  /** The document's own title, if it has one */
  title: string;
  /** When it was published or made, as the document says */
  published: string | null;
  /** The document is longer than what is read of one */
  cut: boolean;
  /** Why it could not be read, and what to do; of a file that waits, why the last try failed */
  error: string | null;
  /** The same for programs, such as DOCUMENT_ENCRYPTED */
  errorCode: string | null;
  /** Who added it: the owner here, or the agent when its owner asked for it in a chat */
  source: "owner" | "agent";
  /** ISO 8601 */
  createdAt: string;
  /** ISO 8601. When it was read last */
  readAt: string | null;
}

/** A file that is about to be read. */
export interface FileAnswer {
  file: KnowledgeFile;
}

/** The files that an agent knows, and what there is room for. */
export interface FileList {
  files: KnowledgeFile[];
  count: number;
  used: {
    files: number;
    bytes: number;
    /** Passages */
    chunks: number;
  };
  /** What the owner's plan has room for, for each agent */
  limits: {
    files: number;
    bytes: number;
    /** Passages */
    chunks: number;
  };
}

/** The codes of a program that asks to be signed in (RFC 8628 §3.2). */
export interface DeviceCode {
  /** For the program alone; it is exchanged for the key */
  device_code: string;
  /** For the person, as it is shown */
  user_code: string;
  /** Where the person enters the code */
  verification_uri: string;
  /** The same with the code in it; the page still asks to compare it */
  verification_uri_complete: string;
  /** Seconds */
  expires_in: number;
  /** Seconds to wait between two polls */
  interval: number;
}

/** The key of a program that was approved. */
export interface DeviceKey {
  /** An API key */
  access_token: string;
  token_type: "Bearer";
  /** Seconds */
  expires_in: number;
  /** What was granted, separated by spaces */
  scope: string;
  /** The address of the account that has approved */
  account: string;
}

/** What can happen in an account. */
export type EventType =
  | "user.created"
  | "user.updated"
  | "user.deleted"
  | "user.frozen"
  | "user.unfrozen"
  | "agent.created"
  | "agent.claimed"
  | "agent.status"
  | "agent.updated"
  | "agent.deleted"
  | "agent.message"
  | "agent.verified"
  | "approval.requested"
  | "approval.decided"
  | "channel.state"
  | "channel.pairing"
  | "channel.undelivered"
  | "file.state"
  | "mcp.state"
  | "schedule.started"
  | "schedule.ended"
  | "schedule.paused"
  | "stream.state"
  | "budget.exceeded"
  | "payment.received"
  | "payment.returned"
  | "trial.ending"
  | "backup.completed"
  | "backup.failed"
  | "backup.late"
  | "backup.copy_late";
