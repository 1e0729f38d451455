// The table of an agent's pages: one row each, shown in this order beside the page.

import { Bot, type LucideIcon, MessagesSquare } from "lucide-react";
import { type ComponentType, type LazyExoticComponent, lazy } from "react";
import { type Text, text } from "../../app/language.ts";

export interface AgentPage {
  /** Below /agents/:id; "" is the overview. May have parameters, such as "/chat/:conversationId?". */
  path: string;
  label: Text;
  Icon: LucideIcon;
  Component: LazyExoticComponent<ComponentType>;
}

export const AGENT_PAGES: readonly AgentPage[] = [
  { path: "", label: text("Overview"), Icon: Bot, Component: lazy(() => import("./overview/index.tsx")) },
  {
    path: "/channels/:channel?",
    label: text("Channels"),
    Icon: MessagesSquare,
    Component: lazy(() => import("./channels/index.tsx")),
  },
];
