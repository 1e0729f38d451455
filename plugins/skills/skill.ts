// The types of skills, which built-in code, MCP servers and plugins provide: tools, instructions for the prompt,
// sources.

import type { Static, TSchema } from "@sinclair/typebox";
import { AppError } from "../../src/kernel/errors.ts";
import type { Span } from "../../src/kernel/telemetry/traces.ts";
import type { Approval } from "../agents/index.ts";
import type { NewReplyFile, ReplyFile, ReplyFileMaker } from "../uploads/index.ts";
import type { Taint } from "./taint.ts";

export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

/** A JSON schema of an object, as model providers take it. A TypeBox schema is one. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** The person or group that an agent talks to. */
export interface Audience {
  /** The message comes from the agent's owner. */
  byOwner: boolean;
  /** A channel, `web`, `api` or `public`. */
  platform: string;
  /** The platform's id of the person or group. */
  peer: string;
}

/** A file in the result of a tool. */
export interface ToolFile {
  /** As people see it; without a path. */
  name?: string;
  /** As the tool claims; it is checked before a model gets the file. */
  mediaType: string;
  /** Base64. */
  data: string;
}

/** A result with files, which models get that take them. */
export class ToolOutput {
  constructor(
    readonly text: string,
    readonly files: readonly ToolFile[],
  ) {}
}

/** A file of the message that is answered. */
export interface MessageFile {
  /** Unique among the files of the message. */
  name: string;
  /** As its sender claims. */
  mediaType: string;
  /** Bytes, if known. */
  size?: number;
  /**
   * Its bytes, at most `limit`; undefined if it is gone, or larger. Whoever passes them on calls `raiseTaint` with
   * `TAINT.outside`.
   */
  read(limit: number, signal: AbortSignal): Promise<Uint8Array | undefined>;
}

/** A file of an earlier message of the conversation, or one that the agent has sent in it. */
export interface EarlierFile extends MessageFile {
  /** The message that it came with, or to which it was sent as an answer. */
  messageId: string;
  byAgent: boolean;
}

/** A call of a tool within a call, which has begun, or ended with its result. */
export interface SubStepEvent {
  /** Of those that the call works on at once, counted from 1. */
  part: number;
  /** Unique within the part. */
  id: string;
  tool: string;
  /** As the model gave it. */
  input: string;
  ended?: { result: string; ok: boolean; ms: number };
}

/** The turn in which a tool is called. */
export interface ToolContext extends Audience {
  agentId: string;
  userId: string;
  sessionId: string;
  /** The id of the message being answered; the same when the turn is repeated after a crash. */
  inboxId: string;
  /** Identifies this call; the same when it is repeated after a crash, and of no other call. */
  callKey: string;
  /** IANA name. */
  timezone: string;
  /** The taint of everything that the model had read when it made the call. */
  taint: Taint;
  /**
   * Whether this text, such as an address, stands verbatim in what the agent was given or has read, so that no model can have put
   * anything into it. Without it, nothing does.
   */
  hasRead?(text: string): boolean;
  /** Raises the taint of the turn: call it when the result contains text of that taint. */
  raiseTaint(taint: Taint): void;
  /** The owner has approved this very call. */
  approved: boolean;
  /**
   * Sends a file with the reply; undefined where a reply is text alone. The file is stored when it resolves, and a call that is
   * repeated after a crash finds those it had attached, in their order: a function is called only for one that is missing. Rejects with an AppError that the model may read.
   */
  attach?(file: NewReplyFile | ReplyFileMaker): Promise<ReplyFile>;
  /** Tells of a call of a tool that this call makes, to be shown and stored with it. */
  noteSubStep?(event: SubStepEvent): void;
  /** The span of the call, for spans of what it does; undefined where traces are off. */
  span?: Span | undefined;
  /** The files of the message that is answered, also those that the model does not accept. */
  files?: readonly MessageFile[];
  /**
   * Finds the files of the message to which this one replies, then those of the latest messages and replies, newest first. Names
   * are unique within a message only. They come from outside, as those of the message do.
   */
  earlierFiles?(): Promise<readonly EarlierFile[]>;
  /** What the owner's configuration says about tools and classes of tools, by their names. */
  approvals?: ReadonlyMap<string, Approval>;
  /** Aborts when the turn ends early or the tool's own time is up. */
  signal: AbortSignal;
}

/** What a tool may look at to say a call in words. */
export type SummaryContext = Pick<ToolContext, "agentId" | "byOwner" | "files" | "earlierFiles">;

/**
 * `read` changes nothing, `write` changes data of the agent, `spend` moves money, `outside` sends to somebody or changes
 * something outside Berth.
 */
export type ToolClass = "read" | "write" | "spend" | "outside";

/**
 * What a repeated call does, which matters when a crash interrupted it: a `read` changes nothing, and may run again; an
 * `idempotent` call that runs again with the same `callKey` and input has no second effect; a `once` call is never repeated.
 */
export type ToolEffect = "read" | "idempotent" | "once";

