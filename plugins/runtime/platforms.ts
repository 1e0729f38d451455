// Keeps the registry of platforms: a plugin that hosts a platform registers the functions by which the runtime reaches it.

import type { Choice } from "../../channels/port.ts";
import type { Statement } from "../../src/kernel/database/database.ts";
import type { ReplyFile } from "../uploads/index.ts";
import type { Attachment } from "./inbox/attachments.ts";
import type { OwnerCommand } from "./inbox/commands.ts";
import type { InboxEntry } from "./inbox/entries.ts";
import type { Language } from "./reader-language.ts";
import type { Observer } from "./turn/tool-calls.ts";

/** A file of a reply, as the outbox stores it. */
export interface DeliveryFile extends ReplyFile {
  /** Where its reader finds it if the platform does not take it. */
  address?: string;
  /** What is said in it, if nothing else says it. */
  words?: string;
}

/** A reply to be delivered. */
export interface Delivery {
  id: string;
  inboxId: string;
  agentId: string;
  platform: string;
  peer: string;
  body: string;
  /** The platform's id of the message that is answered. */
  replyTo: string | null;
  /** The id of a preview message that can become the reply. */
  previewId: string | null;
  /** The answers that it offers. */
  choices?: readonly Choice[];
  files?: readonly DeliveryFile[];
  /** Ids of the parts that have arrived, in order. */
  parts: string[];
  /** Tries before this one. */
  attempts: number;
}

/** The outcome of one try. */
export type DeliveryOutcome =
  | { kind: "sent" }
  /** The platform refused it for good. */
  | { kind: "refused"; reason: string }
  /** The outbox tries again, after `after` ms where the platform gave a time. */
  | { kind: "retry"; reason: string; after?: number | undefined }
  /** Nothing was sent, because the agent is stopped: its replies wait until it is started. */
  | { kind: "paused" };

/** Sends one reply and reports each part as soon as it has arrived. A rejection counts as `retry`. */
export type Deliver = (
  delivery: Delivery,
  onPartDelivered: (part: string) => void,
  signal: AbortSignal,
) => Promise<DeliveryOutcome>;

/** The bytes of a file, at most `limit`; undefined when it is gone, or larger. Rejects when a later try may succeed. */
export type FetchFile = (
  agentId: string,
  file: Attachment,
  limit: number,
  signal: AbortSignal,
) => Promise<Uint8Array | undefined>;

/** Shows a reply while it is being written. */
export interface ReplyPreview {
  /** Receives the growing reply; left out where the platform can't show it. */
  observer?: Observer;
  /** Waits for the call in flight; resolves with the id of the message that can become the reply, if there is one. */
  end(): Promise<string | undefined>;
}

/** Records the id of a preview message, so that the reply can replace that message after a restart too. */
export type SavePreview = (entry: InboxEntry, previewId: string) => Promise<unknown>;

/** The reply to a command, and the statements that are written together with it. */
export interface CommandResult {
  reply: string;
  statements: Statement[];
}

/** Carries out a command that only an agent's owner may give. `text` is what follows the command's name, `language` that of the reply. */
export type OwnerCommandHandler = (
  name: OwnerCommand,
  entry: InboxEntry,
  text: string,
  language: Language,
) => Promise<CommandResult>;

export interface PlatformHooks {
  /** Sends replies of the outbox. */
  deliver: Deliver;
  /** Fetches files of messages; without it the model is shown no files. */
  fetchFile?: FetchFile | undefined;
  /** Starts the preview of a reply, if the platform shows one for this entry. */
  preview?(entry: InboxEntry, save: SavePreview): ReplyPreview | undefined;
  /** Shows the agent as typing until the result is ended, or for two minutes. */
  typing?(entry: InboxEntry): Pick<ReplyPreview, "end">;
  /** Whether the agent has a bot there. */
  isConnected?(agentId: string): Promise<boolean>;
  /** Whether the sender of an earlier message in this conversation is an owner of the agent now. */
  isOwner?(agentId: string, senderId: string, peer: string): Promise<boolean>;
  /** Carries out `/pair`, `/approve` and `/deny`. */
  ownerCommand?: OwnerCommandHandler;
}

export interface Platforms {
  /** @throws Error when the platform is registered already */
  register(id: string, hooks: PlatformHooks): void;
  /** The hooks of a platform; undefined where none are registered, as for the web and the API. */
  of(id: string): PlatformHooks | undefined;
  /** The handler of owners' commands that come from this platform. */
  ownerCommand(id: string): OwnerCommandHandler | undefined;
}

export function createPlatforms(): Platforms {
  const registered = new Map<string, PlatformHooks>();
  return {
    register(id, hooks) {
      if (registered.has(id)) throw new Error(`The platform ${id} is registered twice.`);
      registered.set(id, hooks);
    },
    of: (id) => registered.get(id),
    // The web and the API have no handler of their own. Any channel's handler will do, because it acts on all channels.
    ownerCommand: (id) => (registered.get(id) ?? registered.values().next().value)?.ownerCommand,
  };
}
