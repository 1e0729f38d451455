// Answers commands without the model, in the order of the conversation.
import type { Statement } from "../../../src/kernel/database/database.ts";
import type { Agent } from "../../agents/index.ts";
import { COMMANDS, commandArgument, isOwnerCommand, OWNER_COMMANDS, parseCommand } from "../inbox/commands.ts";
import type { InboxEntry } from "../inbox/inbox.ts";
import type { CommandResult, OwnerCommandHandler } from "../platforms.ts";
import type { FactExtraction } from "../sessions/fact-extraction.ts";
import type { Sessions } from "../sessions/sessions.ts";

export interface CommandDeps {
  sessions: Sessions;
  factExtraction: Pick<FactExtraction, "afterResetStatements">;
  chooseModel(agent: Agent): Promise<{ label: string }>;
  /** Statements that end the turns of this conversation that wait for an approval. */
  cancelSuspended(entry: InboxEntry): Promise<Statement[]>;
  /** Decides a request for approval by its code; undefined for another code. */
  decideByCode(agent: Agent, code: string, name: "approve" | "deny", platform: string): Promise<string | undefined>;
  /** Undefined where no platform handles owners' commands. */
  ownerCommand: OwnerCommandHandler | undefined;
}

/** The reply to a command, and the statements to be written with it. */
export async function runCommand(
  { sessions, factExtraction, chooseModel, cancelSuspended, decideByCode, ownerCommand }: CommandDeps,
  agent: Agent,
  entry: InboxEntry,
): Promise<CommandResult> {
  const toResult = (reply: string, statements: Statement[] = []) => ({ reply, statements });
  // In a group everybody reads the reply.
  const byOwner = entry.byOwner && !entry.isGroup;
  const name = parseCommand(entry.content);
  if (name !== undefined && isOwnerCommand(name)) {
    if (!byOwner) return toResult("Only my owner can do that, in a chat of our own.");
    const code = commandArgument(entry.content);
    const decided = name === "pair" || code === "" ? undefined : await decideByCode(agent, code, name, entry.platform);
    if (decided !== undefined) return toResult(decided);
    if (ownerCommand) return ownerCommand(name, entry, commandArgument(entry.content));
  }
  // Guests and visitors don't see which model an agent uses: the owner chooses it and pays for it.
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
          : "Only my owner can see which model I answer with.",
      );
    case "stop":
      return toResult("Stopped.", await cancelSuspended(entry));
    case "reset":
      return entry.peer === null
        ? toResult("Start a new session instead.")
        : toResult(
            "A new conversation: I have forgotten the messages before it. What I have memorized about you stays.",
            [
              sessions.completeStatement(agent.id, entry.platform, entry.peer, entry.sessionId),
              ...factExtraction.afterResetStatements(entry),
            ],
          );
    default:
      return toResult(
        [
          byOwner
            ? "Tell me in your own words what you want, such as “remind me at six” or “forget that”. I also understand:"
            : "Write me anything. I also understand:",
          ...Object.entries({ ...COMMANDS, ...(byOwner && ownerCommand ? OWNER_COMMANDS : {}) }).map(
            ([name, description]) => `/${name} · ${description}`,
          ),
        ].join("\n"),
      );
  }
}
