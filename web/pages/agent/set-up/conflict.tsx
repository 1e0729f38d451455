// Somebody else has saved while changes were made here: shows both, and lets the person choose, or keeps both.

import { Button } from "../../../parts/button.tsx";
import { t } from "../../../viewer/language.ts";
import { ChangesView } from "../config/changes-view.tsx";
import type { DraftState, SetUp, Stored } from "./draft.ts";

interface Props {
  draft: DraftState;
  stored: Stored;
  isBusy: boolean;
  onSave: (next: SetUp, from: Stored) => void;
}

export function Conflict({ draft, stored, isBusy, onSave }: Props) {
  const { current, from, merged } = draft;
  return (
    <section aria-labelledby="conflict" className="mb-5 rounded-large border border-warn bg-card p-4">
      <h2 id="conflict" role="alert" className="font-semibold text-md">
        {t("The configuration was changed elsewhere meanwhile")}
      </h2>
      <p className="mt-1 max-w-prose text-soft">
        {merged
          ? t("You changed different things, so both can be kept.")
          : t("You both changed the same thing. Compare, and choose which one counts; the other stays in the history.")}
      </p>
      <details className="my-3" open={!merged}>
        <summary className="font-medium">{t("What differs")}</summary>
        <div className="mt-2">
          <ChangesView
            before={stored.config}
            after={current.config}
            heads={[t("Saved elsewhere"), t("Your changes")]}
          />
        </div>
      </details>
      <div className="flex flex-wrap gap-2">
        {merged && (
          <Button look="primary" isBusy={isBusy} onClick={() => onSave(merged, stored)}>
            {t("Save both")}
          </Button>
        )}
        <Button isBusy={!merged && isBusy} onClick={() => onSave(current, stored)}>
          {t("Save mine (based on version {version})", { version: from.version })}
        </Button>
        <Button onClick={draft.discard}>{t("Take theirs")}</Button>
      </div>
    </section>
  );
}
