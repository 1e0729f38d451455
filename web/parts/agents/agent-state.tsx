// An agent's state in a word and a shape, and the state of its channels in icons.

import { CircleHelp, type LucideIcon, MessageCircle, MessagesSquare, Send } from "lucide-react";
import { type AgentChannel, isRunning } from "../../data/agents.ts";
import { t } from "../../viewer/language.ts";
import { Status, type Tone } from "../values/status.tsx";

export function AgentState({ status }: { status: string }) {
  if (status === "error") return <Status tone="bad">{t("Failed")}</Status>;
  return isRunning(status) ? <Status tone="good">{t("Running")}</Status> : <Status tone="idle">{t("Stopped")}</Status>;
}

/** The first letter of a name, for telling agents apart in a list. */
export const Monogram = ({ name, className = "size-9 text-md" }: { name: string; className?: string }) => (
  <span
    aria-hidden="true"
    className={`grid shrink-0 place-items-center rounded-round bg-wash font-semibold text-sea ${className}`}
  >
    {[...name.trim()][0]?.toUpperCase()}
  </span>
);

const CHANNEL_ICONS: Readonly<Record<string, LucideIcon>> = {
  Telegram: Send,
  Discord: MessagesSquare,
  WhatsApp: MessageCircle,
};

export function ChannelIcon({ name, className = "size-4" }: { name: string; className?: string }) {
  const Icon = CHANNEL_ICONS[name] ?? CircleHelp;
  return <Icon className={className} aria-hidden="true" />;
}

/** What a connection's state means for people. */
export function channelState(state: string): { tone: Tone; words: string } {
  if (state === "connected") return { tone: "good", words: t("connected") };
  if (state === "failed") return { tone: "bad", words: t("failed") };
  if (state === "connecting") return { tone: "busy", words: t("connecting") };
  return { tone: "warn", words: t("tries again by itself") };
}

/** The channels of an agent: icon, name for screen readers, and a shape for what is not connected. */
export function ChannelIcons({
  channels,
  isStopped = false,
}: {
  channels: readonly AgentChannel[];
  isStopped?: boolean;
}) {
  return (
    <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
      {channels.map(({ channel, name, state, username }) => {
        const { tone, words } = isStopped ? { tone: "idle" as const, words: t("stopped") } : channelState(state);
        return (
          <span
            key={channel}
            title={`${name} @${username}: ${words}`}
            className="inline-flex items-center gap-1 text-soft"
          >
            <ChannelIcon name={name} />
            <Status tone={tone}>
              <span className="sr-only">{`${name}: ${words}`}</span>
            </Status>
          </span>
        );
      })}
    </span>
  );
}
