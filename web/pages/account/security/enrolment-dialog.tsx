// Turns two-factor on in three steps: the password, the QR code with a first code, and the recovery codes to keep.

import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../../api/api.ts";
import { messageFor } from "../../../api/errors.ts";
import { Button } from "../../../parts/button.tsx";
import { Dialog } from "../../../parts/dialog.tsx";
import { TextField } from "../../../parts/forms/field.tsx";
import { FormDialog } from "../../../parts/forms/form-dialog.tsx";
import { PasswordField } from "../../../parts/forms/password-field.tsx";
import { CopyButton } from "../../../parts/values/copy-button.tsx";
import { QrCode } from "../../../parts/values/qr-code.tsx";
import { useUser } from "../../../session/session.tsx";
import { t } from "../../../viewer/language.ts";
import { isConfirmationWanted, SignInAgainDialog } from "../confirmation.tsx";
import { RecoveryCodes } from "./recovery-codes.tsx";

/** Kept here only, never in the cache of queries. */
interface Enrolment {
  secret: string;
  otpauthUrl: string;
  recoveryCodes: string[];
}

export default function EnrolmentDialog({ onClose }: { onClose: () => void }) {
  const [enrolment, setEnrolment] = useState<Enrolment>();
  const [isOn, setOn] = useState(false);
  if (!enrolment) return <BeginDialog onClose={onClose} onBegun={setEnrolment} />;
  if (!isOn) return <CodeDialog enrolment={enrolment} onClose={onClose} onDone={() => setOn(true)} />;
  return <CodesDialog codes={enrolment.recoveryCodes} onClose={onClose} />;
}

function BeginDialog({ onClose, onBegun }: { onClose: () => void; onBegun: (enrolment: Enrolment) => void }) {
  const { hasPassword } = useUser();
  const [password, setPassword] = useState("");
  const begin = useMutation({
    mutationFn: () => api.post<Enrolment>("/api/settings/2fa", hasPassword ? { password } : {}),
    onSuccess: onBegun,
  });
  const { error } = begin;
  const passwordError = messageFor(error, "BAD_CREDENTIALS");
  if (isConfirmationWanted(error)) return <SignInAgainDialog onClose={onClose} />;
  return (
    <FormDialog
      title={t("Turn two-factor on: 1 of 3")}
      onClose={onClose}
      onSubmit={() => begin.mutate()}
      action={t("Continue")}
      isBusy={begin.isPending}
      isIncomplete={hasPassword && password === ""}
      error={passwordError ? undefined : error}
    >
      <p>
        {t(
          "You need an authenticator app on your phone, such as Aegis, 2FAS, Google Authenticator or your password manager.",
        )}
      </p>
      {hasPassword && (
        <PasswordField label={t("Current password")} value={password} onChange={setPassword} error={passwordError} />
      )}
    </FormDialog>
  );
}

interface CodeProps {
  enrolment: Enrolment;
  onClose: () => void;
  onDone: () => void;
}

function CodeDialog({ enrolment: { secret, otpauthUrl }, onClose, onDone }: CodeProps) {
  const [code, setCode] = useState("");
  const confirm = useMutation({
    mutationFn: () => api.post("/api/settings/2fa/confirm", { code }),
    onSuccess: onDone,
  });
  const { error } = confirm;
  const codeError = messageFor(error, "INVALID_CODE");
  return (
    <FormDialog
      title={t("Turn two-factor on: 2 of 3")}
      onClose={onClose}
      onSubmit={() => confirm.mutate()}
      action={t("Continue")}
      isBusy={confirm.isPending}
      isIncomplete={code === ""}
      error={codeError ? undefined : error}
    >
      <p>{t("Scan this picture with the app, or type the key into it.")}</p>
      <div className="flex flex-wrap items-center gap-4">
        <QrCode value={otpauthUrl} label={t("QR code of the key")} />
        <div className="min-w-0 flex-1">
          <p className="text-soft text-sm">{t("Key")}</p>
          <div className="flex items-start gap-1">
            <code className="break-all font-mono text-sm">{secret.replace(/(.{4})(?=.)/g, "$1 ")}</code>
            <CopyButton value={secret} label={t("Copy the key")} />
          </div>
        </div>
      </div>
      <TextField
        label={t("Code that the app shows now")}
        autoComplete="one-time-code"
        inputMode="numeric"
        value={code}
        error={codeError}
        onChange={(event) => setCode(event.target.value)}
      />
    </FormDialog>
  );
}

function CodesDialog({ codes, onClose }: { codes: string[]; onClose: () => void }) {
  return (
    <Dialog
      title={t("Two-factor is on: keep these codes")}
      onClose={onClose}
      actions={
        <Button look="primary" onClick={onClose}>
          {t("I have kept them")}
        </Button>
      }
    >
      <RecoveryCodes codes={codes} />
    </Dialog>
  );
}
