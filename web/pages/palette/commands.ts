// What the palette offers everywhere: pages, actions, and for admins accounts and agents of others.

import { Languages, Search, User } from "lucide-react";
import { api } from "../../api/api.ts";
import { ADMIN_ENTRIES, MAIN_ENTRIES, type NavigationEntry } from "../../app/navigation.ts";
import { changeLanguage, LANGUAGES, type Language, language, t } from "../../viewer/language.ts";
import { ACCOUNT_PAGES } from "../account/pages.ts";
import { ACTIONS, type Action, ADMIN_ACTIONS } from "./actions.ts";
import type { Command } from "./command.ts";

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

/** In the present language: "German". */
const nameOfLanguage = (code: Language) => new Intl.DisplayNames([language], { type: "language" }).of(code) ?? "";

/** Each in its own name, too: that is how somebody finds it who can't read the present one. */
const languageCommands = (): Command[] =>
  (Object.entries(LANGUAGES) as [Language, string][])
    .filter(([code]) => code !== language)
    .map(([code, name]) => ({
      id: `language-${code}`,
      label: `${t("Language")}: ${name}`,
      kind: t("Action"),
      Icon: Languages,
      keywords: `${code} ${nameOfLanguage(code)}`,
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
