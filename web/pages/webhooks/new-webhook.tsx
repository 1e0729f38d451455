// Makes a webhook, and shows its secret once.

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../api/api.ts";
import { issueAt } from "../../api/errors.ts";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { TextField } from "../../parts/forms/field.tsx";
import { FormDialog } from "../../parts/forms/form-dialog.tsx";
import { useNavigate } from "../../viewer/address.ts";
import { t } from "../../viewer/language.ts";
import { SecretNote } from "./secret-note.tsx";
import { TypeChoice } from "./type-choice.tsx";
import { WEBHOOKS_KEY, type Webhook } from "./webhook.ts";

interface Props {
  /** What it hears of at first. */
  events?: readonly string[];
  onClose: () => void;
}

export function NewWebhook({ events = ["*"], onClose }: Props) {
  const [url, setUrl] = useState("");
  const [description, setDescription] = useState("");
  const [types, setTypes] = useState([...events]);
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
  const urlError = issueAt(error, "url");
  return (
    <FormDialog
      title={t("New webhook")}
      action={t("Make the webhook")}
      isBusy={isPending}
      isIncomplete={types.length === 0}
      onSubmit={() => mutate()}
      onClose={onClose}
      error={urlError ? undefined : error}
    >
      <TextField
        label={t("Address")}
        type="url"
        required
        placeholder="https://example.com/berth"
        value={url}
        onChange={({ target }) => setUrl(target.value)}
        hint={t("It gets a POST with JSON for each event, and should answer within seconds.")}
        error={urlError}
      />
      <TextField
        label={t("What it is for")}
        value={description}
        onChange={({ target }) => setDescription(target.value)}
        hint={t("Only for you.")}
        maxLength={500}
      />
      <TypeChoice types={types} onChange={setTypes} />
    </FormDialog>
  );
}
