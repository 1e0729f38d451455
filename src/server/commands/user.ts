// Runs `berth user …`: manages accounts, also while the service runs.

import { daysProblem } from "../../../plugins/admin/subscription-input.ts";
import { type Config, environment } from "../../kernel/config/config.ts";
import { programName } from "../../kernel/config/program-name.ts";
import { loadAllSettings } from "../settings.ts";
import { UsageError } from "./options.ts";

export type UserFlags = Readonly<Record<string, string | boolean | string[] | undefined>>;

/** A user in the results of the commands. */
interface UserSummary {
  email: string;
  name: string;
  plan: string;
  isAdmin: boolean;
  disabled: boolean;
  frozen: object | null;
  emailVerified: boolean;
  subscription: { active: boolean; currentPeriodEnd: string } | null;
  createdAt: string;
  link?: string;
}

interface Subcommand {
  usage: string;
  summary: string;
  /** The number of arguments after the subcommand's name. */
  positionals: number;
  flags: readonly string[];
  /** Returns the text for standard output. */
  run(send: SendCommand, positionals: string[], flags: UserFlags): Promise<string>;
}

type SendCommand = <Result = UserSummary>(action: string, args: Record<string, string | undefined>) => Promise<Result>;

const SUBCOMMANDS: Readonly<Record<string, Subcommand>> = {
  create: {
    usage: "create EMAIL [--name NAME] [--admin] [--password-stdin]",
    summary: "make an account; without a password print a link to set one",
    positionals: 1,
    flags: ["name", "admin", "password-stdin"],
    async run(send, [email], { name, admin, "password-stdin": fromStdin }) {
      const password = fromStdin ? await passwordFromStdin() : undefined;
      // Before the command, which may make the database of a new service.
      const { requireAccount } = await import("../../../plugins/auth/administration/account-fields.ts");
      await requireAccount({ email: email ?? "", name: stringFlag(name), password });
      const created = await send("create", {
        email,
        name: stringFlag(name),
        admin: admin ? "true" : undefined,
        password,
      });
      const message = `${created.email} has an account${created.isAdmin ? ", and is an admin" : ""}.\n`;
      return created.link
        ? `${message}Its owner sets the password here, once, within 24 hours:\n${created.link}\n`
        : message;
    },
  },
  invite: {
    usage: "invite EMAIL",
    summary: "print a link with which a person signs up, for SIGN_UP=invite",
    positionals: 1,
    flags: [],
    async run(send, [email]) {
      const { requireEmail } = await import("../../../plugins/auth/email.ts");
      requireEmail(email ?? "");
      const { email: address, link } = await send<Record<string, string>>("invite", { email });
      return `The owner of ${address} signs up here, once, within a week:\n${link}\n`;
    },
  },
  grant: {
    usage: "grant EMAIL PLAN [--days N]",
    summary: "give an account a plan (as named in PLANS_FILE; without it: free, starter, pro, enterprise) for 30 days",
    positionals: 2,
    flags: ["days"],
    async run(send, [email, plan], { days }) {
      const problem = days === undefined ? undefined : daysProblem(String(days));
      if (problem !== undefined) throw new UsageError(problem);
      const granted = await send<Record<string, string>>("grant", { email, plan, days: stringFlag(days) });
      return `${granted.email} has the plan ${granted.plan} until ${granted.currentPeriodEnd}.\n`;
    },
  },
  admin: {
    usage: "admin EMAIL [--off]",
    summary: "make an account an admin, or no longer one",
    positionals: 1,
    flags: ["off"],
    async run(send, [email], { off }) {
      const user = await send("admin", { email, off: off ? "true" : undefined });
      return `${user.email} is ${user.isAdmin ? "an admin" : "no admin"}.\n`;
    },
  },
  list: {
    usage: "list [--query TEXT] [--json]",
    summary: "show the accounts, or those with this text in address or name",
    positionals: 0,
    flags: ["query", "json"],
    async run(send, _, { query, json }) {
      const users = await listAllUsers(send, stringFlag(query));
      if (json) return `${JSON.stringify(users, null, 2)}\n`;
      if (users.length > 0) return table(users);
      return query === undefined
        ? `There are no accounts yet. Make the first one: ${programName()} user create EMAIL --admin\n`
        : `No account has "${query}" in its address or name.\n`;
    },
  },
  disable: {
    usage: "disable EMAIL",
    summary: "sign an account out everywhere and keep it out",
    positionals: 1,
    flags: [],
    run: async (send, [email]) => `${(await send("disable", { email })).email} is disabled.\n`,
  },
  enable: {
    usage: "enable EMAIL",
    summary: "let a disabled account in again",
    positionals: 1,
    flags: [],
    run: async (send, [email]) => `${(await send("enable", { email })).email} is enabled.\n`,
  },
  freeze: {
    usage: "freeze EMAIL --reason TEXT",
    summary: "pause an account with its agents at once: its owner only reads, until unfreeze",
    positionals: 1,
    flags: ["reason"],
    run: async (send, [email], { reason }) =>
      `${(await send("freeze", { email, reason: stringFlag(reason) })).email} is frozen.\n`,
  },
  unfreeze: {
    usage: "unfreeze EMAIL",
    summary: "let a frozen account go on, with its agents as they were",
    positionals: 1,
    flags: [],
    run: async (send, [email]) => `${(await send("unfreeze", { email })).email} goes on.\n`,
  },
  "reset-password": {
    usage: "reset-password EMAIL",
    summary: "print a link to set a new password",
    positionals: 1,
    flags: [],
    async run(send, [email]) {
      const { email: address, link } = await send("reset-password", { email });
      return `The owner of ${address} sets a new password here, once, within an hour:\n${link}\n`;
    },
  },
  "two-factor-off": {
    usage: "two-factor-off EMAIL",
    summary: "turn off the second factor of somebody who has lost it",
    positionals: 1,
    flags: [],
    async run(send, [email]) {
      return `${(await send("two-factor-off", { email })).email} signs in without a second factor.\n`;
    },
  },
};

