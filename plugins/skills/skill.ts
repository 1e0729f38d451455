// What a skill is made of, whoever brings it: tools, a few words for the prompt, and where they come from.
import type { Static, TSchema } from "@sinclair/typebox";
import { AppError } from "../../src/kernel/errors.ts";

export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

/** A JSON schema of an object, as model providers take it. A TypeBox schema is one. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** Who an agent is talking to. */
export interface Audience {
  /** The message comes from the agent's owner. */
  byOwner: boolean;
  /** `channel_a`, …, `web`, `api`. */
  platform: string;
  /** The platform's id of the person or group. */
  peer: string;
}

/** The turn in which a tool is called. */
export interface ToolContext extends Audience {
  agentId: string;
  userId: string;
  sessionId: string;
  /** The message being answered; the same when it is worked on again after a crash. */
  inboxId: string;
  /** IANA name. */
  timezone: string;
  /** Aborts when the turn ends early or the tool's own time is up. */
  signal: AbortSignal;
}

export interface Tool {
  /** Letters, digits, `_` and `-`, at most 64: what every provider accepts. */
  name: string;
  description: string;
  inputSchema: JsonSchema;
  /** Only called with input that fits the schema. What it throws is told to the model: an AppError's text, or that it failed. */
  execute(input: unknown, context: ToolContext): Promise<Json> | Json;
  /** Milliseconds; 30 s by default. */
  timeoutMs?: number;
  /** Acts as the owner: neither offered nor run in anybody else's turn. */
  ownerOnly?: boolean;
  /** Its result comes from outside, and is marked so. */
  untrusted?: boolean;
}

/** What a skill may know when it says something in the prompt. */
export interface PromptContext extends Audience {
  agentId: string;
  timezone: string;
  /** The message being answered. */
  text: string;
}

export interface Skill {
  id: string;
  name: string;
  description: string;
  category: string;
  version: string;
  enabledByDefault: boolean;
  /** The same array each time while nothing changed: prepared definitions are kept by identity. */
  tools(agentId: string): readonly Tool[];
  /** A part of the system prompt, "" for none. */
  instructions?(context: PromptContext): Promise<string> | string;
}

/** Where skills come from: those built in, MCP servers, folders, third-party plugins. */
export interface SkillSource {
  id: string;
  /** The skills that this agent could use. The same objects each time while nothing changed. */
  skillsFor(agentId: string): Promise<readonly Skill[]> | readonly Skill[];
}

/**
 * A tool whose input is typed by its schema.
 *
 * @example
 * const echo = defineTool({ name: "echo", description: "…", input: t.Object({ text: t.String() }), execute: ({ text }) => text });
 */
export function defineTool<Schema extends TSchema>({
  input,
  execute,
  ...tool
}: Omit<Tool, "inputSchema" | "execute"> & {
  input: Schema;
  execute(input: Static<Schema>, context: ToolContext): Promise<Json> | Json;
}): Tool {
  return {
    ...tool,
    inputSchema: JSON.parse(JSON.stringify(input)),
    // The registry has checked the value against this very schema.
    execute: (value, context) => execute(value as Static<Schema>, context),
  };
}

/** What a tool throws to tell the model why not. */
export const toolDeclined = (message: string) => new AppError(400, "TOOL_DECLINED", message);
