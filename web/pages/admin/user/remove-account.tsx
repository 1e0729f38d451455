// Deletes an account with its agents, once its address is typed.

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { useNavigate } from "../../../app/address.ts";
import { api, path } from "../../../app/api.ts";
import { t, tn } from "../../../app/language.ts";
import { useUser } from "../../../app/session.tsx";
import { Button } from "../../../parts/button.tsx";
import { Dialog } from "../../../parts/dialog.tsx";
import { ErrorNote } from "../../../parts/error-note.tsx";
import { TextField } from "../../../parts/field.tsx";
import { Section } from "../../../parts/page.tsx";
import { showToast } from "../../../parts/toast.tsx";
import type { AccountDetail } from "../api-types.ts";

const FORM = "remove-account";

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
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (typed === account.email) remove.mutate();
  };
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
        <Dialog
          title={t("Delete {email}?", { email: account.email })}
          onClose={() => setOpen(false)}
          actions={
            <>
              <Button onClick={() => setOpen(false)}>{t("Cancel")}</Button>
              <Button
                look="danger"
                type="submit"
                form={FORM}
                disabled={typed !== account.email}
                isBusy={remove.isPending}
              >
                {t("Delete for good")}
              </Button>
            </>
          }
        >
          <form id={FORM} onSubmit={submit} className="flex flex-col gap-4">
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
            {remove.error && <ErrorNote error={remove.error} />}
          </form>
        </Dialog>
      )}
    </Section>
  );
}
