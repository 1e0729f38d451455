// Commands that people type on any channel: answered without the model, in the order of the conversation.
import type { Statement } from "../../../src/kernel/database/database.ts";
import type { Agent } from "../../agents/index.ts";
import type { InboxEntry } from "../inbox/inbox.ts";
import type { Sessions } from "../sessions/sessions.ts";

export const COMMANDS = {
  start: "say hello",
  help: "what I understand",
  status: "how I am",
  reset: "start a new conversation",
  model: "which model answers",
  stop: "stop what I am writing",
} as const;

/** What only the agent's owner may say; in no menu, since menus are everybody's. */
export const OWNER_COMMANDS = {
  pair: "who waits to be let in",
  approve: "let somebody talk to me, by the code they were told: /approve CODE",
  deny: "refuse somebody, by their code: /deny CODE",
} as const;

export type OwnerCommand = keyof typeof OWNER_COMMANDS;
export type CommandName = keyof typeof COMMANDS | OwnerCommand;

/** A command's reply, and what it changes: written together with the reply. */
export interface CommandResult {
  reply: string;
  statements: Statement[];
}

/** Who does what owners command. `text`: what follows the command's name. */
export type OwnerCommandHandler = (name: OwnerCommand, entry: InboxEntry, text: string) => Promise<CommandResult>;

const COMMAND_PATTERN = /^\/([a-z]+)(?:@\w+)?(?:\s+|$)/i;
const isOwnerCommand = (name: CommandName): name is OwnerCommand => Object.hasOwn(OWNER_COMMANDS, name);

/** The command a text begins with: `/reset`, `/reset@name_bot`. */
export function parseCommand(text: string): CommandName | undefined {
  const name = COMMAND_PATTERN.exec(text)?.[1]?.toLowerCase();
  const isCommand = name !== undefined && (Object.hasOwn(COMMANDS, name) || Object.hasOwn(OWNER_COMMANDS, name));
  return isCommand ? (name as CommandName) : undefined;
}

interface Deps {
  sessions: Sessions;
  chooseModel(agent: Agent): Promise<{ label: string }>;
  /** Undefined where nobody does what owners command. */
  obey: OwnerCommandHandler | undefined;
}

/** The reply to a command, and what it changes. */
export async function runCommand(
  { sessions, chooseModel, obey }: Deps,
  agent: Agent,
  entry: InboxEntry,
): Promise<CommandResult> {
  const toResult = (reply: string, statements: Statement[] = []) => ({ reply, statements });
  // In a group everybody reads the reply.
  const byOwner = entry.byOwner && !entry.isGroup;
  const name = parseCommand(entry.content);
  if (name !== undefined && isOwnerCommand(name)) {
    if (!byOwner) return toResult("Only my owner can do that, in a chat of our own.");
    if (obey) return obey(name, entry, entry.content.replace(COMMAND_PATTERN, "").trim());
  }
  /** Guests and visitors are not told which model an agent has: it is its owner's choice, and what the owner pays for. */
  const showsModel = byOwner;
  switch (name) {
    case "start":
      return toResult(`Hello, I am ${agent.name}. Write me anything; /help shows the commands.`);
    case "status":
      return toResult(
        `${agent.name} is ${agent.status}.${showsModel ? ` Model: ${(await chooseModel(agent)).label}.` : ""}`,
      );
    case "model":
      return toResult(
        showsModel
          ? `I answer with ${(await chooseModel(agent)).label}.`
          : "Which model I answer with, only my owner is told.",
      );
    case "stop":
      return toResult("Stopped.");
    case "reset":
      return entry.peer === null
        ? toResult("Start a new session instead.")
        : toResult("A new conversation: I have forgotten what was said here. What I know about you by heart stays.", [
            sessions.completeStatement(agent.id, entry.platform, entry.peer, entry.sessionId),
          ]);
    default:
      return toResult(
        Object.entries({ ...COMMANDS, ...(byOwner && obey ? OWNER_COMMANDS : {}) })
          .map(([name, description]) => `/${name} · ${description}`)
          .join("\n"),
      );
  }
}
