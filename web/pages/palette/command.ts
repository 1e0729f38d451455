// What an entry of the palette is: it goes to a page, or does something.

import type { LucideIcon } from "lucide-react";

interface Shown {
  id: string;
  label: string;
  /** What it is, at the right. */
  kind: string;
  Icon: LucideIcon;
  /** Other words under which it is found. */
  keywords?: string;
}

export type Command = (Shown & { path: string }) | (Shown & { run: () => void });
