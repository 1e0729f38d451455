// What a person can do with an agent, besides talking to it: one row each, for the command palette.

import {
  BadgeCheck,
  Blocks,
  BrainCircuit,
  Cable,
  CalendarPlus,
  Coins,
  Download,
  Eraser,
  FileUp,
  History,
  Lightbulb,
  type LucideIcon,
  MessageCircleCode,
  MessageSquarePlus,
  MessagesSquare,
  Pencil,
  Radio,
  RotateCcw,
  Save,
  Server,
  ShieldCheck,
  Trash2,
  Wallet,
  Webhook,
} from "lucide-react";
import { type Text, text } from "../../viewer/language.ts";

export interface AgentAction {
  /** Where it is done, below /agents/:id, with what opens there. */
  path: string;
  label: Text;
  Icon: LucideIcon;
  /** Other words under which the palette finds it. */
  keywords: Text;
}

export const AGENT_ACTIONS: readonly AgentAction[] = [
  { path: "/set-up", label: text("Choose its model"), Icon: BrainCircuit, keywords: text("switch change select llm") },
  {
    path: "/schedules?edit=new",
    label: text("New schedule"),
    Icon: CalendarPlus,
    keywords: text("make create add timer cron every day reminder"),
  },
  { path: "/memory?add=fact", label: text("Teach a fact"), Icon: Lightbulb, keywords: text("new add remember memory") },
  {
    path: "/memory?show=files",
    label: text("Add files to the memory"),
    Icon: FileUp,
    keywords: text("upload new document pdf page address knowledge"),
  },
  {
    path: "/skills?add=server",
    label: text("Add an MCP server"),
    Icon: Server,
    keywords: text("new connect tools service"),
  },
  { path: "/skills", label: text("Switch skills on or off"), Icon: Blocks, keywords: text("tools search key allow") },
  {
    path: "/channels/channel_a",
    label: text("Connect Telegram"),
    Icon: MessagesSquare,
    keywords: text("add new bot token channel disconnect people"),
  },
  {
    path: "/channels/channel_b",
    label: text("Connect Discord"),
    Icon: MessagesSquare,
    keywords: text("add new bot token channel disconnect people"),
  },
  {
    path: "/channels/channel_c",
    label: text("Connect WhatsApp"),
    Icon: MessagesSquare,
    keywords: text("add new bot token channel disconnect people"),
  },
  {
    path: "/channels/channel_e",
    label: text("Connect Email"),
    Icon: MessagesSquare,
    keywords: text("add new bot token channel disconnect people"),
  },
  {
    path: "/webhooks?new=1",
    label: text("New webhook"),
    Icon: Webhook,
    keywords: text("make create add endpoint events"),
  },
  {
    path: "/public",
    label: text("Open to visitors"),
    Icon: MessageSquarePlus,
    keywords: text("publish embed greeting"),
  },
  {
    path: "/embed",
    label: text("Put the chat on your site"),
    Icon: MessageCircleCode,
    keywords: text("add embed bubble widget script iframe website"),
  },
  { path: "/gateway", label: text("Replace the gateway token"), Icon: Cable, keywords: text("new rotate websocket") },
  { path: "/stream", label: text("Make a live stream"), Icon: Radio, keywords: text("new video rtmp key") },
  { path: "", label: text("Rename"), Icon: Pencil, keywords: text("change name") },
  { path: "/set-up", label: text("Change the instructions"), Icon: Pencil, keywords: text("prompt edit") },
  { path: "/set-up", label: text("Set a budget"), Icon: Coins, keywords: text("limit money cost day month") },
  { path: "/approvals", label: text("Decide what waits"), Icon: ShieldCheck, keywords: text("approve deny requests") },
  { path: "/wallet", label: text("See what it may spend"), Icon: Wallet, keywords: text("money limits payments") },
  { path: "/history", label: text("Go back to a version"), Icon: History, keywords: text("restore undo set-up") },
  { path: "/backups", label: text("Back up now"), Icon: Save, keywords: text("new make backup copy") },
  { path: "/backups", label: text("Export as a file"), Icon: Download, keywords: text("download save move") },
  {
    path: "/backups",
    label: text("Go back to a backup"),
    Icon: RotateCcw,
    keywords: text("restore rollback update runtime"),
  },
  {
    path: "/people",
    label: text("Erase a person"),
    Icon: Eraser,
    keywords: text("forget delete privacy copy receipt"),
  },
  { path: "/verification", label: text("Verify who owns it"), Icon: BadgeCheck, keywords: text("proof badge sign") },
  { path: "/danger", label: text("Delete the agent"), Icon: Trash2, keywords: text("remove forget stop transfer") },
];
