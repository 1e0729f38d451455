// Opens the command palette by a button or by ⌘K / Ctrl+K; its code is loaded at the first use.

import { Search } from "lucide-react";
import { useEffect, useState } from "react";
import { lazyDialog } from "../parts/lazy.tsx";
import { loadTexts, t } from "../viewer/language.ts";
import { isShortcut, shortcut } from "../viewer/shortcut.ts";

const CommandPalette = lazyDialog(
  async () =>
    (
      await Promise.all([
        import("../pages/palette/index.tsx"),
        loadTexts("palette"),
        loadTexts("account"),
        loadTexts("agent"),
      ])
    )[0],
);

const OPEN = "berth-palette";

export const PaletteButton = () => (
  <button
    type="button"
    onClick={() => dispatchEvent(new Event(OPEN))}
    aria-keyshortcuts="Meta+K Control+K"
    className="flex items-center gap-2 rounded-round border border-rail-soft/60 px-2 py-1.5 text-left text-rail-soft text-sm outline-offset-0 hover:bg-rail-hover hover:text-rail-ink focus-visible:outline-rail-ink"
  >
    <Search className="size-4" aria-hidden="true" />
    <span className="flex-1 truncate">{t("Go to, or do…")}</span>
    <kbd className="font-sans text-xs">{shortcut("K")}</kbd>
  </button>
);

/** The palette, while it is open. It is outside of the rail, which a phone hides. */
export function Palette() {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    const open = () => setOpen(true);
    const openByKey = (event: KeyboardEvent) => {
      if (!isShortcut(event, "K")) return;
      event.preventDefault();
      open();
    };
    addEventListener("keydown", openByKey);
    addEventListener(OPEN, open);
    return () => {
      removeEventListener("keydown", openByKey);
      removeEventListener(OPEN, open);
    };
  }, []);
  if (!isOpen) return null;
  return <CommandPalette onClose={() => setOpen(false)} />;
}
