// Changes the password, or sets the first one of an account that has none.

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { MIN_PASSWORD_LENGTH } from "../../../../plugins/auth/password/length.ts";
import { api } from "../../../api/api.ts";
import { ApiError } from "../../../api/errors.ts";
import { Button } from "../../../parts/button.tsx";
import { ErrorNote } from "../../../parts/error-note.tsx";
import { Form } from "../../../parts/forms/form.tsx";
import { PasswordField } from "../../../parts/forms/password-field.tsx";
import { Section } from "../../../parts/page/page.tsx";
import { showToast } from "../../../parts/toast.tsx";
import { USER_KEY, useUser } from "../../../session/session.tsx";
import { t } from "../../../viewer/language.ts";
import { isConfirmationWanted, SignInAgainDialog } from "../confirmation.tsx";

export function PasswordSection() {
  const { email, hasPassword } = useUser();
  const queries = useQueryClient();
  const [currentPassword, setCurrent] = useState("");
  const [newPassword, setNew] = useState("");
  const change = useMutation({
    mutationFn: () => api.post("/api/settings/password", { newPassword, ...(hasPassword && { currentPassword }) }),
    onSuccess() {
      setCurrent("");
      setNew("");
      showToast(t("Password saved. All other devices are signed out."));
      void queries.invalidateQueries({ queryKey: USER_KEY });
    },
  });
  const { error } = change;
  const isCurrentWrong = error instanceof ApiError && error.code === "BAD_CREDENTIALS";
  const isNewRefused = error instanceof ApiError && ["INVALID_PASSWORD", "PASSWORD_TOO_COMMON"].includes(error.code);
  const isLongEnough = [...newPassword].length >= MIN_PASSWORD_LENGTH;
  const isNotAddress = newPassword !== "" && newPassword.trim().toLowerCase() !== email;
  return (
    <Section
      title={t("Password")}
      hint={hasPassword ? undefined : t("Your account has none: you sign in with a provider or a wallet.")}
    >
      <Form
        className="flex max-w-sm flex-col gap-3"
        onSubmit={() => {
          change.mutate();
        }}
      >
        {/* Password managers file the new password under this name. */}
        <input type="hidden" name="username" autoComplete="username" value={email} readOnly />
        {hasPassword && (
          <PasswordField
            label={t("Current password")}
            value={currentPassword}
            onChange={setCurrent}
            error={isCurrentWrong ? error.message : undefined}
          />
        )}
        <PasswordField
          label={t("New password")}
          autoComplete="new-password"
          value={newPassword}
          onChange={setNew}
          error={isNewRefused ? error.message : undefined}
          rules={[
            { label: t("At least {count} characters", { count: MIN_PASSWORD_LENGTH }), isMet: isLongEnough },
            { label: t("Not your email address"), isMet: isNotAddress },
          ]}
        />
        {error && !isCurrentWrong && !isNewRefused && !isConfirmationWanted(error) && <ErrorNote error={error} />}
        <div>
          <Button
            type="submit"
            look="primary"
            isBusy={change.isPending}
            disabled={!isLongEnough || !isNotAddress || (hasPassword && !currentPassword)}
          >
            {hasPassword ? t("Change the password") : t("Set a password")}
          </Button>
        </div>
      </Form>
      {isConfirmationWanted(error) && <SignInAgainDialog onClose={() => change.reset()} />}
    </Section>
  );
}
