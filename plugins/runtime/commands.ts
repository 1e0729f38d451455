// Commands that people type on any channel: answered without the model, in the order of the conversation.
import type { Statement } from "../../src/database.ts";
import type { Agent } from "../agents/index.ts";
import type { InboxEntry } from "./inbox.ts";
import type { Sessions } from "./sessions.ts";

export const COMMANDS = {
  start: "say hello",
  help: "what I understand",
  status: "how I am",
  reset: "start a new conversation",
  model: "which model answers",
  stop: "stop what I am writing",
} as const;

export type CommandName = keyof typeof COMMANDS;

/** The command a text begins with: `/reset`, `/reset@name_bot`. */
export function commandIn(text: string): CommandName | undefined {
  const name = /^\/([a-z]+)(?:@\w+)?(?:\s|$)/i.exec(text)?.[1]?.toLowerCase();
  return name !== undefined && name in COMMANDS ? (name as CommandName) : undefined;
}

interface Deps {
  sessions: Sessions;
  chooseModel(agent: Agent): Promise<{ label: string }>;
}

/** The reply to a command, and what it changes. */
export async function runCommand(
  { sessions, chooseModel }: Deps,
  agent: Agent,
  entry: InboxEntry,
): Promise<{ reply: string; statements: Statement[] }> {
  const say = (reply: string, statements: Statement[] = []) => ({ reply, statements });
  /** Guests and visitors are not told which model an agent has: it is its owner's choice, and what the owner pays for. */
  const tellsModel = entry.byOwner;
  switch (commandIn(entry.content)) {
    case "start":
      return say(`Hello, I am ${agent.name}. Write me anything; /help shows the commands.`);
    case "status":
      return say(
        `${agent.name} is ${agent.status}.${tellsModel ? ` Model: ${(await chooseModel(agent)).label}.` : ""}`,
      );
    case "model":
      return say(
        tellsModel
          ? `I answer with ${(await chooseModel(agent)).label}.`
          : "Which model I answer with, only my owner is told.",
      );
    case "stop":
      return say("Stopped.");
    case "reset":
      return entry.peer === null
        ? say("Start a new session instead.")
        : say("A new conversation: I have forgotten what was said here. What I know about you by heart stays.", [
            sessions.complete(agent.id, entry.platform, entry.peer, entry.sessionId),
          ]);
    default:
      return say(
        Object.entries(COMMANDS)
          .map(([name, what]) => `/${name} · ${what}`)
          .join("\n"),
      );
  }
}
