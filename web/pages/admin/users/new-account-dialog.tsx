// Makes an account; its owner sets the password through a mailed link.

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { useNavigate } from "../../../app/address.ts";
import { api } from "../../../app/api.ts";
import { ApiError } from "../../../app/errors.ts";
import { t } from "../../../app/language.ts";
import { Button } from "../../../parts/button.tsx";
import { Dialog } from "../../../parts/dialog.tsx";
import { ErrorNote } from "../../../parts/error-note.tsx";
import { CheckField, TextField } from "../../../parts/field.tsx";
import { showToast } from "../../../parts/toast.tsx";
import type { AccountDetail } from "../api-types.ts";

const FORM = "new-account";

export function NewAccountDialog({ onClose }: { onClose: () => void }) {
  const [email, setEmail] = useState("");
  const [name, setName] = useState("");
  const [isAdmin, setAdmin] = useState(false);
  const navigate = useNavigate();
  const client = useQueryClient();
  const create = useMutation({
    mutationFn: () =>
      api.post<AccountDetail>("/api/admin/users", { email, isAdmin, emailVerified: true, ...(name && { name }) }),
    onSuccess({ id }) {
      void client.invalidateQueries({ queryKey: ["admin", "users"] });
      showToast(t("The account was made. Its owner gets a mail with a link to set a password."));
      navigate(`/admin/users/${id}`);
    },
  });
  const { error } = create;
  const issue = (path: string) => (error instanceof ApiError ? error.issueAt(path) : undefined);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    create.mutate();
  };
  return (
    <Dialog
      title={t("New account")}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{t("Cancel")}</Button>
          <Button look="primary" type="submit" form={FORM} isBusy={create.isPending}>
            {t("Make the account")}
          </Button>
        </>
      }
    >
      <form id={FORM} onSubmit={submit} className="flex flex-col gap-4">
        <TextField
          label={t("Email address")}
          type="email"
          required
          value={email}
          onChange={(event) => setEmail(event.target.value)}
          error={issue("email")}
          hint={t("A link to set a password is mailed to it. It counts as verified.")}
        />
        <TextField
          label={t("Name (optional)")}
          maxLength={200}
          value={name}
          onChange={(event) => setName(event.target.value)}
          error={issue("name")}
        />
        <CheckField
          label={t("May administer this server")}
          hint={t("Sees all accounts, costs and settings, and can change them.")}
          checked={isAdmin}
          onChange={(event) => setAdmin(event.target.checked)}
        />
        {error && !issue("email") && !issue("name") && <ErrorNote error={error} />}
      </form>
    </Dialog>
  );
}
