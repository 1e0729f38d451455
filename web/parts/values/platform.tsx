// Where a conversation is held: a neutral icon and the name. The makers' own logos are theirs.

import {
  AppWindow,
  Bot,
  CodeXml,
  Globe,
  Hash,
  type LucideIcon,
  Mail,
  MessageCircle,
  MessagesSquare,
  Plug,
  Send,
} from "lucide-react";
import { type Text, t, text } from "../../viewer/language.ts";

const PLATFORMS: Readonly<Record<string, { Icon: LucideIcon; label: Text }>> = {
  web: { Icon: AppWindow, label: text("Console") },
  api: { Icon: CodeXml, label: text("API") },
  public: { Icon: Globe, label: text("Public page") },
  agent: { Icon: Bot, label: text("Another agent") },
  channel_a: { Icon: Send, label: text("Telegram") },
  channel_b: { Icon: MessagesSquare, label: text("Discord") },
  channel_c: { Icon: MessageCircle, label: text("WhatsApp") },
  channel_d: { Icon: Hash, label: text("Slack") },
  channel_e: { Icon: Mail, label: text("Email") },
};

/** The platform's name for people; an unknown one's given name, or id. */
export const platformName = (id: string, givenName = id): string => {
  const known = PLATFORMS[id];
  return known ? t(known.label) : givenName;
};

export function PlatformIcon({ id, className = "size-4" }: { id: string; className?: string }) {
  const { Icon } = PLATFORMS[id] ?? { Icon: Plug };
  return <Icon role="img" aria-label={platformName(id)} className={`shrink-0 ${className}`} />;
}
