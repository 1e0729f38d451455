// Teaches the agent a fact.

import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { api, path } from "../../../api/api.ts";
import { ApiError } from "../../../api/errors.ts";
import { Button } from "../../../parts/button.tsx";
import { messageOf } from "../../../parts/error-note.tsx";
import { CheckField, TextAreaField } from "../../../parts/forms/field.tsx";
import { Form } from "../../../parts/forms/form.tsx";
import { showToast } from "../../../parts/toast.tsx";
import { t } from "../../../viewer/language.ts";

interface Props {
  agentId: string;
  /** The conversation that gets to know it; "" for the owner's own. */
  about: string;
  person: string | undefined;
  onTaught: () => void;
  onCancel: () => void;
}

export function TeachForm({ agentId, about, person, onTaught, onCancel }: Props) {
  const [text, setText] = useState("");
  const [pinned, setPinned] = useState(false);
  const teach = useMutation({
    mutationFn: () =>
      api.post(path`/api/agents/${agentId}/memories`, {
        text,
        ...(about && { about }),
        ...(pinned && { pinned }),
      }),
    onSuccess() {
      showToast(t("The agent knows it now"));
      onTaught();
    },
  });
  const { error } = teach;
  return (
    <Form
      className="flex flex-col gap-3 border-edge border-b bg-well p-4"
      onSubmit={() => {
        teach.mutate();
      }}
    >
      <TextAreaField
        label={
          person === undefined
            ? t("What should it know?")
            : t("What should it know when it talks to {person}?", { person })
        }
        rows={2}
        maxLength={2_000}
        data-autofocus
        value={text}
        placeholder={t("We close at 6 p.m., on Fridays at 2.")}
        hint={t("One fact in a sentence that stands on its own. Never passwords or keys: the model reads it.")}
        error={
          error ? (error instanceof ApiError ? (error.issueAt("text") ?? error.message) : messageOf(error)) : undefined
        }
        onChange={(event) => setText(event.target.value)}
      />
      <CheckField
        label={t("Pin it")}
        hint={t("It comes first in every prompt. Others are found when they fit what is said.")}
        checked={pinned}
        onChange={(event) => setPinned(event.target.checked)}
      />
      <div className="flex gap-2">
        <Button type="submit" look="primary" isBusy={teach.isPending} disabled={text.trim() === ""}>
          {t("Remember")}
        </Button>
        <Button onClick={onCancel}>{t("Cancel")}</Button>
      </div>
    </Form>
  );
}
