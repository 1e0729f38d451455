// Says that there are unsaved changes, and saves or discards them; also by Ctrl+S.

import { useEffect, useEffectEvent } from "react";
import { Button } from "../../../parts/button.tsx";
import { t } from "../../../viewer/language.ts";

interface Props {
  isDirty: boolean;
  isBusy: boolean;
  /** They can't be saved as they are. */
  isBlocked: boolean;
  onSave: () => void;
  onDiscard: () => void;
}

export function SaveBar({ isDirty, isBusy, isBlocked, onSave, onDiscard }: Props) {
  const save = useEffectEvent(() => {
    if (isDirty && !isBlocked && !isBusy) onSave();
  });
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== "s" || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      save();
    };
    addEventListener("keydown", onKeyDown);
    return () => removeEventListener("keydown", onKeyDown);
  }, []);
  if (!isDirty) return null;
  return (
    <div className="sticky bottom-3 z-20 flex flex-wrap items-center gap-2 rounded-large border border-line bg-raised px-3 py-2 shadow-raised">
      <p role="status" className="mr-auto">
        {t("Unsaved changes")}
      </p>
      <Button look="bare" disabled={isBusy} onClick={onDiscard}>
        {t("Discard")}
      </Button>
      <Button look="primary" type="submit" isBusy={isBusy} disabled={isBlocked} aria-keyshortcuts="Control+S Meta+S">
        {t("Save")}
      </Button>
    </div>
  );
}
