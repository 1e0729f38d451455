// The commands that talk to a service on another machine by its public API, in place of the data folder of this one.
import { programName } from "../../../kernel/config/program-name.ts";
import { type Command, UsageError } from "../options.ts";

const REMOTE = ["url", "key"] as const;

/** The first argument, or exit code 2. */
function required(value: string | undefined, usage: string): string {
  if (value !== undefined && value !== "") return value;
  throw new UsageError(`Something is missing. Usage: ${programName()} ${usage}`);
}

export const REMOTE_COMMANDS: Record<string, Command> = {
  login: {
    usage: "login [URL]",
    summary: "sign in at a service with a code that you approve in the browser",
    flags: ["scope"],
    arguments: 1,
    run: async ([url], { scope }) => (await import("./commands.ts")).loginCommand(url, scope),
  },
  logout: {
    usage: "logout [URL]",
    summary: "revoke the key of berth login, and forget it",
    arguments: 1,
    run: async ([url]) => (await import("./commands.ts")).logoutCommand(url),
  },
  agents: {
    usage: "agents",
    summary: "list your agents at the service",
    flags: [...REMOTE, "json"],
    arguments: 0,
    run: async (_, flags) => (await import("./commands.ts")).agentsCommand(flags),
  },
  chat: {
    usage: "chat AGENT [MESSAGE]",
    summary: "talk to an agent; without a message line by line, or with what comes in by a pipe",
    flags: [...REMOTE, "conversation", "json"],
    flagHelp: { json: "  --json          print the events of the turn, one JSON object a line" },
    // The words of the message.
    arguments: Number.POSITIVE_INFINITY,
    run: async ([agent, ...words], flags) =>
      (await import("./commands.ts")).chatCommand(required(agent, "chat AGENT [MESSAGE]"), words.join(" "), flags),
  },
  logs: {
    usage: "logs [-f] AGENT",
    summary: "show the newest lines of an agent's log",
    flags: [...REMOTE, "follow", "level", "json"],
    flagHelp: { json: "  --json          print one JSON object a line" },
    arguments: 1,
    run: async ([agent], flags) =>
      (await import("./commands.ts")).logsCommand(required(agent, "logs [-f] AGENT"), flags),
  },
  deploy: {
    usage: "deploy FILE",
    summary: "make or change an agent as agent.json (or .yaml) says, after showing what would change",
    flags: [...REMOTE, "yes", "dry-run", "agent", "json"],
    flagHelp: {
      "dry-run": "  --dry-run       only show what would change; exit code 3 if something would",
      json: "  --json          print the plan as JSON; needs --yes or --dry-run",
    },
    arguments: 1,
    details: async () =>
      "Exit codes: 0 nothing to change, or done; 1 failed, or you said no; 2 wrong arguments or file; 3 (--dry-run) something would change.",
    run: async ([file], flags) => (await import("./commands.ts")).deployCommand(required(file, "deploy FILE"), flags),
  },
  pull: {
    usage: "pull AGENT [FILE]",
    summary: "write an agent as agent.json (or .yaml) without its secrets; without a file to the terminal",
    flags: [...REMOTE, "yes"],
    flagHelp: { yes: "  -y, --yes       overwrite the file" },
    arguments: 2,
    run: async ([agent, file], flags) =>
      (await import("./commands.ts")).pullCommand(required(agent, "pull AGENT [FILE]"), file, flags),
  },
};
