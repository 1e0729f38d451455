// Turns two-factor off, with the password and a code.

import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../../api/api.ts";
import { messageFor } from "../../../api/errors.ts";
import { TextField } from "../../../parts/forms/field.tsx";
import { FormDialog } from "../../../parts/forms/form-dialog.tsx";
import { PasswordField } from "../../../parts/forms/password-field.tsx";
import { showToast } from "../../../parts/toast.tsx";
import { useUser } from "../../../session/session.tsx";
import { t } from "../../../viewer/language.ts";
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
  const passwordError = messageFor(error, "BAD_CREDENTIALS");
  const codeError = messageFor(error, "INVALID_CODE");
  if (isConfirmationWanted(error)) return <SignInAgainDialog onClose={onClose} />;
  return (
    <FormDialog
      title={t("Turn two-factor off")}
      action={t("Turn it off")}
      look="danger"
      cancel={t("Keep it on")}
      isBusy={turnOff.isPending}
      isIncomplete={!code}
      onSubmit={() => turnOff.mutate()}
      onClose={onClose}
      error={passwordError || codeError ? undefined : error}
    >
      <p className="text-soft">{t("From then on your password alone signs you in. The recovery codes end.")}</p>
      {hasPassword && (
        <PasswordField label={t("Current password")} value={password} onChange={setPassword} error={passwordError} />
      )}
      <TextField
        label={t("Code of your authenticator app, or a recovery code")}
        autoComplete="one-time-code"
        value={code}
        error={codeError}
        onChange={(event) => setCode(event.target.value)}
      />
    </FormDialog>
  );
}
