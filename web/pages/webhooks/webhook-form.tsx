// The address, purpose and types of a webhook.

import { issueAt } from "../../api/errors.ts";
import { Button } from "../../parts/button.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { TextField } from "../../parts/forms/field.tsx";
import { Form } from "../../parts/forms/form.tsx";
import { useTyped } from "../../parts/forms/use-typed.ts";
import { t } from "../../viewer/language.ts";
import { TypeChoice } from "./type-choice.tsx";
import type { Webhook } from "./webhook.ts";

interface Props {
  webhook: Webhook;
  isBusy: boolean;
  error: Error | null;
  onSave: (changes: Partial<Webhook>, onSaved: { onSuccess: () => void }) => void;
}

export function WebhookForm({ webhook, isBusy, error, onSave }: Props) {
  const [url, setUrl] = useTyped(webhook.url);
  const [description, setDescription] = useTyped(webhook.description);
  const [typeList, setTypes] = useTyped(webhook.types.join());
  const types = typeList.split(",").filter(Boolean);
  const issue = issueAt(error, "url");
  const isSame = url === webhook.url && description === webhook.description && typeList === webhook.types.join();
  return (
    <Form
      className="flex flex-col items-start gap-4"
      onSubmit={() => {
        // Then the fields show what is stored.
        const onSuccess = () => {
          for (const follow of [setUrl, setDescription, setTypes]) follow(undefined);
        };
        onSave({ url: url.trim(), description, types }, { onSuccess });
      }}
    >
      <div className="grid w-full gap-4 sm:grid-cols-2">
        <TextField
          label={t("Address")}
          type="url"
          value={url}
          onChange={({ target }) => setUrl(target.value)}
          error={issue}
        />
        <TextField
          label={t("What it is for")}
          value={description}
          maxLength={500}
          onChange={({ target }) => setDescription(target.value)}
        />
      </div>
      <TypeChoice types={types} onChange={(chosen) => setTypes(chosen.join())} />
      {error && !issue && <ErrorNote error={error} />}
      <Button type="submit" isBusy={isBusy} disabled={isSame || types.length === 0}>
        {t("Save")}
      </Button>
    </Form>
  );
}
