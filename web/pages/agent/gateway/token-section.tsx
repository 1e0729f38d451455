// The token of the gateway: shown only when it is asked for, and replaced.

import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { api, path } from "../../../api/api.ts";
import { Button } from "../../../parts/button.tsx";
import { ErrorNote } from "../../../parts/error-note.tsx";
import { FormDialog } from "../../../parts/forms/form-dialog.tsx";
import { Section } from "../../../parts/page/page.tsx";
import { showToast } from "../../../parts/toast.tsx";
import { SecretValue } from "../../../parts/values/secret-value.tsx";
import { t } from "../../../viewer/language.ts";
import { useAgent } from "../agent.tsx";

export function TokenSection() {
  const agent = useAgent();
  const [token, setToken] = useState<string>();
  const [isAsking, setAsking] = useState(false);
  const show = useMutation({
    mutationFn: () => api.get<{ token: string }>(path`/api/agents/${agent.id}/token`),
    onSuccess: (answer) => setToken(answer.token),
  });
  const rotate = useMutation({
    mutationFn: () => api.post<{ token: string }>(path`/api/agents/${agent.id}/token/rotate`, {}),
    onSuccess(answer) {
      setToken(answer.token);
      setAsking(false);
      showToast(t("The token is replaced. Programs with the old one are cut off."));
    },
  });
  return (
    <Section
      title={t("Token")}
      hint={t("With it a program talks to this agent as you do, and reads its log. It opens nothing else.")}
    >
      <div className="flex flex-col items-start gap-3">
        <div className="flex max-w-full flex-wrap items-center gap-2">
          <SecretValue
            label={t("Token of the gateway")}
            value={token}
            isBusy={show.isPending}
            onShow={() => show.mutate()}
            onHide={() => setToken(undefined)}
          />
          <Button onClick={() => setAsking(true)}>{t("Replace the token")}</Button>
        </div>
        {show.error && <ErrorNote error={show.error} onRetry={() => show.mutate()} />}
      </div>
      {isAsking && (
        <FormDialog
          title={t("Replace the token?")}
          action={t("Replace it")}
          look="danger"
          cancel={t("Keep it")}
          isBusy={rotate.isPending}
          error={rotate.error}
          onSubmit={() => rotate.mutate()}
          onClose={() => setAsking(false)}
        >
          <p>
            {t(
              "Programs that use the old token are disconnected at once, and need the new one. The old one can't be brought back.",
            )}
          </p>
        </FormDialog>
      )}
    </Section>
  );
}
