// The end of the account: what goes with it, and the address typed as a confirmation.

import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../../app/api.ts";
import { ApiError } from "../../../app/errors.ts";
import { t } from "../../../app/language.ts";
import { useUser } from "../../../app/session.tsx";
import { Button } from "../../../parts/button.tsx";
import { Dialog } from "../../../parts/dialog.tsx";
import { ErrorNote } from "../../../parts/error-note.tsx";
import { TextField } from "../../../parts/field.tsx";
import { Section } from "../../../parts/page.tsx";
import { PasswordField } from "../../../parts/password-field.tsx";
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
  const isPasswordWrong = error instanceof ApiError && error.code === "BAD_CREDENTIALS";
  if (!hasPassword && isConfirmationWanted(error)) return <SignInAgainDialog onClose={onClose} />;
  return (
    <Dialog
      title={t("Delete the account for good")}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{t("Keep it")}</Button>
          <Button
            look="danger"
            type="submit"
            form="deletion"
            isBusy={remove.isPending}
            disabled={typed.trim().toLowerCase() !== email || (hasPassword && !password)}
          >
            {t("Delete everything")}
          </Button>
        </>
      }
    >
      <form
        id="deletion"
        className="flex flex-col gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          remove.mutate();
        }}
      >
        <TextField
          label={t("Type {email} to confirm", { email })}
          data-autofocus
          autoCapitalize="none"
          spellCheck={false}
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
        />
        {hasPassword && (
          <PasswordField
            label={t("Current password")}
            value={password}
            onChange={setPassword}
            error={isPasswordWrong ? error.message : undefined}
          />
        )}
        {error && !isPasswordWrong && <ErrorNote error={error} />}
      </form>
    </Dialog>
  );
}
