// Turns two-factor on in three steps: the password, the QR code with a first code, and the recovery codes to keep.

import { useMutation } from "@tanstack/react-query";
import { type FormEvent, type ReactNode, useState } from "react";
import { api } from "../../../app/api.ts";
import { ApiError } from "../../../app/errors.ts";
import { t } from "../../../app/language.ts";
import { useUser } from "../../../app/session.tsx";
import { Button } from "../../../parts/button.tsx";
import { CopyButton } from "../../../parts/copy-button.tsx";
import { Dialog } from "../../../parts/dialog.tsx";
import { ErrorNote } from "../../../parts/error-note.tsx";
import { TextField } from "../../../parts/field.tsx";
import { PasswordField } from "../../../parts/password-field.tsx";
import { QrCode } from "../../../parts/qr-code.tsx";
import { isConfirmationWanted, SignInAgainDialog } from "../confirmation.tsx";
import { RecoveryCodes } from "./recovery-codes.tsx";

/** Kept here only, never in the cache of queries. */
interface Enrolment {
  secret: string;
  otpauthUrl: string;
  recoveryCodes: string[];
}

const FORM = "enrolment";

export default function EnrolmentDialog({ onClose }: { onClose: () => void }) {
  const [enrolment, setEnrolment] = useState<Enrolment>();
  const [isOn, setOn] = useState(false);
  if (!enrolment) return <BeginDialog onClose={onClose} onBegun={setEnrolment} />;
  if (!isOn) return <CodeDialog enrolment={enrolment} onClose={onClose} onDone={() => setOn(true)} />;
  return <CodesDialog codes={enrolment.recoveryCodes} onClose={onClose} />;
}

interface StepProps {
  title: string;
  onClose: () => void;
  onSubmit: () => void;
  isBusy: boolean;
  canSubmit: boolean;
  children: ReactNode;
}

function Step({ title, onClose, onSubmit, isBusy, canSubmit, children }: StepProps) {
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSubmit();
  };
  return (
    <Dialog
      title={title}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{t("Cancel")}</Button>
          <Button look="primary" type="submit" form={FORM} isBusy={isBusy} disabled={!canSubmit}>
            {t("Continue")}
          </Button>
        </>
      }
    >
      <form id={FORM} className="flex flex-col gap-3" onSubmit={submit}>
        {children}
      </form>
    </Dialog>
  );
}

function BeginDialog({ onClose, onBegun }: { onClose: () => void; onBegun: (enrolment: Enrolment) => void }) {
  const { hasPassword } = useUser();
  const [password, setPassword] = useState("");
  const begin = useMutation({
    mutationFn: () => api.post<Enrolment>("/api/settings/2fa", hasPassword ? { password } : {}),
    onSuccess: onBegun,
  });
  const { error } = begin;
  const isPasswordWrong = error instanceof ApiError && error.code === "BAD_CREDENTIALS";
  if (isConfirmationWanted(error)) return <SignInAgainDialog onClose={onClose} />;
  return (
    <Step
      title={t("Turn two-factor on: 1 of 3")}
      onClose={onClose}
      onSubmit={() => begin.mutate()}
      isBusy={begin.isPending}
      canSubmit={!hasPassword || password !== ""}
    >
      <p>
        {t(
          "You need an authenticator app on your phone, such as Aegis, 2FAS, Google Authenticator or your password manager.",
        )}
      </p>
      {hasPassword && (
        <PasswordField
          label={t("Current password")}
          data-autofocus
          value={password}
          onChange={setPassword}
          error={isPasswordWrong ? error.message : undefined}
        />
      )}
      {error && !isPasswordWrong && <ErrorNote error={error} />}
    </Step>
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
  const isCodeWrong = error instanceof ApiError && error.code === "INVALID_CODE";
  return (
    <Step
      title={t("Turn two-factor on: 2 of 3")}
      onClose={onClose}
      onSubmit={() => confirm.mutate()}
      isBusy={confirm.isPending}
      canSubmit={code !== ""}
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
        data-autofocus
        autoComplete="one-time-code"
        inputMode="numeric"
        value={code}
        error={isCodeWrong ? error.message : undefined}
        onChange={(event) => setCode(event.target.value)}
      />
      {error && !isCodeWrong && <ErrorNote error={error} />}
    </Step>
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
