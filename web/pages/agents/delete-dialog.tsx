// Asks for the number of agents before several are deleted for good.

import { useState } from "react";
import { TextField } from "../../parts/forms/field.tsx";
import { FormDialog } from "../../parts/forms/form-dialog.tsx";
import { t, tn } from "../../viewer/language.ts";

interface Props {
  count: number;
  onConfirm: () => void;
  onClose: () => void;
}

export default function DeleteDialog({ count, onConfirm, onClose }: Props) {
  const [typed, setTyped] = useState("");
  return (
    <FormDialog
      title={tn("Delete {n} agent?", "Delete {n} agents?", count)}
      action={t("Delete for good")}
      look="danger"
      isIncomplete={typed.trim() !== String(count)}
      onSubmit={onConfirm}
      onClose={onClose}
    >
      <p>
        {t(
          "Conversations, memory, files, figures and backups of all of them are deleted, and their bots fall silent. Export those that you may want back.",
        )}
      </p>
      <TextField
        label={t("Type the number of agents to confirm: {n}", { n: count })}
        inputMode="numeric"
        value={typed}
        onChange={({ target }) => setTyped(target.value)}
      />
    </FormDialog>
  );
}
