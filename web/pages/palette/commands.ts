// What the palette offers everywhere: pages, actions, and for admins accounts and agents of others.

import {
  BookOpen,
  CodeXml,
  Compass,
  DatabaseBackup,
  KeyRound,
  Languages,
  LogOut,
  type LucideIcon,
  Moon,
  Plus,
  Search,
  Sun,
  User,
  UserPlus,
  Webhook,
} from "lucide-react";
import { navigate } from "wouter/use-browser-location";
import { api } from "../../app/api.ts";
import { changeLanguage, LANGUAGES, type Language, language, type Text, t, text } from "../../app/language.ts";
import { ADMIN_ENTRIES, MAIN_ENTRIES, type NavigationEntry } from "../../app/navigation.ts";
import { openNewAgent } from "../../app/new-agent.tsx";
import { signOut } from "../../app/sign-out.ts";
import { changeTheme } from "../../app/theme.ts";
import { openAsCode } from "../../parts/as-code-button.tsx";
import { messageOf } from "../../parts/error-note.tsx";
import { showError, showToast } from "../../parts/toast.tsx";
import { ACCOUNT_PAGES } from "../account/pages.ts";
import type { Command } from "./command.ts";

interface Action {
  label: Text;
  Icon: LucideIcon;
  keywords?: Text;
  run: () => void;
}

async function makeBackup(): Promise<void> {
  try {
    await api.post("/api/admin/backups");
    showToast(t("The backup is being made."));
    navigate("/admin/storage");
  } catch (error) {
    showError(messageOf(error));
  }
}

/** Actions of the whole console, one row each. */
const ACTIONS: readonly Action[] = [
  { label: text("New agent"), Icon: Plus, keywords: text("make create add bot template"), run: () => openNewAgent() },
  {
    label: text("New API key"),
    Icon: KeyRound,
    keywords: text("make create add token"),
    run: () => navigate("/account/keys?new=1"),
  },
  {
    label: text("New webhook"),
    Icon: Webhook,
    keywords: text("make create add endpoint"),
    run: () => navigate("/webhooks?new=1"),
  },
  {
    label: text("First steps"),
    Icon: Compass,
    keywords: text("welcome tour setup begin"),
    run: () => navigate("/welcome"),
  },
  { label: text("This page as code"), Icon: CodeXml, keywords: text("curl typescript api request"), run: openAsCode },
  { label: text("Light theme"), Icon: Sun, keywords: text("bright"), run: () => changeTheme("light") },
  { label: text("Dark theme"), Icon: Moon, keywords: text("night"), run: () => changeTheme("dark") },
  { label: text("Theme as the system"), Icon: Moon, run: () => changeTheme("system") },
  {
    label: text("API documentation"),
    Icon: BookOpen,
    keywords: text("swagger openapi developer"),
    run: () => location.assign("/swagger"),
  },
  { label: text("Sign out"), Icon: LogOut, keywords: text("log out leave"), run: () => void signOut() },
];

const ADMIN_ACTIONS: readonly Action[] = [
  {
    label: text("New account"),
    Icon: UserPlus,
    keywords: text("make create add user person"),
    run: () => navigate("/admin/users?new=account"),
  },
  {
    label: text("Invite"),
    Icon: UserPlus,
    keywords: text("user person mail registration"),
    run: () => navigate("/admin/users?new=invitation"),
  },
  {
    label: text("Make a backup now"),
    Icon: DatabaseBackup,
    keywords: text("database copy"),
    run: () => void makeBackup(),
  },
];

const toCommand = ({ label, keywords, ...action }: Action): Command => ({
  ...action,
  id: `do-${label}`,
  label: t(label),
  kind: t("Action"),
  ...(keywords && { keywords: t(keywords) }),
});

const toPage = ({ path, label, keywords, Icon }: NavigationEntry): Command => ({
  id: `page-${path}`,
  label: t(label),
  kind: t("Page"),
  Icon,
  path,
  ...(keywords && { keywords: t(keywords) }),
});

/** Each in its own name, too: that is how somebody finds it who can't read the present one. */
const languageCommands = (): Command[] =>
  (Object.entries(LANGUAGES) as [Language, string][])
    .filter(([code]) => code !== language)
    .map(([code, name]) => ({
      id: `language-${code}`,
      label: `${t("Language")}: ${name}`,
      kind: t("Action"),
      Icon: Languages,
      keywords: code,
      run: () => changeLanguage(code),
    }));

export function fixedCommands(isAdmin: boolean): Command[] {
  return [
    ...MAIN_ENTRIES.map(toPage),
    ...(isAdmin ? ADMIN_ENTRIES.map(toPage) : []),
    ...ACCOUNT_PAGES.map(({ path, label, keywords, Icon }) => ({
      id: `account-${path}`,
      label: `${t("Account")}: ${t(label)}`,
      kind: t("Page"),
      Icon,
      path: `/account${path}`,
      keywords: t(keywords),
    })),
    ...ACTIONS.map(toCommand),
    ...(isAdmin ? ADMIN_ACTIONS.map(toCommand) : []),
    ...languageCommands(),
  ];
}

const SHOWN_ACCOUNTS = 5;

/** For admins: the accounts with this in their names or addresses. */
export async function findAccounts(sought: string): Promise<Command[]> {
  const { users } = await api.get<{ users: { id: string; name: string; email: string }[] }>("/api/admin/users", {
    query: sought,
    limit: SHOWN_ACCOUNTS,
  });
  return users.map(({ id, name, email }) => ({
    id: `account-of-${id}`,
    label: name ? `${name} · ${email}` : email,
    kind: t("Account"),
    Icon: User,
    path: `/admin/users/${id}`,
  }));
}

/** For admins: leads to the lists of the whole server, filtered by what was typed. */
export const searchCommands = (typed: string): Command[] => [
  {
    id: "search-agents",
    label: t("Search all agents for “{typed}”", { typed }),
    kind: t("Search"),
    Icon: Search,
    path: `/admin/agents?query=${encodeURIComponent(typed)}`,
  },
];
