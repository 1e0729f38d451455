// Makes a webhook, and shows its secret once.

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useNavigate } from "../../app/address.ts";
import { api } from "../../app/api.ts";
import { ApiError } from "../../app/errors.ts";
import { t } from "../../app/language.ts";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { TextField } from "../../parts/field.tsx";
import { SecretNote } from "./secret-note.tsx";
import { TypeChoice } from "./type-choice.tsx";
import { WEBHOOKS_KEY, type Webhook } from "./webhook.ts";

export function NewWebhook({ onClose }: { onClose: () => void }) {
  const [url, setUrl] = useState("");
  const [description, setDescription] = useState("");
  const [types, setTypes] = useState(["*"]);
  const client = useQueryClient();
  const navigate = useNavigate();
  const { mutate, isPending, error, data } = useMutation({
    mutationFn: () =>
      api.post<Webhook & { secret: string | null }>("/api/webhooks", { url: url.trim(), types, description }),
    gcTime: 0,
    onSettled: () => client.invalidateQueries({ queryKey: WEBHOOKS_KEY }),
  });
  if (data?.secret) {
    const leave = () => {
      onClose();
      navigate(`/webhooks/${data.id}`);
    };
    return (
      <Dialog
        title={t("Your webhook is ready")}
        onClose={leave}
        actions={
          <Button look="primary" onClick={leave}>
            {t("I have kept the secret")}
          </Button>
        }
      >
        <SecretNote secret={data.secret} />
      </Dialog>
    );
  }
  const issue = (field: string) => (error instanceof ApiError ? error.issueAt(field) : undefined);
  return (
    <Dialog
      title={t("New webhook")}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{t("Cancel")}</Button>
          <Button
            look="primary"
            type="submit"
            form="new-webhook"
            isBusy={isPending}
            disabled={url.trim() === "" || types.length === 0}
          >
            {t("Make the webhook")}
          </Button>
        </>
      }
    >
      <form
        id="new-webhook"
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          if (!isPending) mutate();
        }}
      >
        <TextField
          label={t("Address")}
          type="url"
          placeholder="https://example.com/berth"
          value={url}
          onChange={({ target }) => setUrl(target.value)}
          hint={t("It gets a POST with JSON for each event, and should answer within seconds.")}
          error={issue("url")}
        />
        <TextField
          label={t("What it is for")}
          value={description}
          onChange={({ target }) => setDescription(target.value)}
          hint={t("Only for you.")}
          maxLength={500}
        />
        <TypeChoice types={types} onChange={setTypes} />
        {error && !issue("url") && <ErrorNote error={error} />}
      </form>
    </Dialog>
  );
}
