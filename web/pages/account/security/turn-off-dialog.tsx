// Turns two-factor off, with the password and a code.

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
import { PasswordField } from "../../../parts/password-field.tsx";
import { showToast } from "../../../parts/toast.tsx";
import { isConfirmationWanted, SignInAgainDialog } from "../confirmation.tsx";

export function TurnOffDialog({ onClose }: { onClose: () => void }) {
  const { hasPassword } = useUser();
  const [password, setPassword] = useState("");
  const [code, setCode] = useState("");
  const turnOff = useMutation({
    mutationFn: () => api.delete("/api/settings/2fa", { code, ...(hasPassword && { password }) }),
    onSuccess() {
      showToast(t("Two-factor is off."));
      onClose();
    },
  });
  const { error } = turnOff;
  const about = (code: string) => (error instanceof ApiError && error.code === code ? error.message : undefined);
  const passwordError = about("BAD_CREDENTIALS");
  const codeError = about("INVALID_CODE");
  if (isConfirmationWanted(error)) return <SignInAgainDialog onClose={onClose} />;
  return (
    <Dialog
      title={t("Turn two-factor off")}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{t("Keep it on")}</Button>
          <Button look="danger" type="submit" form="turn-off" isBusy={turnOff.isPending} disabled={!code}>
            {t("Turn it off")}
          </Button>
        </>
      }
    >
      <form
        id="turn-off"
        className="flex flex-col gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          turnOff.mutate();
        }}
      >
        <p className="text-soft">{t("From then on your password alone signs you in. The recovery codes end.")}</p>
        {hasPassword && (
          <PasswordField
            label={t("Current password")}
            data-autofocus
            value={password}
            onChange={setPassword}
            error={passwordError}
          />
        )}
        <TextField
          label={t("Code of your authenticator app, or a recovery code")}
          autoComplete="one-time-code"
          value={code}
          error={codeError}
          onChange={(event) => setCode(event.target.value)}
        />
        {error && !passwordError && !codeError && <ErrorNote error={error} />}
      </form>
    </Dialog>
  );
}
