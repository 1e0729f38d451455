// A picture for each template.

import { Bot, FileUp, Headset, type LucideIcon, Search, Siren, Sparkles, Users } from "lucide-react";

const ICONS: Readonly<Record<string, LucideIcon>> = {
  assistant: Sparkles,
  "support-desk": Headset,
  researcher: Search,
  "community-moderator": Users,
  "on-call-helper": Siren,
  file: FileUp,
};

export function TemplateIcon({ id }: { id: string }) {
  const Icon = ICONS[id] ?? Bot;
  return (
    <span className="grid size-9 shrink-0 place-items-center rounded-round bg-wash text-sea">
      <Icon className="size-4.5" aria-hidden="true" />
    </span>
  );
}
