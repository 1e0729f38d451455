// Asks before an admin freezes an account or an agent, and for the reason, which its owner reads.

import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../api/api.ts";
import { TextAreaField } from "../../parts/forms/field.tsx";
import { FormDialog } from "../../parts/forms/form-dialog.tsx";
import { t } from "../../viewer/language.ts";

interface Props {
  title: string;
  /** What happens, and what does not. */
  effects: string;
  /** The route that takes the reason. */
  path: string;
  onDone: () => void;
  onClose: () => void;
}

export function FreezeDialog({ title, effects, path, onDone, onClose }: Props) {
  const [reason, setReason] = useState("");
  const freeze = useMutation({
    mutationFn: () => api.post(path, { reason: reason.trim() }),
    onSuccess() {
      onClose();
      onDone();
    },
  });
  return (
    <FormDialog
      title={title}
      action={t("Freeze")}
      look="danger"
      isBusy={freeze.isPending}
      isIncomplete={reason.trim() === ""}
      onSubmit={() => freeze.mutate()}
      onClose={onClose}
      error={freeze.error}
    >
      <p>{effects}</p>
      <TextAreaField
        label={t("Reason")}
        hint={t("The owner reads it, and the audit log keeps it.")}
        rows={3}
        maxLength={500}
        value={reason}
        onChange={(event) => setReason(event.currentTarget.value)}
      />
    </FormDialog>
  );
}
