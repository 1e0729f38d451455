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
  MessageCircleCode,
  MessageSquare,
  MessagesSquare,
  Power,
  Radio,
  ScrollText,
  ShieldCheck,
  SlidersHorizontal,
  Users,
  Wallet,
  Webhook,
} from "lucide-react";
import { type LazyComponent, lazyPagePart } from "../../parts/lazy.tsx";
import { type Text, text } from "../../viewer/language.ts";

export interface AgentPage {
  /** Below /agents/:id; "" is the overview. May have parameters, such as "/chat/:conversationId?". */
  path: string;
  label: Text;
  Icon: LucideIcon;
  /** Other words under which the palette finds it. */
  keywords?: Text;
  /** Under which heading it stands; without one it is at the top. */
  group?: AgentPageGroup;
  /** Takes the whole height and width beside the navigation and scrolls by itself, such as a chat. */
  isFull?: true;
  Component: LazyComponent;
}

export const AGENT_PAGE_GROUPS = {
  make: text("Make it yours"),
  reach: text("Where it talks"),
  watch: text("What it does"),
  keep: text("Keep it safe"),
} as const;
export type AgentPageGroup = keyof typeof AGENT_PAGE_GROUPS;

export const AGENT_PAGES: readonly AgentPage[] = [
  { path: "", label: text("Overview"), Icon: Bot, Component: lazyPagePart(() => import("./overview/index.tsx")) },
  {
    path: "/chat/:conversationId?",
    label: text("Chat"),
    Icon: MessageSquare,
    isFull: true,
    keywords: text("talk message conversation"),
    Component: lazyPagePart(() => import("./chat/index.tsx")),
  },
  {
    path: "/set-up",
    label: text("Set-up"),
    Icon: SlidersHorizontal,
    group: "make",
    keywords: text("instructions prompt model temperature budget settings"),
    Component: lazyPagePart(() => import("./set-up/index.tsx")),
  },
  {
    path: "/channels/:channel?",
    label: text("Channels"),
    Icon: MessagesSquare,
    group: "reach",
    keywords: text("connect telegram discord whatsapp bot token pairing"),
    Component: lazyPagePart(() => import("./channels/index.tsx")),
  },
  {
    path: "/public",
    label: text("Public page"),
    Icon: Globe,
    group: "reach",
    keywords: text("embed website qr preview"),
    Component: lazyPagePart(() => import("./public/index.tsx")),
  },
  {
    path: "/embed",
    label: text("On your site"),
    Icon: MessageCircleCode,
    group: "reach",
    keywords: text("embed bubble widget script iframe website"),
    Component: lazyPagePart(() => import("./embed/index.tsx")),
  },
  {
    path: "/gateway",
    label: text("Gateway"),
    Icon: Cable,
    group: "reach",
    keywords: text("websocket token"),
    Component: lazyPagePart(() => import("./gateway/index.tsx")),
  },
  {
    path: "/stream",
    label: text("Live stream"),
    Icon: Radio,
    group: "reach",
    keywords: text("video rtmp player"),
    Component: lazyPagePart(() => import("./stream/index.tsx")),
  },
  {
    path: "/webhooks",
    label: text("Webhooks"),
    Icon: Webhook,
    group: "reach",
    keywords: text("events deliveries"),
    Component: lazyPagePart(() => import("./webhooks/index.tsx")),
  },
  {
    path: "/skills",
    label: text("Skills"),
    group: "make",
    Icon: Blocks,
    keywords: text("tools mcp"),
    Component: lazyPagePart(() => import("./skills/index.tsx")),
  },
  {
    path: "/memory",
    label: text("Memory"),
    group: "make",
    Icon: BrainCircuit,
    keywords: text("facts files remember forget"),
    Component: lazyPagePart(() => import("./memory/index.tsx")),
  },
  {
    path: "/schedules",
    label: text("Schedules"),
    group: "make",
    Icon: CalendarClock,
    keywords: text("cron timer every day"),
    Component: lazyPagePart(() => import("./schedules/index.tsx")),
  },
  {
    path: "/history",
    label: text("History"),
    Icon: History,
    group: "keep",
    keywords: text("versions changes restore"),
    Component: lazyPagePart(() => import("./history/index.tsx")),
  },
  {
    path: "/approvals",
    label: text("Approvals"),
    Icon: ShieldCheck,
    group: "watch",
    keywords: text("allow deny waiting"),
    Component: lazyPagePart(() => import("./approvals/index.tsx")),
  },
  {
    path: "/wallet",
    label: text("Wallet"),
    Icon: Wallet,
    group: "watch",
    keywords: text("money payments send limits"),
    Component: lazyPagePart(() => import("./wallet/index.tsx")),
  },
  {
    path: "/figures",
    label: text("Figures"),
    Icon: ChartLine,
    group: "watch",
    keywords: text("charts statistics cost"),
    Component: lazyPagePart(() => import("./figures/index.tsx")),
  },
  {
    path: "/logs",
    label: text("Log"),
    Icon: ScrollText,
    group: "watch",
    keywords: text("errors debug"),
    Component: lazyPagePart(() => import("./logs/index.tsx")),
  },
  {
    path: "/backups",
    label: text("Backups"),
    Icon: DatabaseBackup,
    group: "keep",
    keywords: text("export import update rollback restore"),
    Component: lazyPagePart(() => import("./backups/index.tsx")),
  },
  {
    path: "/people",
    label: text("People"),
    Icon: Users,
    group: "keep",
    keywords: text("privacy erase forget export copy receipt visitors senders"),
    Component: lazyPagePart(() => import("./people/index.tsx")),
  },
  {
    path: "/verification",
    label: text("Verification"),
    Icon: BadgeCheck,
    group: "keep",
    keywords: text("proof badge identity attestation"),
    Component: lazyPagePart(() => import("./verification/index.tsx")),
  },
  {
    path: "/danger",
    label: text("Stop and delete"),
    Icon: Power,
    group: "keep",
    keywords: text("delete transfer remove"),
    Component: lazyPagePart(() => import("./danger/index.tsx")),
  },
];

/** The address of a page of an agent. */
export const addressOf = (id: string, { path }: AgentPage): string => `/agents/${id}${path.replace(/\/:.*/, "")}`;
