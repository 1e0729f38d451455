// The row of the registry that describes one channel: names, tokens, owner ids, fields of provisioning, texts, factory.
import type { SettingsSection } from "../src/kernel/config/section.ts";
import type { BotIdentity, ChannelAdapter, ChannelId, RecordTraffic } from "./port.ts";

/** `polling` and `gateway`: Berth holds a connection; `webhook`: the platform posts to Berth. */
export type ReceiveMode = "polling" | "gateway" | "webhook";

/** What a platform offers. The contract suite of `channels/contract` runs the scenarios that these admit. */
export interface ChannelCapabilities {
  /** Berth can receive over a connection that it holds. */
  hasListener: boolean;
  /** The platform can post to Berth. */
  hasWebhook: boolean;
  hasGroups: boolean;
  /** A reply can be shown while it grows. */
  hasPreviews: boolean;
  /** The answers that a message offers are shown as buttons; if not, the text says what to write. */
  hasButtons: boolean;
  /** Only one receiver may use a token at a time. */
  isSingleReceiver: boolean;
  /** The platform recognises a repeated send by its key. */
  isIdempotent: boolean;
  /** With a listener: milliseconds without `reportAlive` after which its connection counts as dead. */
  silenceTimeout?: number;
  /** Some posts carry no signature; the address then contains a key that is stored nowhere in clear. */
  isAuthenticatedByUrl?: true;
  /**
   * Messages are lost while no address is registered, so a stopped agent keeps its own: refused posts are repeated
   * later.
   */
  staysRegisteredWhileStopped?: true;
  /** Left out: it shows that a reply is being written. */
  hasTyping?: false;
  /** A reply refers to the answered message also if the platform has it no more, since its author has it. */
  refersToDeleted?: true;
}

/** Parses a person's platform id as people type it. */
export interface OwnerIdRule {
  /** Returns the id as the platform writes it; undefined for a text that is not an id. The text is trimmed and not empty. */
  parse(text: string): string | undefined;
  /** The sentence shown for a text that is none. */
  hint: string;
}

/** Why a text is no token: a code for translations, and a sentence. */
export interface TokenProblem {
  code:
    | "spaces"
    | "start"
    | "characters"
    | "incomplete"
    | "id"
    | "public_key"
    | "client_secret"
    /** It is the value of another field. */
    | "other_field"
    | "missing"
    /** None of these: the message says it. */
    | "invalid";
  message: string;
}

/**
 * One of the values that a bot is connected with, on platforms where it needs more than a token. They are given as
 * `credentials` by name, and are sealed together as the bot's token (`shared/credential-text.ts`).
 */
export interface CredentialField {
  /** Its name in the API, such as `appToken`; `salt` is reserved. */
  readonly name: string;
  /** For people, in English. */
  readonly label: string;
  /** Never shown again, and redacted in logs. */
  readonly isSecret: boolean;
  readonly isOptional?: true;
  /** What it looks like. */
  readonly example?: string;
  /** Why a value has the wrong form; undefined if it looks complete. The value is trimmed and not empty. */
  findProblem(value: string): TokenProblem | undefined;
}

/** The address that people open to reach a bot. */
export interface BotLink {
  /** `chat` opens a conversation; `invite` adds the bot to a group or server of theirs first. */
  readonly kind: "chat" | "invite";
  /** Undefined if the bot's identity makes no address. */
  of(bot: Pick<BotIdentity, "id" | "username">): string | undefined;
  /** The address that also writes this code to the bot, if the platform has such addresses. */
  withCode?(bot: Pick<BotIdentity, "id" | "username">, code: string): string | undefined;
}

/**
 * An address for the whole app of a platform, which some platforms want before each bot can have its own. It is answered
 * at `/hooks/<channel>`; what is posted there belongs to no bot and is dropped.
 */
export interface AppWebhook {
  /** What people type into the platform's form beside the address. It proves nothing, since nothing is received there. */
  readonly verifyToken: string;
  /** The answer to the platform's verification; undefined if this is none. */
  answer(query: URLSearchParams): string | undefined;
}

/** A field of `POST /api/provision`, its other name, and its description in the API document. */
export interface ProvisioningField {
  field: string;
  alias: string;
  description: string;
}

export interface ChannelProvisioning {
  token: ProvisioningField;
  /** The owner's id on the platform; undefined if provisioning takes no owner for this channel. */
  owner?: ProvisioningField;
  /** Fields that are refused with `UNSUPPORTED_FIELD`, because Berth reads their values from the platform with the token. */
  unsupportedFields: readonly string[];
}

/** The cells of the channel's row in the table of docs/channels.md, in Markdown. */
export interface ChannelDocumentation {
  token: string;
  ownerId: string;
  receiving: string;
  /** The text that people paste into the platform's form, to make an app with everything that a bot needs. */
  manifest?: string;
}

export interface ChannelLog {
  debug(message: string, fields?: Record<string, unknown>): void;
  warn(message: string, fields?: Record<string, unknown>): void;
}

/**
 * The addresses of a server that an owner names, checked like every address from outside: connect to one of them, not to the name.
 * Rejects with an error that has the `status` 400 if the server is not allowed.
 */
export type ResolveHost = (host: string, signal: AbortSignal) => Promise<string[]>;

export interface CreateChannelOptions<Settings> {
  /** The parsed variables of this channel. */
  settings: Settings;
  /** The commands people can give: each with what it does. */
  commands: Readonly<Record<string, string>>;
  log: ChannelLog;
  traffic: RecordTraffic;
  resolveHost: ResolveHost;
}

/** One channel. `Settings` is the form of its part of the configuration. */
export interface ChannelDefinition<Settings = unknown> {
  /** The neutral name: in the API, in the database, and as the kind of the credential that holds the token. */
  readonly id: ChannelId;
  /** The platform's name, for people. */
  readonly label: string;
  /** The prefix of its environment variables, without the underscore after it. */
  readonly environmentPrefix: string;
  /** The environment variables of the channel, whose names begin with the prefix, and the settings made from them. */
  readonly settings: SettingsSection<Settings>;
  /** Shapes that are tokens of this platform wherever they stand: configurations that hold one are refused. */
  readonly tokenShapes: readonly RegExp[];
  /** Redacted in logs. May match more than `tokenShapes`, because redacting too much does no harm. Has the `g` flag. */
  readonly tokenLogPattern: RegExp;
  /** What a bot is connected with, where that is more than one token. */
  readonly credentials?: readonly CredentialField[];
  /** Why a half-typed token has the wrong form; undefined if it looks complete. */
  findTokenProblem(token: string): TokenProblem | undefined;
  readonly link: BotLink;
  readonly appWebhook?: AppWebhook;
  readonly capabilities: ChannelCapabilities;
  readonly ownerId: OwnerIdRule;
  /** Left out: such bots are connected to agents that exist. */
  readonly provisioning?: ChannelProvisioning;
  readonly documentation: ChannelDocumentation;
  mode(settings: Settings): ReceiveMode;
  /**
   * Makes the adapter. It is called when the first bot of the channel needs it, so import the adapter's code here: a service
   * without bots loads none of it. The capabilities say which of `listener`, `webhook` and `preview` the adapter has.
   */
  create(options: CreateChannelOptions<Settings>): ChannelAdapter | Promise<ChannelAdapter>;
}
