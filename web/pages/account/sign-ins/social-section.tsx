// The social identity of the account, which token-gated agents ask for.

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../../api/api.ts";
import { ApiError } from "../../../api/errors.ts";
import { Button } from "../../../parts/button.tsx";
import { Dialog } from "../../../parts/dialog.tsx";
import { ErrorNote, messageOf } from "../../../parts/error-note.tsx";
import { TextField } from "../../../parts/forms/field.tsx";
import { Form } from "../../../parts/forms/form.tsx";
import { Section } from "../../../parts/page/page.tsx";
import { Skeleton } from "../../../parts/skeleton.tsx";
import { showError, showToast } from "../../../parts/toast.tsx";
import { When } from "../../../parts/values/when.tsx";
import { t } from "../../../viewer/language.ts";

interface SocialIdentity {
  fid: string | null;
  linkedAt: string | null;
}

const KEY = ["social-identity"] as const;

export function SocialSection() {
  const queries = useQueryClient();
  const [isOpen, setOpen] = useState(false);
  const { data, error, refetch } = useQuery({
    queryKey: KEY,
    queryFn: () => api.get<SocialIdentity>("/api/settings/social"),
  });
  const unlink = useMutation({
    mutationFn: () => api.delete("/api/settings/social"),
    onSuccess: () => showToast(t("The social identity is no longer linked")),
    onError: (failure) => showError(messageOf(failure)),
    onSettled: () => queries.invalidateQueries({ queryKey: KEY }),
  });
  return (
    <Section
      title={t("Social identity")}
      hint={t(
        "Your number at Farcaster. It shows who you are to apps that use this service; it does not sign you in here.",
      )}
      actions={
        data && (
          <>
            <Button onClick={() => setOpen(true)}>{data.fid ? t("Link another one…") : t("Link one…")}</Button>
            {data.fid && (
              <Button isBusy={unlink.isPending} onClick={() => unlink.mutate()}>
                {t("Unlink")}
              </Button>
            )}
          </>
        )
      }
    >
      {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Skeleton className="h-5 w-48" />}
      {data?.fid && (
        <p>
          {t("Number {fid}", { fid: data.fid })}
          {data.linkedAt && (
            <span className="text-soft">
              {" · "}
              {t("linked")} <When at={data.linkedAt} />
            </span>
          )}
        </p>
      )}
      {data && !data.fid && (
        <p className="max-w-prose text-soft">
          {t(
            "None is linked. An app in which you are signed in at Farcaster gives you a token that proves who you are.",
          )}
        </p>
      )}
      {isOpen && <LinkDialog onClose={() => setOpen(false)} />}
    </Section>
  );
}

/** Takes the token that such an app shows. It is valid for minutes, and is not kept. */
function LinkDialog({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient();
  const [fidToken, setToken] = useState("");
  const link = useMutation({
    gcTime: 0,
    mutationFn: () => api.post<SocialIdentity>("/api/settings/social", { fidToken: fidToken.trim() }),
    onSuccess(identity) {
      queries.setQueryData(KEY, { fid: identity.fid, linkedAt: identity.linkedAt });
      showToast(t("The social identity is linked"));
      onClose();
    },
  });
  const { error } = link;
  const isInvalid = error instanceof ApiError && ["INVALID_TOKEN", "INVALID_INPUT"].includes(error.code);
  return (
    <Dialog
      title={t("Link a social identity")}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{t("Cancel")}</Button>
          <Button look="primary" type="submit" form="link-social" isBusy={link.isPending}>
            {t("Link it")}
          </Button>
        </>
      }
    >
      <Form
        id="link-social"
        className="flex flex-col gap-3"
        onSubmit={() => {
          if (!link.isPending) link.mutate();
        }}
      >
        <TextField
          label={t("Identity token")}
          type="password"
          name="identity-token"
          required
          autoComplete="off"
          spellCheck={false}
          data-autofocus
          className="font-mono"
          value={fidToken}
          hint={t("Get one in the app that uses this service, and paste it here. It works for a few minutes.")}
          error={isInvalid ? t("This token is not valid, or no longer. Get a new one in the app.") : undefined}
          onChange={(event) => setToken(event.target.value)}
        />
        {error && !isInvalid && <ErrorNote error={error} />}
      </Form>
    </Dialog>
  );
}
