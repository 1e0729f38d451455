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
  { path: "/approvals", label: text("Approvals"), Icon: ShieldCheck, keywords: "allow deny tools waiting" },
  { path: "/wallet", label: text("Wallet"), Icon: Wallet, keywords: "money payments send limits" },
  { path: "/webhooks", label: text("Webhooks"), Icon: Webhook, keywords: "events deliveries" },
];

export const ADMIN_ENTRIES: readonly NavigationEntry[] = [
  { path: "/admin", label: text("Overview"), Icon: Gauge, keywords: "admin server health problems charts" },
  { path: "/admin/users", label: text("Accounts"), Icon: Users, keywords: "users people plan invite password" },
  { path: "/admin/agents", label: text("All agents"), Icon: Container, keywords: "fleet bots stop start" },
  { path: "/admin/usage", label: text("Usage and cost"), Icon: ChartColumn, keywords: "spending money tokens" },
  {
    path: "/admin/models",
    label: text("Models"),
    Icon: BrainCircuit,
    keywords: "keys providers ollama openrouter openai anthropic gemini groq demo",
  },
  {
    path: "/admin/providers",
    label: text("AI providers"),
    Icon: Activity,
    keywords: "health latency breaker spending",
  },
  { path: "/admin/channels", label: text("All channels"), Icon: RadioTower, keywords: "telegram discord whatsapp" },
  { path: "/admin/jobs", label: text("Jobs and queues"), Icon: ListChecks, keywords: "waiting inbox outbox webhooks" },
  { path: "/admin/storage", label: text("Storage and backups"), Icon: HardDrive, keywords: "disk database restore" },
  { path: "/admin/settings", label: text("Server settings"), Icon: SlidersHorizontal, keywords: "environment doctor" },
  { path: "/admin/audit", label: text("Audit log"), Icon: ScrollText, keywords: "changes history who" },
  { path: "/admin/versions", label: text("Version and upgrade"), Icon: Package, keywords: "update runtime" },
];
