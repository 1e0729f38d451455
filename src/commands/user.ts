// `berth user …`: accounts from the command line, also while the service runs.
import { type Config, environment, loadConfig } from "../config.ts";

export type UserFlags = Readonly<Record<string, string | boolean | string[] | undefined>>;

/** A user as the commands answer it. */
interface Shown {
  email: string;
  name: string;
  plan: string;
  isAdmin: boolean;
  disabled: boolean;
  emailVerified: boolean;
  subscription: { active: boolean; currentPeriodEnd: string } | null;
  createdAt: string;
  link?: string;
}

interface Action {
  usage: string;
  summary: string;
  /** How many words come after the action's name. */
  words: number;
  flags: readonly string[];
  /** What is said on standard output. */
  run(ask: Ask, words: string[], flags: UserFlags): Promise<string>;
}

type Ask = <Answer = Shown>(action: string, args: Record<string, string | undefined>) => Promise<Answer>;

const ACTIONS: Readonly<Record<string, Action>> = {
  create: {
    usage: "create EMAIL [--name NAME] [--admin] [--password-stdin]",
    summary: "make an account; without a password print a link to set one",
    words: 1,
    flags: ["name", "admin", "password-stdin"],
    async run(ask, [email], { name, admin, "password-stdin": fromStdin }) {
      const password = fromStdin ? await passwordFromStdin() : undefined;
      const made = await ask("create", { email, name: textOf(name), admin: admin ? "true" : undefined, password });
      const said = `${made.email} has an account${made.isAdmin ? ", and is an admin" : ""}.\n`;
      return made.link ? `${said}Its owner sets the password here, once, within 24 hours:\n${made.link}\n` : said;
    },
  },
  grant: {
    usage: "grant EMAIL PLAN [--days N]",
    summary: "give an account a plan (free, starter, pro, enterprise) for 30 days",
    words: 2,
    flags: ["days"],
    async run(ask, [email, plan], { days }) {
      const granted = await ask<Record<string, string>>("grant", { email, plan, days: textOf(days) });
      return `${granted.email} has the plan ${granted.plan} until ${granted.currentPeriodEnd}.\n`;
    },
  },
  admin: {
    usage: "admin EMAIL [--off]",
    summary: "make an account an admin, or no longer one",
    words: 1,
    flags: ["off"],
    async run(ask, [email], { off }) {
      const user = await ask("admin", { email, off: off ? "true" : undefined });
      return `${user.email} is ${user.isAdmin ? "an admin" : "no admin"}.\n`;
    },
  },
  list: {
    usage: "list [--query TEXT] [--json]",
    summary: "show the accounts, or those with this text in address or name",
    words: 0,
    flags: ["query", "json"],
    async run(ask, _, { query, json }) {
      const users = await all(ask, textOf(query));
      return json ? `${JSON.stringify(users, null, 2)}\n` : table(users);
    },
  },
  disable: {
    usage: "disable EMAIL",
    summary: "sign an account out everywhere and keep it out",
    words: 1,
    flags: [],
    run: async (ask, [email]) => `${(await ask("disable", { email })).email} is disabled.\n`,
  },
  enable: {
    usage: "enable EMAIL",
    summary: "let a disabled account in again",
    words: 1,
    flags: [],
    run: async (ask, [email]) => `${(await ask("enable", { email })).email} is enabled.\n`,
  },
  "reset-password": {
    usage: "reset-password EMAIL",
    summary: "print a link to set a new password",
    words: 1,
    flags: [],
    async run(ask, [email]) {
      const { email: whose, link } = await ask("reset-password", { email });
      return `The owner of ${whose} sets a new password here, once, within an hour:\n${link}\n`;
    },
  },
  "two-factor-off": {
    usage: "two-factor-off EMAIL",
    summary: "turn off the second factor of somebody who has lost it",
    words: 1,
    flags: [],
    async run(ask, [email]) {
      return `${(await ask("two-factor-off", { email })).email} signs in without a second factor.\n`;
    },
  },
};

/** The exit code: 0, or 2 with the usage on standard error. What is refused is thrown as an AppError. */
export async function userCommand([name = "", ...words]: string[], flags: UserFlags): Promise<number> {
  const action = Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : undefined;
  if (!action) return usage(Object.values(ACTIONS));
  if (words.length !== action.words || Object.keys(flags).some((flag) => !action.flags.includes(flag))) {
    return usage([action]);
  }
  process.stdout.write(await action.run(asking(loadConfig(environment())), words, flags));
  return 0;
}

function usage(actions: readonly Action[]): number {
  const width = Math.max(...actions.map(({ usage }) => usage.length));
  const lines = actions.map(({ usage, summary }) => `berth user ${usage.padEnd(width)}  ${summary}`);
  process.stderr.write(`Usage: ${lines.join("\n       ")}\n`);
  return 2;
}

/** What is undefined is left out. */
function asking(config: Config): Ask {
  return async <Answer>(action: string, args: Record<string, string | undefined>) => {
    // Loads the whole service, which a usage has no need of.
    const { runCommand } = await import("../control.ts");
    const given = Object.entries(args).filter((pair): pair is [string, string] => pair[1] !== undefined);
    return (await runCommand(config, `user.${action}`, Object.fromEntries(given))) as Answer;
  };
}

const textOf = (value: UserFlags[string]) => (typeof value === "string" ? value : undefined);

/** Never an argument: those show in the list of processes. One line break at the end does not count. */
const passwordFromStdin = async () => (await Bun.stdin.text()).replace(/\r?\n$/, "");

/** Every page, the newest first; somebody who signs up meanwhile shows nobody twice. */
async function all(ask: Ask, query: string | undefined): Promise<Shown[]> {
  const found = new Map<string, Shown>();
  for (let offset = 0, total = 1; offset < total; ) {
    const page = await ask<{ users: Shown[]; total: number }>("list", { query, offset: String(offset) });
    if (page.users.length === 0) break;
    for (const user of page.users) found.set(user.email, user);
    offset += page.users.length;
    total = page.total;
  }
  return [...found.values()];
}

function table(users: readonly Shown[]): string {
  if (users.length === 0) return "There is no such account.\n";
  const rows = users.map(({ email, name, plan, subscription, createdAt, ...user }) => [
    email,
    name,
    plan + (subscription?.active ? ` until ${subscription.currentPeriodEnd.slice(0, 10)}` : ""),
    stateOf(user),
    createdAt.slice(0, 10),
  ]);
  const all = [["EMAIL", "NAME", "PLAN", "STATE", "SINCE"], ...rows].map((row) => row.map(printable));
  const widths = all[0]?.map((_, at) => Math.max(...all.map((row) => Bun.stringWidth(row[at] ?? "")))) ?? [];
  const line = (row: string[]) =>
    row
      .map((cell, at) => cell + " ".repeat(Math.max(0, (widths[at] ?? 0) - Bun.stringWidth(cell))))
      .join("  ")
      .trimEnd();
  return `${all.map(line).join("\n")}\n`;
}

function stateOf({ isAdmin, disabled, emailVerified }: Pick<Shown, "isAdmin" | "disabled" | "emailVerified">): string {
  const told = [disabled && "disabled", isAdmin && "admin", !emailVerified && "unverified"];
  return told.filter(Boolean).join(", ") || "active";
}

/** Nothing that a terminal would obey. */
const printable = (text: string) => text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, "");
