// The picture of a platform: a shape of its own for those that Berth knows, else the first letter of its name.

import { Hash, type LucideIcon, Mail, MessageCircle, MessagesSquare, Send } from "lucide-react";

const ICONS: Readonly<Record<string, LucideIcon>> = {
  channel_a: Send,
  channel_b: MessagesSquare,
  channel_c: MessageCircle,
  channel_d: Hash,
  channel_e: Mail,
};

export function ChannelIcon({ channel, label }: { channel: string; label: string }) {
  const Icon = ICONS[channel];
  return (
    <span
      aria-hidden="true"
      className="grid size-10 shrink-0 place-items-center rounded-large bg-wash font-semibold text-md text-sea [&_svg]:size-5"
    >
      {Icon ? <Icon /> : label.slice(0, 1)}
    </span>
  );
}

/** The picture of a bot or a person, who has none that Berth could show: the first letter of the name. */
export const Letter = ({ name }: { name: string }) => (
  <span
    aria-hidden="true"
    className="grid size-8 shrink-0 place-items-center rounded-full bg-wash font-semibold text-sea uppercase"
  >
    {[...name.replace(/^[@+]/, "")][0] ?? "?"}
  </span>
);
