// One fact: who knows it, where it comes from, and the ways to correct, pin and forget it in place.

import { Pencil, Pin, PinOff, ShieldAlert, Trash2, User, Users } from "lucide-react";
import { useId, useState } from "react";
import { Button } from "../../../parts/button.tsx";
import { TextAreaField } from "../../../parts/forms/field.tsx";
import { Form } from "../../../parts/forms/form.tsx";
import { IconButton } from "../../../parts/icon-button.tsx";
import { When } from "../../../parts/values/when.tsx";
import { type Text, t, text } from "../../../viewer/language.ts";
import type { Fact } from "./data.ts";

const SOURCES: Readonly<Record<Fact["source"], Text>> = {
  owner: text("written by you"),
  agent: text("noted in a conversation"),
  compaction: text("noted at the end of a conversation"),
};

interface Props {
  fact: Fact;
  /** Who else knows it; undefined for the owner's own. */
  person: string | undefined;
  onPin: () => void;
  onForget: () => void;
  /** Rejects with the reason when the text was refused. */
  onCorrect: (text: string) => Promise<void>;
  onPerson: () => void;
}

export function FactRow({ fact, person, onPin, onForget, onCorrect, onPerson }: Props) {
  const [isEditing, setEditing] = useState(false);
  const textId = useId();
  return (
    <article aria-labelledby={textId} className="flex flex-col gap-1.5 border-edge border-t px-4 py-3 hover:bg-hover">
      {isEditing ? (
        <Correction fact={fact} onSave={onCorrect} onEnd={() => setEditing(false)} />
      ) : (
        <div className="flex items-start gap-3">
          <div className="min-w-0 flex-1">
            <p id={textId} className="max-w-prose">
              {fact.text}
            </p>
          </div>
          <div className="-my-1 flex shrink-0 gap-0.5">
            <IconButton label={fact.pinned ? t("Unpin") : t("Pin: always tell the agent")} onClick={onPin}>
              {fact.pinned ? <PinOff /> : <Pin />}
            </IconButton>
            <IconButton label={t("Correct")} onClick={() => setEditing(true)}>
              <Pencil />
            </IconButton>
            <IconButton label={t("Forget")} onClick={onForget}>
              <Trash2 />
            </IconButton>
          </div>
        </div>
      )}
      <p className="flex flex-wrap items-center gap-x-2 gap-y-1 text-soft text-sm">
        {fact.pinned && (
          <span className="inline-flex items-center gap-1 rounded-full bg-wash px-2 font-medium text-sea text-xs">
            <Pin className="size-3" aria-hidden="true" />
            {t("Pinned")}
          </span>
        )}
        {fact.untrusted && (
          <span
            className="inline-flex items-center gap-1 rounded-full bg-warn-wash px-2 font-medium text-warn text-xs"
            title={t(
              "Noted while the agent read something from outside, such as a web page. Correct it, and it counts as yours.",
            )}
          >
            <ShieldAlert className="size-3" aria-hidden="true" />
            {t("Untrusted")}
          </span>
        )}
        {person === undefined ? (
          <span className="inline-flex items-center gap-1">
            <User className="size-3.5" aria-hidden="true" />
            {t("Known when you talk to it")}
          </span>
        ) : (
          <button type="button" onClick={onPerson} className="inline-flex items-center gap-1 text-sea hover:underline">
            <Users className="size-3.5" aria-hidden="true" />
            {t("Known only to {person}", { person })}
          </button>
        )}
        {(fact.kind === "world" || (fact.kind === "person" && person === undefined)) && (
          <>
            <span aria-hidden="true">·</span>
            <span>{fact.kind === "world" ? t("about the world") : t("about somebody else")}</span>
          </>
        )}
        <span aria-hidden="true">·</span>
        <span>{t(SOURCES[fact.source])}</span>
        <span aria-hidden="true">·</span>
        <When at={fact.lastUsedAt} />
      </p>
    </article>
  );
}

function Correction({
  fact,
  onSave,
  onEnd,
}: {
  fact: Fact;
  onSave: (text: string) => Promise<void>;
  onEnd: () => void;
}) {
  const [value, setValue] = useState(fact.text);
  const [error, setError] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const save = async () => {
    if (value.trim() === fact.text) return onEnd();
    setBusy(true);
    try {
      await onSave(value);
      onEnd();
    } catch (refused) {
      setError(refused instanceof Error ? refused.message : String(refused));
      setBusy(false);
    }
  };
  return (
    <Form
      className="flex flex-col gap-2"
      onSubmit={() => {
        void save();
      }}
    >
      <TextAreaField
        label={t("Correct this fact")}
        isLabelHidden
        rows={3}
        value={value}
        maxLength={2_000}
        error={error}
        data-autofocus
        onChange={(event) => setValue(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") onEnd();
          if (event.key === "Enter" && !event.shiftKey) {
            event.preventDefault();
            void save();
          }
        }}
        hint={fact.source === "owner" ? undefined : t("With your words it counts as yours, and is trusted.")}
      />
      <div className="flex gap-2">
        <Button type="submit" look="primary" isBusy={isBusy} disabled={value.trim() === ""}>
          {t("Save")}
        </Button>
        <Button onClick={onEnd}>{t("Cancel")}</Button>
      </div>
    </Form>
  );
}
