// The table of an agent's pages: one row each, shown in this order beside the page.

import {
  BadgeCheck,
  Blocks,
  Bot,
  BrainCircuit,
  Cable,
  CalendarClock,
  ChartLine,
  DatabaseBackup,
  Globe,
  History,
  type LucideIcon,
  MessageSquare,
  MessagesSquare,
  Power,
  Radio,
  ScrollText,
  ShieldCheck,
  SlidersHorizontal,
} from "lucide-react";
import { type ComponentType, type LazyExoticComponent, lazy } from "react";
import { type Text, text } from "../../app/language.ts";

export interface AgentPage {
  /** Below /agents/:id; "" is the overview. May have parameters, such as "/chat/:conversationId?". */
  path: string;
  label: Text;
  Icon: LucideIcon;
  /** Under which heading it stands; without one it is at the top. */
  group?: AgentPageGroup;
  /** Takes the whole height and width beside the navigation and scrolls by itself, such as a chat. */
  isFull?: true;
  Component: LazyExoticComponent<ComponentType>;
}

export const AGENT_PAGE_GROUPS = {
  make: text("Make it yours"),
  reach: text("Where it talks"),
  watch: text("What it does"),
  keep: text("Keep it safe"),
} as const;
export type AgentPageGroup = keyof typeof AGENT_PAGE_GROUPS;

export const AGENT_PAGES: readonly AgentPage[] = [
  { path: "", label: text("Overview"), Icon: Bot, Component: lazy(() => import("./overview/index.tsx")) },
  {
    path: "/chat/:conversationId?",
    label: text("Chat"),
    Icon: MessageSquare,
    isFull: true,
    Component: lazy(() => import("./chat/index.tsx")),
  },
  {
    path: "/set-up",
    label: text("Set-up"),
    Icon: SlidersHorizontal,
    group: "make",
    Component: lazy(() => import("./set-up/index.tsx")),
  },
  {
    path: "/channels/:channel?",
    label: text("Channels"),
    Icon: MessagesSquare,
    group: "reach",
    Component: lazy(() => import("./channels/index.tsx")),
  },
  {
    path: "/public",
    label: text("Public page"),
    Icon: Globe,
    group: "reach",
    Component: lazy(() => import("./public/index.tsx")),
  },
  {
    path: "/gateway",
    label: text("Gateway"),
    Icon: Cable,
    group: "reach",
    Component: lazy(() => import("./gateway/index.tsx")),
  },
  {
    path: "/stream",
    label: text("Live stream"),
    Icon: Radio,
    group: "reach",
    Component: lazy(() => import("./stream/index.tsx")),
  },
  {
    path: "/skills",
    label: text("Skills"),
    group: "make",
    Icon: Blocks,
    Component: lazy(() => import("./skills/index.tsx")),
  },
  {
    path: "/memory",
    label: text("Memory"),
    group: "make",
    Icon: BrainCircuit,
    Component: lazy(() => import("./memory/index.tsx")),
  },
  {
    path: "/schedules",
    label: text("Schedules"),
    group: "make",
    Icon: CalendarClock,
    Component: lazy(() => import("./schedules/index.tsx")),
  },
  {
    path: "/history",
    label: text("History"),
    Icon: History,
    group: "keep",
    Component: lazy(() => import("./history/index.tsx")),
  },
  {
    path: "/approvals",
    label: text("Approvals"),
    Icon: ShieldCheck,
    group: "watch",
    Component: lazy(() => import("./approvals/index.tsx")),
  },
  {
    path: "/figures",
    label: text("Figures"),
    Icon: ChartLine,
    group: "watch",
    Component: lazy(() => import("./figures/index.tsx")),
  },
  {
    path: "/logs",
    label: text("Log"),
    Icon: ScrollText,
    group: "watch",
    Component: lazy(() => import("./logs/index.tsx")),
  },
  {
    path: "/backups",
    label: text("Backups"),
    Icon: DatabaseBackup,
    group: "keep",
    Component: lazy(() => import("./backups/index.tsx")),
  },
  {
    path: "/verification",
    label: text("Verification"),
    Icon: BadgeCheck,
    group: "keep",
    Component: lazy(() => import("./verification/index.tsx")),
  },
  {
    path: "/danger",
    label: text("Stop and delete"),
    Icon: Power,
    group: "keep",
    Component: lazy(() => import("./danger/index.tsx")),
  },
];
