// Makes an account; its owner sets the password through a mailed link.

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../../api/api.ts";
import { issueAt } from "../../../api/errors.ts";
import { CheckField, TextField } from "../../../parts/forms/field.tsx";
import { FormDialog } from "../../../parts/forms/form-dialog.tsx";
import { showToast } from "../../../parts/toast.tsx";
import { useNavigate } from "../../../viewer/address.ts";
import { t } from "../../../viewer/language.ts";
import type { AccountDetail } from "../api-types.ts";

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
  const emailError = issueAt(error, "email");
  const nameError = issueAt(error, "name");
  return (
    <FormDialog
      title={t("New account")}
      action={t("Make the account")}
      isBusy={create.isPending}
      onSubmit={() => create.mutate()}
      onClose={onClose}
      error={emailError || nameError ? undefined : error}
    >
      <TextField
        label={t("Email address")}
        type="email"
        required
        value={email}
        onChange={(event) => setEmail(event.target.value)}
        error={emailError}
        hint={t("A link to set a password is mailed to it. It counts as verified.")}
      />
      <TextField
        label={t("Name (optional)")}
        maxLength={200}
        value={name}
        onChange={(event) => setName(event.target.value)}
        error={nameError}
      />
      <CheckField
        label={t("May administer this server")}
        hint={t("Sees all accounts, costs and settings, and can change them.")}
        checked={isAdmin}
        onChange={(event) => setAdmin(event.target.checked)}
      />
    </FormDialog>
  );
}
