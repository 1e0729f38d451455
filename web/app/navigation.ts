// The entries of the rail and of the command palette, one row each.

import {
  Activity,
  Bot,
  BrainCircuit,
  ChartColumn,
  Coins,
  Container,
  Gauge,
  HardDrive,
  ListChecks,
  type LucideIcon,
  Package,
  RadioTower,
  ScrollText,
  ShieldCheck,
  SlidersHorizontal,
  Users,
  Wallet,
  Webhook,
} from "lucide-react";
import { type Text, text } from "../viewer/language.ts";

export interface NavigationEntry {
  path: string;
  label: Text;
  Icon: LucideIcon;
  /** Other words under which the palette finds it. */
  keywords?: Text;
}

export const MAIN_ENTRIES: readonly NavigationEntry[] = [
  { path: "/", label: text("Agents"), Icon: Bot, keywords: text("home list bots") },
  { path: "/usage", label: text("Usage"), Icon: Coins, keywords: text("cost money budget plan credits csv") },
  { path: "/approvals", label: text("Approvals"), Icon: ShieldCheck, keywords: text("allow deny tools waiting") },
  { path: "/wallet", label: text("Wallet"), Icon: Wallet, keywords: text("money payments send limits") },
  { path: "/webhooks", label: text("Webhooks"), Icon: Webhook, keywords: text("events deliveries") },
];

export const ADMIN_ENTRIES: readonly NavigationEntry[] = [
  { path: "/admin", label: text("Overview"), Icon: Gauge, keywords: text("admin server health problems charts") },
  { path: "/admin/users", label: text("Accounts"), Icon: Users, keywords: text("users people plan invite password") },
  { path: "/admin/agents", label: text("All agents"), Icon: Container, keywords: text("fleet bots stop start") },
  { path: "/admin/usage", label: text("Usage and cost"), Icon: ChartColumn, keywords: text("spending money tokens") },
  {
    path: "/admin/models",
    label: text("Models"),
    Icon: BrainCircuit,
    keywords: text("keys providers ollama openrouter openai anthropic gemini groq demo"),
  },
  {
    path: "/admin/providers",
    label: text("AI providers"),
    Icon: Activity,
    keywords: text("health latency breaker spending"),
  },
  {
    path: "/admin/channels",
    label: text("All channels"),
    Icon: RadioTower,
    keywords: text("telegram discord whatsapp"),
  },
  {
    path: "/admin/jobs",
    label: text("Jobs and queues"),
    Icon: ListChecks,
    keywords: text("waiting inbox outbox webhooks"),
  },
  {
    path: "/admin/storage",
    label: text("Storage and backups"),
    Icon: HardDrive,
    keywords: text("disk database restore"),
  },
  {
    path: "/admin/settings",
    label: text("Server settings"),
    Icon: SlidersHorizontal,
    keywords: text("environment doctor"),
  },
  { path: "/admin/audit", label: text("Audit log"), Icon: ScrollText, keywords: text("changes history who") },
  { path: "/admin/versions", label: text("Version and upgrade"), Icon: Package, keywords: text("update runtime") },
];
