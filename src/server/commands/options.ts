// Defines what the command line takes: the shape of a command, all flags, and what they mean.

export type Flags = Record<string, string | boolean | string[] | undefined>;

export interface Command {
  usage: string;
  summary: string;
  /** The flags that it takes; others are refused. */
  flags?: readonly (keyof typeof OPTIONS)[];
  /** The largest number of arguments; more are refused. */
  arguments: number;
  /** What a flag means here, if that differs from other commands. */
  flagHelp?: Partial<Record<keyof typeof OPTIONS, string>>;
  /** Further lines of its help. */
  details?(): Promise<string>;
  run(commandArgs: string[], flags: Flags): Promise<number>;
}

/** The arguments are not valid: exit code 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

export const OPTIONS = {
  help: { type: "boolean", short: "h" },
  version: { type: "boolean", short: "v" },
  plugin: { type: "string", multiple: true },
  "ready-fd": { type: "string" },
  all: { type: "boolean" },
  online: { type: "boolean" },
  once: { type: "boolean" },
  days: { type: "string" },
  name: { type: "string" },
  "for-copy": { type: "boolean" },
  admin: { type: "boolean" },
  "password-stdin": { type: "boolean" },
  off: { type: "boolean" },
  query: { type: "string" },
  json: { type: "boolean" },
  owner: { type: "string" },
  "dry-run": { type: "boolean" },
  again: { type: "boolean" },
  replace: { type: "boolean" },
  url: { type: "string" },
  key: { type: "string" },
  scope: { type: "string" },
  follow: { type: "boolean", short: "f" },
  level: { type: "string" },
  yes: { type: "boolean", short: "y" },
  agent: { type: "string" },
  conversation: { type: "string" },
  identity: { type: "string" },
  unsigned: { type: "boolean" },
  back: { type: "boolean" },
  "with-database": { type: "boolean" },
  head: { type: "string" },
  reason: { type: "string" },
  at: { type: "string" },
  "broken-audit": { type: "boolean" },
  "older-than": { type: "string" },
  compact: { type: "boolean" },
  channel: { type: "string" },
  id: { type: "string" },
  account: { type: "string" },
  out: { type: "string" },
} as const;

/** What the flags of one command mean, for its help. Those of `user` are described with its subcommands. */
export const FLAG_HELP: Partial<Record<keyof typeof OPTIONS, string>> = {
  plugin: "  --plugin FILE   load a third-party plugin; may be given several times",
  "ready-fd": "  --ready-fd N    write the addresses to this open descriptor once they answer",
  all: "  --all           show every setting, also those that have their default",
  online:
    "  --online        also ask mail server, providers, domains, clock, disk, backups, AUDIT_TO and Stripe, and say what to do",
  once: "  --once          print it once and end",
  owner: "  --owner EMAIL   the account that gets the agent; not needed with --dry-run",
  "dry-run": "  --dry-run       only show what would be taken over",
  again: "  --again         make another agent from a folder that was imported before",
  replace: "  --replace       give the cluster's database up for this one, while no node is alive",
  json: "  --json          print the result as JSON",
  url: "  --url URL       the service; else BERTH_URL, else the one of the last berth login",
  key: "  --key KEY       an API key; else BERTH_KEY, else the one of berth login. Other users of a machine see arguments: use BERTH_KEY there",
  scope: "  --scope LIST    what the key may do: read, chat and write, separated by commas; left out: all",
  follow: "  -f, --follow    go on with the lines to come",
  level: "  --level LEVEL   only lines of this level: debug, info, warning or error",
  yes: "  -y, --yes       do it without asking",
  agent: "  --agent AGENT   change this agent, whatever its name, for example to rename it",
  unsigned: "  --unsigned      take a program that nobody has signed",
  back: "  --back          put the version from before in place again",
  "with-database": "  --with-database  also the copy of the database from before; what was stored since is put aside",
  identity: "  --identity FILE  the age identity that opens an encrypted backup; else BACKUP_IDENTITY_FILE",
  at: "  --at TIME       what the continuous copy (BACKUP_CONTINUOUS) had at this moment, such as 2026-11-26T14:03:05Z",
  head: "  --head N:HASH   the head that an earlier run printed, to see whether the end was cut off since",
  reason: "  --reason TEXT   why, for the owner, who reads it, and for the audit log",
  "broken-audit": "  --broken-audit  remove the cell although its audit log is not as it was written",
  "older-than":
    "  --older-than AGE  such as 90d: what is older goes, whatever the settings say, of the kinds that have one",
  compact:
    "  --compact       also write the database anew, without free pages; others' writes wait, some seconds for each gigabyte",
  channel: "  --channel CHANNEL  where the person wrote: telegram, discord, whatsapp, slack, email, or visitor",
  id: "  --id ID         the person there, as the channel names them",
  account: "  --account EMAIL  an account of this service",
  out: "  --out FILE      where to write it",
  conversation: "  --conversation ID  go on with this conversation",
};
