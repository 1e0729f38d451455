// The agent's own keys of AI providers: set and cleared, never shown.

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, path } from "../../../api/api.ts";
import { Button } from "../../../parts/button.tsx";
import { ErrorNote, messageOf } from "../../../parts/error-note.tsx";
import { TextField } from "../../../parts/forms/field.tsx";
import { Form } from "../../../parts/forms/form.tsx";
import { Section } from "../../../parts/page/page.tsx";
import { Skeleton } from "../../../parts/skeleton.tsx";
import { showToast } from "../../../parts/toast.tsx";
import { Status } from "../../../parts/values/status.tsx";
import { t } from "../../../viewer/language.ts";

export interface Credential {
  key: string;
  label: string;
  configured: boolean;
  /** Below the label. */
  hint?: string;
  /** It can be shown while it is typed, as an address can. */
  isOpen?: boolean;
}

export function ProviderKeys({ agentId }: { agentId: string }) {
  const { data, error, refetch } = useQuery({
    queryKey: ["agent", agentId, "credentials"],
    queryFn: () => api.get<{ credentials: Credential[] }>(path`/api/agents/${agentId}/credentials`),
  });
  return (
    <Section
      title={t("Keys of AI providers")}
      hint={t(
        "With a key of its own, this agent calls the provider at your cost, and not at that of the server. A key is never shown again.",
      )}
    >
      {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Skeleton className="h-32" />}
      <ul className="flex flex-col">
        {data?.credentials.map((credential) => (
          <ProviderKey key={credential.key} agentId={agentId} credential={credential} />
        ))}
      </ul>
    </Section>
  );
}

/** A key that is set, replaced and removed. `onChanged` is called besides. */
export function ProviderKey({
  agentId,
  credential: { key, label, configured, hint, isOpen },
  onChanged,
}: {
  agentId: string;
  credential: Credential;
  onChanged?: () => void;
}) {
  const client = useQueryClient();
  const [isEditing, setEditing] = useState(false);
  const [value, setValue] = useState("");
  const save = useMutation({
    mutationFn: (next: string) =>
      api.post<{ configured: boolean }>("/api/agent", { action: "set-credential", agentId, key, value: next }),
    onSuccess({ configured: isSet }, next) {
      setEditing(false);
      setValue("");
      if (next !== "") showToast(t("The key for {provider} is set", { provider: label }));
      else if (isSet) showToast(t("The agent now uses your account's key for {provider}", { provider: label }));
      else showToast(t("The key for {provider} is removed", { provider: label }));
      onChanged?.();
      return client.invalidateQueries({ queryKey: ["agent", agentId, "credentials"] });
    },
  });
  return (
    <li className="flex flex-col gap-2 border-edge border-b py-2.5 last:border-b-0">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <span className="min-w-32 flex-1">
          <span className="font-medium">{label}</span>
          {hint !== undefined && <span className="block max-w-prose text-soft text-sm">{hint}</span>}
        </span>
        <Status tone={configured ? "good" : "idle"}>{configured ? t("Set") : t("No key")}</Status>
        {!isEditing && (
          <Button
            aria-label={
              configured
                ? t("Replace the key for {provider}", { provider: label })
                : t("Set a key for {provider}", { provider: label })
            }
            onClick={() => setEditing(true)}
          >
            {configured ? t("Replace") : t("Set a key")}
          </Button>
        )}
        {configured && !isEditing && (
          <Button
            look="danger"
            aria-label={t("Remove the key for {provider}", { provider: label })}
            isBusy={save.isPending}
            onClick={() => save.mutate("")}
          >
            {t("Remove")}
          </Button>
        )}
      </div>
      {isEditing && (
        <Form
          className="flex flex-wrap items-end gap-2"
          onSubmit={() => {
            save.mutate(value.trim());
          }}
        >
          <div className="min-w-60 flex-1">
            <TextField
              label={t("Key for {provider}", { provider: label })}
              type={isOpen ? "url" : "password"}
              autoComplete="off"
              data-autofocus
              value={value}
              error={save.error ? messageOf(save.error) : undefined}
              onChange={(event) => setValue(event.target.value)}
            />
          </div>
          <Button type="submit" look="primary" isBusy={save.isPending} disabled={value.trim() === ""}>
            {t("Save")}
          </Button>
          <Button onClick={() => setEditing(false)}>{t("Cancel")}</Button>
        </Form>
      )}
    </li>
  );
}
