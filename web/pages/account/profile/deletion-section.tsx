// The end of the account: what goes with it, and the address typed as a confirmation.

import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../../api/api.ts";
import { messageFor } from "../../../api/errors.ts";
import { Button } from "../../../parts/button.tsx";
import { TextField } from "../../../parts/forms/field.tsx";
import { FormDialog } from "../../../parts/forms/form-dialog.tsx";
import { PasswordField } from "../../../parts/forms/password-field.tsx";
import { Section } from "../../../parts/page/page.tsx";
import { useUser } from "../../../session/session.tsx";
import { t } from "../../../viewer/language.ts";
import { isConfirmationWanted, SignInAgainDialog } from "../confirmation.tsx";

export function DeletionSection() {
  const [isOpen, setOpen] = useState(false);
  return (
    <Section
      title={t("Delete the account")}
      actions={
        <Button look="danger" onClick={() => setOpen(true)}>
          {t("Delete the account…")}
        </Button>
      }
    >
      <p className="max-w-prose text-soft">
        {t(
          "Stops and removes all your agents with their conversations, memory and files, and ends every session and API key. It can't be undone. To keep an agent, export it first.",
        )}
      </p>
      {isOpen && <DeletionDialog onClose={() => setOpen(false)} />}
    </Section>
  );
}

function DeletionDialog({ onClose }: { onClose: () => void }) {
  const { email, hasPassword } = useUser();
  const [typed, setTyped] = useState("");
  const [password, setPassword] = useState("");
  const remove = useMutation({
    mutationFn: () => api.delete("/api/settings", hasPassword ? { password } : {}),
    onSuccess: () => location.assign("/"),
  });
  const { error } = remove;
  const passwordError = messageFor(error, "BAD_CREDENTIALS");
  if (!hasPassword && isConfirmationWanted(error)) return <SignInAgainDialog onClose={onClose} />;
  return (
    <FormDialog
      title={t("Delete the account for good")}
      action={t("Delete everything")}
      look="danger"
      cancel={t("Keep it")}
      isBusy={remove.isPending}
      isIncomplete={typed.trim().toLowerCase() !== email || (hasPassword && !password)}
      onSubmit={() => remove.mutate()}
      onClose={onClose}
      error={passwordError ? undefined : error}
    >
      <TextField
        label={t("Type {email} to confirm", { email })}
        autoCapitalize="none"
        spellCheck={false}
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
      />
      {hasPassword && (
        <PasswordField label={t("Current password")} value={password} onChange={setPassword} error={passwordError} />
      )}
    </FormDialog>
  );
}
