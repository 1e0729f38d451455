// Asks for the agent's name before it is deleted for good.

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, path } from "../../../api/api.ts";
import { TextField } from "../../../parts/forms/field.tsx";
import { FormDialog } from "../../../parts/forms/form-dialog.tsx";
import { showToast } from "../../../parts/toast.tsx";
import { useNavigate } from "../../../viewer/address.ts";
import { t } from "../../../viewer/language.ts";
import type { Agent } from "../agent.tsx";

export function DeleteDialog({ agent: { id, name }, onClose }: { agent: Agent; onClose: () => void }) {
  const [typed, setTyped] = useState("");
  const client = useQueryClient();
  const navigate = useNavigate();
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => api.delete(path`/api/agents/${id}`),
    onSuccess: () => {
      navigate("/");
      showToast(t("{name} is deleted.", { name }));
      void client.invalidateQueries({ queryKey: ["agents"] });
    },
  });
  return (
    <FormDialog
      title={t("Delete {name}?", { name })}
      action={t("Delete for good")}
      look="danger"
      isBusy={isPending}
      isIncomplete={typed.trim() !== name.trim()}
      onSubmit={() => mutate()}
      onClose={onClose}
      error={error}
    >
      <p>
        {t(
          "Conversations, memory, files, figures and backups are deleted, and its bots fall silent. Export the agent first if you may want it back.",
        )}
      </p>
      <TextField
        label={t("Type the agent's name to confirm: {name}", { name })}
        value={typed}
        onChange={({ target }) => setTyped(target.value)}
      />
    </FormDialog>
  );
}
