// Deletes an account with its agents, once its address is typed.

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, path } from "../../../api/api.ts";
import { Button } from "../../../parts/button.tsx";
import { TextField } from "../../../parts/forms/field.tsx";
import { FormDialog } from "../../../parts/forms/form-dialog.tsx";
import { Section } from "../../../parts/page/page.tsx";
import { showToast } from "../../../parts/toast.tsx";
import { useUser } from "../../../session/session.tsx";
import { useNavigate } from "../../../viewer/address.ts";
import { t, tn } from "../../../viewer/language.ts";
import type { AccountDetail } from "../api-types.ts";

export function RemoveAccount({ account }: { account: AccountDetail }) {
  const [isOpen, setOpen] = useState(false);
  const [typed, setTyped] = useState("");
  const navigate = useNavigate();
  const client = useQueryClient();
  const isSelf = useUser().id === account.id;
  const remove = useMutation({
    mutationFn: () => api.delete(path`/api/admin/users/${account.id}`),
    onSuccess() {
      void client.invalidateQueries({ queryKey: ["admin", "users"] });
      showToast(t("The account is deleted."));
      navigate("/admin/users");
    },
  });
  if (isSelf) return null;
  return (
    <Section
      title={t("Delete")}
      hint={t("Deletes the account with its agents, their conversations and memory. This can't be undone.")}
      actions={
        <Button look="danger" onClick={() => setOpen(true)}>
          {t("Delete the account")}
        </Button>
      }
    >
      <p className="text-soft">{t("To lock somebody out, turn off “May sign in” instead: everything is kept then.")}</p>
      {isOpen && (
        <FormDialog
          title={t("Delete {email}?", { email: account.email })}
          action={t("Delete for good")}
          look="danger"
          isBusy={remove.isPending}
          isIncomplete={typed !== account.email}
          onSubmit={() => remove.mutate()}
          onClose={() => setOpen(false)}
          error={remove.error}
        >
          <p>
            {tn(
              "{n} agent is deleted with it, with all it knows. This can't be undone.",
              "{n} agents are deleted with it, with all they know. This can't be undone.",
              account.agents,
            )}
          </p>
          <TextField
            label={t("Type the email address to confirm")}
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
            hint={account.email}
          />
        </FormDialog>
      )}
    </Section>
  );
}