/** Returns the exit code: 0, or 2 with the usage on standard error. Throws an AppError if the service refuses. */
export async function userCommand([name = "", ...positionals]: string[], flags: UserFlags): Promise<number> {
  const action = Object.hasOwn(SUBCOMMANDS, name) ? SUBCOMMANDS[name] : undefined;
  if (!action) return usage(Object.values(SUBCOMMANDS));
  if (positionals.length !== action.positionals || Object.keys(flags).some((flag) => !action.flags.includes(flag))) {
    return usage([action]);
  }
  process.stdout.write(await action.run(createCommandSender(loadAllSettings(environment())), positionals, flags));
  return 0;
}

/** Lists the subcommands, for `berth user --help`. */
export const userHelp = (): string => usageLines(Object.values(SUBCOMMANDS)).join("\n");

function usage(actions: readonly Subcommand[]): number {
  process.stderr.write(`Usage: ${usageLines(actions).join("\n       ")}\n`);
  return 2;
}

function usageLines(actions: readonly Subcommand[]): string[] {
  const width = Math.max(...actions.map(({ usage }) => usage.length));
  return actions.map(({ usage, summary }) => `${programName()} user ${usage.padEnd(width)}  ${summary}`);
}

/** Makes the function that sends a subcommand. Undefined arguments are left out. */
function createCommandSender(config: Config): SendCommand {
  return async <Result>(action: string, args: Record<string, string | undefined>) => {
    // Loaded here, because it loads the whole service, which printing the usage does not need.
    const { runCommand } = await import("./run-command.ts");
    const definedArgs = Object.entries(args).filter((pair): pair is [string, string] => pair[1] !== undefined);
    return (await runCommand(config, `user.${action}`, Object.fromEntries(definedArgs))) as Result;
  };
}

const stringFlag = (value: UserFlags[string]) => (typeof value === "string" ? value : undefined);

/** Reads the password. As an argument, it would show in the list of processes. One final line break is removed. */
const passwordFromStdin = async () => (await Bun.stdin.text()).replace(/\r?\n$/, "");

/** Reads all pages, the newest accounts first. A sign-up meanwhile shifts the pages, so duplicates are removed. */
async function listAllUsers(send: SendCommand, query: string | undefined): Promise<UserSummary[]> {
  const found = new Map<string, UserSummary>();
  for (let offset = 0, total = 1; offset < total; ) {
    const page = await send<{ users: UserSummary[]; total: number }>("list", { query, offset: String(offset) });
    if (page.users.length === 0) break;
    for (const user of page.users) found.set(user.email, user);
    offset += page.users.length;
    total = page.total;
  }
  return [...found.values()];
}

function table(users: readonly UserSummary[]): string {
  const rows = users.map(({ email, name, plan, subscription, createdAt, ...user }) => [
    email,
    name,
    plan + (subscription?.active ? ` until ${subscription.currentPeriodEnd.slice(0, 10)}` : ""),
    accountState(user),
    createdAt.slice(0, 10),
  ]);
  const all = [["EMAIL", "NAME", "PLAN", "STATE", "SINCE"], ...rows].map((row) => row.map(stripControlCharacters));
  const widths = all[0]?.map((_, at) => Math.max(...all.map((row) => Bun.stringWidth(row[at] ?? "")))) ?? [];
  const line = (row: string[]) =>
    row
      .map((cell, at) => cell + " ".repeat(Math.max(0, (widths[at] ?? 0) - Bun.stringWidth(cell))))
      .join("  ")
      .trimEnd();
  return `${all.map(line).join("\n")}\n`;
}

function accountState({
  isAdmin,
  disabled,
  frozen,
  emailVerified,
}: Pick<UserSummary, "isAdmin" | "disabled" | "frozen" | "emailVerified">): string {
  const labels = [disabled && "disabled", frozen && "frozen", isAdmin && "admin", !emailVerified && "unverified"];
  return labels.filter(Boolean).join(", ") || "active";
}

/** Removes characters that a terminal would interpret. */
const stripControlCharacters = (text: string) => text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, "");
