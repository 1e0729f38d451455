// Lists what the command palette offers: pages, the caller's agents with their pages, and actions.

import { BookOpen, Bot, Compass, type LucideIcon, Moon, Plus, Sun } from "lucide-react";
import { navigate } from "wouter/use-browser-location";
import type { OverviewPage } from "../../app/agents.ts";
import { api } from "../../app/api.ts";
import { t, text } from "../../app/language.ts";
import { ADMIN_ENTRIES, MAIN_ENTRIES } from "../../app/navigation.ts";
import { openNewAgent } from "../../app/new-agent.tsx";
import { changeTheme } from "../../app/theme.ts";
import { ACCOUNT_PAGES } from "../account/pages.ts";

interface Shown {
  id: string;
  label: string;
  /** What it is, at the right. */
  kind: string;
  Icon: LucideIcon;
  keywords?: string;
}

/** Goes to a page, or does something. */
export type Command = (Shown & { path: string }) | (Shown & { run: () => void });

/** Actions of the whole console. A page adds its own here, one row each. */
const ACTIONS = [
  { label: text("New agent"), Icon: Plus, keywords: "make create add bot template", run: () => openNewAgent() },
  { label: text("First steps"), Icon: Compass, keywords: "welcome tour setup begin", run: () => navigate("/welcome") },
  { label: text("Light theme"), Icon: Sun, keywords: "bright", run: () => changeTheme("light") },
  { label: text("Dark theme"), Icon: Moon, keywords: "night", run: () => changeTheme("dark") },
  { label: text("Theme as the system"), Icon: Moon, run: () => changeTheme("system") },
  {
    label: text("API documentation"),
    Icon: BookOpen,
    keywords: "swagger openapi developer",
    run: () => location.assign("/swagger"),
  },
];

export function fixedCommands(isAdmin: boolean): Command[] {
  const entries = isAdmin ? [...MAIN_ENTRIES, ...ADMIN_ENTRIES] : MAIN_ENTRIES;
  return [
    ...entries.map(({ label, ...entry }) => ({ ...entry, id: `page-${entry.path}`, label: t(label), kind: t("Page") })),
    ...ACCOUNT_PAGES.map(({ path, label, Icon }) => ({
      id: `account-${path}`,
      label: `${t("Account")}: ${t(label)}`,
      kind: t("Page"),
      Icon,
      path: `/account${path}`,
    })),
    ...ACTIONS.map(({ label, ...action }) => ({ ...action, id: `do-${label}`, label: t(label), kind: t("Action") })),
  ];
}

const SHOWN_AGENTS = 8;

/** The caller's agents with this in their names. */
export async function listAgentCommands(sought: string): Promise<Command[]> {
  const { agents } = await api.get<OverviewPage>("/api/agents/overview", { query: sought, limit: SHOWN_AGENTS });
  return agents.map(({ id, name }) => ({ id, label: name, kind: t("Agent"), Icon: Bot, path: `/agents/${id}/chat` }));
}

/** Whether each word is somewhere in the label or the keywords. */
export const matches = ({ label, keywords = "" }: Shown, sought: string): boolean =>
  sought.split(/\s+/).every((word) => `${label} ${keywords}`.toLowerCase().includes(word));
