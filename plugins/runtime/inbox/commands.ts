// Defines and recognizes the commands that people can type on any platform.
import { pageText } from "../../../src/kernel/pages/page-template.ts";

/** Commands for everybody, with the descriptions that `/help` and the platforms' menus show. */
export const COMMANDS = {
  start: pageText("say hello"),
  help: pageText("what I understand"),
  status: pageText("how I am"),
  reset: pageText("start a new conversation; /new does the same"),
  model: pageText("which model answers"),
  stop: pageText("stop what I am writing"),
} as const;

/** Commands that only the owner may use. They are not in the platforms' menus, which everyone sees. */
export const OWNER_COMMANDS = {
  pair: pageText("who asks to talk to me"),
  approve: pageText("yes to a question of mine, or let a person in: /approve CODE"),
  deny: pageText("no to it: /deny CODE"),
} as const;

export type OwnerCommand = keyof typeof OWNER_COMMANDS;
export type CommandName = keyof typeof COMMANDS | OwnerCommand;

/** Names of commands that people know from other bots. */
const ALIASES: Readonly<Record<string, CommandName>> = { new: "reset" };

const COMMAND_PATTERN = /^\/([a-z]+)(?:@\w+)?(?:\s+|$)/i;

export const isOwnerCommand = (name: CommandName): name is OwnerCommand => Object.hasOwn(OWNER_COMMANDS, name);

/** The command with which a text begins: `/reset`, `/reset@name_bot`. */
export function parseCommand(text: string): CommandName | undefined {
  const given = COMMAND_PATTERN.exec(text)?.[1]?.toLowerCase();
  const name = given !== undefined && Object.hasOwn(ALIASES, given) ? ALIASES[given] : given;
  const isCommand = name !== undefined && (Object.hasOwn(COMMANDS, name) || Object.hasOwn(OWNER_COMMANDS, name));
  return isCommand ? (name as CommandName) : undefined;
}

/** The text after the command's name. */
export const commandArgument = (text: string) => text.replace(COMMAND_PATTERN, "").trim();
