// Makes an API key, and shows it once.

import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../../api/api.ts";
import { issueAt } from "../../../api/errors.ts";
import { Button } from "../../../parts/button.tsx";
import { Dialog } from "../../../parts/dialog.tsx";
import { CheckField, SelectField, TextField } from "../../../parts/forms/field.tsx";
import { FormDialog } from "../../../parts/forms/form-dialog.tsx";
import { CodeBlock } from "../../../parts/text/code-block.tsx";
import { t, text } from "../../../viewer/language.ts";

const DAY_MS = 86_400_000;

const SCOPES = [
  { scope: "read", label: text("Read"), hint: text("See agents, conversations, logs and figures.") },
  { scope: "chat", label: text("Talk to agents"), hint: text("Send messages and get replies. They cost like yours.") },
  { scope: "write", label: text("Change"), hint: text("Make, set up, stop and delete agents, and everything else.") },
] as const;

const LIFETIMES = [
  { days: 7, label: text("A week") },
  { days: 30, label: text("30 days") },
  { days: 90, label: text("90 days") },
  { days: 365, label: text("A year") },
  { days: 0, label: text("No end") },
] as const;

export function NewKeyDialog({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState("");
  const [scopes, setScopes] = useState<ReadonlySet<string>>(new Set(["read", "chat"]));
  const [days, setDays] = useState(90);
  // The mutation, with the key in it, is gone as soon as the dialog is closed.
  const make = useMutation({
    gcTime: 0,
    mutationFn: () =>
      api.post<{ key: string }>("/api/keys", {
        name,
        scopes: [...scopes],
        ...(days > 0 && { expiresAt: new Date(Date.now() + days * DAY_MS).toISOString() }),
      }),
  });
  const toggle = (scope: string) =>
    setScopes((before) => {
      const next = new Set(before);
      if (!next.delete(scope)) next.add(scope);
      return next;
    });
  if (make.data) return <MadeDialog value={make.data.key} onClose={onClose} />;
  const nameError = issueAt(make.error, "name");
  return (
    <FormDialog
      title={t("New API key")}
      action={t("Make the key")}
      isBusy={make.isPending}
      isIncomplete={scopes.size === 0}
      onSubmit={() => make.mutate()}
      onClose={onClose}
      error={nameError ? undefined : make.error}
    >
      <TextField
        label={t("Name")}
        hint={t("The program that uses it, such as “laptop” or “monitoring”.")}
        required
        maxLength={200}
        value={name}
        error={nameError}
        onChange={(event) => setName(event.target.value)}
      />
      <fieldset className="flex flex-col gap-2">
        <legend className="mb-1 font-medium">{t("What it may do")}</legend>
        {SCOPES.map(({ scope, label, hint }) => (
          <CheckField
            key={scope}
            label={t(label)}
            hint={t(hint)}
            checked={scopes.has(scope)}
            onChange={() => toggle(scope)}
          />
        ))}
      </fieldset>
      <SelectField
        label={t("How long it works")}
        value={days}
        onChange={(event) => setDays(Number(event.target.value))}
      >
        {LIFETIMES.map((lifetime) => (
          <option key={lifetime.days} value={lifetime.days}>
            {t(lifetime.label)}
          </option>
        ))}
      </SelectField>
    </FormDialog>
  );
}

const MadeDialog = ({ value, onClose }: { value: string; onClose: () => void }) => (
  <Dialog
    title={t("Your new key")}
    onClose={onClose}
    actions={
      <Button look="primary" onClick={onClose}>
        {t("I have copied it")}
      </Button>
    }
  >
    <div className="flex flex-col gap-3">
      <p>{t("It is shown only now. Whoever has it can use it: keep it like a password.")}</p>
      <CodeBlock code={value} label={t("API key")} />
      <p className="text-soft">{t("Try it in a terminal:")}</p>
      <CodeBlock
        code={`curl ${location.origin}/api/agents -H "Authorization: Bearer ${value}"`}
        label={t("Command to try the key")}
      />
    </div>
  </Dialog>
);