export interface Tool {
  /** At most 64 letters, digits, `_` and `-`, since every provider accepts those. */
  name: string;
  description: string;
  inputSchema: JsonSchema;
  /** In a tainted turn all but `read` need the owner's approval. Tools of plugins that name no class count as `outside`. */
  class: ToolClass;
  /** By default `read` for the class `read`, and `once` for the others. */
  effect?: ToolEffect;
  /**
   * Called with input that fits the schema. The model gets the message of an AppError; of any other error, only that it
   * failed.
   */
  execute(input: unknown, context: ToolContext): Promise<Json | ToolOutput> | Json | ToolOutput;
  /** Milliseconds; 30 s by default. */
  timeoutMs?: number;
  /** Acts as the owner: offered and run only in the owner's turns. */
  ownerOnly?: boolean;
  /** Works only if the agent can write to the conversation later: not offered on public pages, which show only replies. */
  followsUp?: boolean;
  /** The result comes from outside: it is marked as such and taints the turn. */
  untrusted?: boolean;
  /** Of an `untrusted` source: the owner answers for its name, description and schema, so that offering it taints no turn. */
  vouched?: boolean;
  /**
   * Its results quote others, and nothing of its input: what stands in them counts as read (`hasRead`).
   */
  quotes?: boolean;
  /**
   * The text that a call of the class `read` sends to somebody outside, such as an address; undefined for none. In a tainted turn a
   * call with a text that was not read needs approval, because it may carry words of the conversation.
   */
  sends?(input: unknown): string | undefined;
  /** Runs in a tainted turn without approval: what it reaches gets the taint, and asks for approvals itself. */
  passesTaintOn?: boolean;
  /**
   * In a turn of somebody other than the owner it reaches only that conversation. So the words of the people in it don't
   * make an approval necessary there; content from outside does.
   */
  confined?: boolean;
  /**
   * In a turn of somebody other than the owner, it writes only what that person's own conversations read, with the taint. So it
   * needs no approval there; in a tainted turn of the owner it does.
   */
  inOwnCircle?: boolean;
  /** A name in the configuration of approvals for several tools, which wins over their class. */
  approvalGroup?: string;
  /**
   * The call in words, for the owner who decides about it: what it does, to what, by names instead of ids. Called with input that fits
   * the schema. Throws `toolDeclined` for a call that could only fail, such as one with an unknown id: nobody is asked about it.
   */
  summarize?(input: unknown, context: SummaryContext): string | Promise<string>;
}

/** The turn for which a skill writes its instructions. */
export interface PromptContext extends Audience {
  agentId: string;
  sessionId: string;
  timezone: string;
  /** The message being answered. */
  text: string;
}

/** A part of the system prompt that contains text of this taint. */
export interface Instructions {
  text: string;
  taint: Taint;
}

export interface Skill {
  id: string;
  name: string;
  description: string;
  category: string;
  version: string;
  enabledByDefault: boolean;
  /** Where it comes from, as people are told; by default the id of its source. */
  source?: string;
  /** Its texts come from outside, although its tools are built in: its instructions say which taint they have. */
  untrusted?: boolean;
  /** Whether what its tools need is set up; if not, they are not offered. Asked only for agents that have it switched on. */
  isReady?(agentId: string): Promise<boolean>;
  /** Tells the owner what to set up while the skill is on but not ready. */
  needs?: string;
  /** Must return the same array while nothing has changed: prepared tools are cached by identity. */
  tools(agentId: string): readonly Tool[];
  /** A part of the system prompt; "" for none. A string is untainted. */
  instructions?(context: PromptContext): Promise<Instructions | string> | Instructions | string;
}

/** A skill as lists show it. */
export interface SkillItem {
  id: string;
  name: string;
  description: string;
  category: string;
  version: string;
  enabled: boolean;
}

/** A provider of skills: the built-in ones, MCP servers, folders, third-party plugins. */
export interface SkillSource {
  id: string;
  /**
   * Names, descriptions and results of its tools come from outside, as those of an MCP server do: a turn in which one of
   * them is offered is tainted.
   */
  untrusted?: boolean;
  /** The skills that this agent can use. Must return the same objects while nothing has changed. */
  skillsFor(agentId: string): Promise<readonly Skill[]> | readonly Skill[];
  /** The skills that every agent of this account can use, if they differ from those of all accounts. */
  skillsOf?(userId: string): Promise<readonly Skill[]> | readonly Skill[];
  /** A part of the system prompt about the enabled ones of its skills together, of which there is at least one. */
  instructions?(context: PromptContext, enabled: readonly Skill[]): Promise<Instructions | string>;
}

/**
 * Defines a tool whose input type follows from its schema.
 *
 * @example
 * const echo = defineTool({ name: "echo", class: "read", description: "…", input: t.Object({ text: t.String() }), execute: ({ text }) => text });
 */
export function defineTool<Schema extends TSchema>({
  input,
  execute,
  summarize,
  sends,
  ...tool
}: Omit<Tool, "inputSchema" | "execute" | "summarize" | "sends"> & {
  input: Schema;
  execute(input: Static<Schema>, context: ToolContext): Promise<Json | ToolOutput> | Json | ToolOutput;
  summarize?(input: Static<Schema>, context: SummaryContext): string | Promise<string>;
  sends?(input: Static<Schema>): string | undefined;
}): Tool {
  return {
    ...tool,
    inputSchema: JSON.parse(JSON.stringify(input)),
    // `prepareTool` has validated the values against this schema.
    execute: (value, context) => execute(value as Static<Schema>, context),
    ...(summarize && { summarize: (value: unknown, context) => summarize(value as Static<Schema>, context) }),
    ...(sends && { sends: (value: unknown) => sends(value as Static<Schema>) }),
  };
}

/** The error with which a tool declines a call; the model gets the message. */
export const toolDeclined = (message: string) => new AppError(400, "TOOL_DECLINED", message);
