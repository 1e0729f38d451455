// The entries of the rail and of the command palette, one row each.

import { Bot, BrainCircuit, Coins, type LucideIcon } from "lucide-react";
import { type Text, text } from "./language.ts";

export interface NavigationEntry {
  path: string;
  label: Text;
  Icon: LucideIcon;
  /** Other words under which the palette finds it. */
  keywords?: string;
}

export const MAIN_ENTRIES: readonly NavigationEntry[] = [
  { path: "/", label: text("Agents"), Icon: Bot, keywords: "home list bots" },
  { path: "/usage", label: text("Usage"), Icon: Coins, keywords: "cost money budget plan credits csv" },
];

export const ADMIN_ENTRIES: readonly NavigationEntry[] = [
  {
    path: "/admin/models",
    label: text("Models"),
    Icon: BrainCircuit,
    keywords: "keys providers ollama openrouter openai anthropic gemini groq demo",
  },
];
