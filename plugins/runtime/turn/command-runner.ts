// Answers commands without the model, in the order of the conversation.
import type { Statement } from "../../../src/kernel/database/database.ts";
import { translateText } from "../../../src/kernel/pages/page-template.ts";
import type { Agent } from "../../agents/index.ts";
import { COMMANDS, commandArgument, isOwnerCommand, OWNER_COMMANDS, parseCommand } from "../inbox/commands.ts";
import type { InboxEntry } from "../inbox/entries.ts";
import type { CommandResult, OwnerCommandHandler } from "../platforms.ts";
import type { Language, ReaderLanguage } from "../reader-language.ts";
import type { FactExtraction } from "../sessions/fact-extraction.ts";
import type { Sessions } from "../sessions/sessions.ts";

export interface CommandDeps {
  sessions: Sessions;
  factExtraction: Pick<FactExtraction, "afterResetStatements">;
  chooseModel(agent: Agent): Promise<{ label: string }>;
  /** Statements that end the turns of this conversation that wait for an approval. */
  cancelSuspended(entry: InboxEntry): Promise<Statement[]>;
  /** Decides a request for approval by its code; undefined for another code. */
  decideByCode(
    agent: Agent,
    given: { code: string; name: "approve" | "deny"; platform: string; language: Language },
  ): Promise<string | undefined>;
  readerLanguage: ReaderLanguage;
  /** Undefined where no platform handles owners' commands. */
  ownerCommand: OwnerCommandHandler | undefined;
}

/** The reply to a command, and the statements to be written with it. */
export async function runCommand(
  { sessions, factExtraction, chooseModel, cancelSuspended, decideByCode, readerLanguage, ownerCommand }: CommandDeps,
  agent: Agent,
  entry: InboxEntry,
): Promise<CommandResult> {
  const language = await readerLanguage(agent.id, entry.language);
  const toResult = (reply: string, statements: Statement[] = []) => ({ reply, statements });
  // In a group everybody reads the reply.
  const byOwner = entry.byOwner && !entry.isGroup;
  const name = parseCommand(entry.content);
  if (name !== undefined && isOwnerCommand(name)) {
    if (!byOwner) return toResult(translateText("Only my owner can do that, in a chat of our own.", language));
    const code = commandArgument(entry.content);
    const decided =
      name === "pair" || code === ""
        ? undefined
        : await decideByCode(agent, { code, name, platform: entry.platform, language });
    if (decided !== undefined) return toResult(decided);
    if (ownerCommand) return ownerCommand(name, entry, commandArgument(entry.content), language);
  }
  /** `wantsOther`: the command names a model. What it costs is seen where it is chosen. */
  async function modelText(agent: Agent, language: Language, wantsOther: boolean): Promise<string> {
    const model = (await chooseModel(agent)).label;
    return wantsOther
      ? translateText("I answer with {model}. You choose another one in the console, on my page Set-up.", language, {
          model,
        })
      : translateText("I answer with {model}.", language, { model });
  }
  switch (name) {
    case "start":
      return toResult(
        translateText("Hello, I am {name}. Write me anything; /help shows the commands.", language, {
          name: agent.name,
        }),
      );
    case "status":
      return toResult(
        [
          statusText(agent, language),
          // Guests and visitors don't see which model an agent uses: the owner chooses it and pays for it.
          ...(byOwner ? [translateText("Model: {model}.", language, { model: (await chooseModel(agent)).label })] : []),
        ].join(" "),
      );
    case "model":
      if (!byOwner) return toResult(translateText("Only my owner can see which model I answer with.", language));
      return toResult(await modelText(agent, language, commandArgument(entry.content) !== ""));
    case "stop":
      return toResult(translateText("Stopped.", language), await cancelSuspended(entry));
    case "reset":
      return entry.peer === null
        ? toResult(translateText("Start a new conversation instead.", language))
        : toResult(
            translateText(
              "A new conversation: I have forgotten the messages before it. What I have memorized about you stays.",
              language,
            ),
            [
              sessions.completeStatement(agent.id, entry.platform, entry.peer, entry.sessionId),
              ...factExtraction.afterResetStatements(entry),
            ],
          );
    default:
      return toResult(
        [
          byOwner
            ? translateText(
                "Tell me in your own words what you want, such as “remind me at six” or “forget that”. I also understand:",
                language,
              )
            : translateText("Write me anything. I also understand:", language),
          ...Object.entries({ ...COMMANDS, ...(byOwner && ownerCommand ? OWNER_COMMANDS : {}) }).map(
            ([name, description]) => `/${name} · ${translateText(description, language)}`,
          ),
        ].join("\n"),
      );
  }
}

export function statusText({ name, status }: Agent, language: Language): string {
  switch (status) {
    case "running":
      return translateText("{name} is running.", language, { name });
    case "stopped":
      return translateText("{name} is stopped.", language, { name });
    case "error":
      return translateText("{name} is in trouble.", language, { name });
    case "active":
      return translateText("{name} is ready.", language, { name });
  }
}
