// The limits of spending, and the switch that stops all of it at once.

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api } from "../../api/api.ts";
import { issueAt } from "../../api/errors.ts";
import { Button } from "../../parts/button.tsx";
import { ErrorNote, messageOf } from "../../parts/error-note.tsx";
import { Switch, TextAreaField, TextField } from "../../parts/forms/field.tsx";
import { Form } from "../../parts/forms/form.tsx";
import { useTyped } from "../../parts/forms/use-typed.ts";
import { Section } from "../../parts/page/page.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { showError, showToast } from "../../parts/toast.tsx";
import { Notice } from "../../parts/values/status.tsx";
import { t } from "../../viewer/language.ts";
import { POLICY_KEY, type Policy } from "./wallet.ts";

export function PolicySection() {
  const client = useQueryClient();
  const { data, error, refetch } = useQuery({
    queryKey: POLICY_KEY,
    queryFn: () => api.get<Policy>("/api/wallet/policy"),
  });
  const change = useMutation({
    mutationFn: (policy: Partial<Policy>) => api.put<Policy>("/api/wallet/policy", policy),
    onSuccess: (policy) => client.setQueryData(POLICY_KEY, policy),
  });
  const switchTo = (enabled: boolean) =>
    change.mutate(
      { enabled },
      {
        onSuccess: () =>
          showToast(enabled ? t("Spending is on again.") : t("Spending is off: nothing is signed any more.")),
        onError: (failure) => showError(messageOf(failure)),
      },
    );
  return (
    <Section
      title={t("Limits")}
      hint={t("The server refuses whatever is above them, whoever asks for it.")}
      actions={data && <Switch label={t("Spending allowed")} isOn={data.enabled} onChange={switchTo} />}
    >
      {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Skeleton className="h-40" />}
      {data && (
        <>
          {!data.enabled && (
            <div className="mb-4">
              <Notice tone="warn">
                {t("All spending is stopped. Payments that the chain already has still arrive.")}
              </Notice>
            </div>
          )}
          <Limits
            policy={data}
            isBusy={change.isPending}
            error={change.error}
            onSave={(policy, onSaved) =>
              change.mutate(policy, {
                onSuccess() {
                  onSaved();
                  showToast(t("Limits saved."));
                },
              })
            }
          />
        </>
      )}
    </Section>
  );
}

interface LimitsProps {
  policy: Policy;
  isBusy: boolean;
  error: Error | null;
  onSave: (policy: Partial<Policy>, onSaved: () => void) => void;
}

function Limits({ policy, isBusy, error, onSave }: LimitsProps) {
  const [perTransaction, setPerTransaction] = useTyped(policy.perTransaction);
  const [perDay, setPerDay] = useTyped(policy.perDay);
  const [approvalAbove, setApprovalAbove] = useTyped(policy.approvalAbove ?? "");
  const [recipients, setRecipients] = useTyped(policy.recipients?.join("\n") ?? "");
  const list = recipients.split(/[\s,]+/).filter(Boolean);
  const amount = (text: string) => text.trim().replace(",", ".");
  const hasIssue = ["perTransaction", "perDay", "approvalAbove", "recipients"].some((field) => issueAt(error, field));
  return (
    <Form
      className="flex flex-col items-start gap-4"
      onSubmit={() => {
        const typed = {
          perTransaction: amount(perTransaction),
          perDay: amount(perDay),
          approvalAbove: approvalAbove.trim() === "" ? null : amount(approvalAbove),
          recipients: list.length === 0 ? null : list,
        };
        // Then the fields show them as they are stored.
        onSave(typed, () => {
          for (const follow of [setPerTransaction, setPerDay, setApprovalAbove, setRecipients]) follow(undefined);
        });
      }}
    >
      <div className="grid w-full gap-4 sm:grid-cols-3">
        <TextField
          label={t("At most at once, in USD")}
          inputMode="decimal"
          value={perTransaction}
          onChange={({ target }) => setPerTransaction(target.value)}
          error={issueAt(error, "perTransaction")}
        />
        <TextField
          label={t("At most in 24 hours, in USD")}
          inputMode="decimal"
          value={perDay}
          onChange={({ target }) => setPerDay(target.value)}
          error={issueAt(error, "perDay")}
        />
        <TextField
          label={t("Ask me above, in USD")}
          inputMode="decimal"
          value={approvalAbove}
          onChange={({ target }) => setApprovalAbove(target.value)}
          hint={t("Empty: it never asks.")}
          error={issueAt(error, "approvalAbove")}
        />
      </div>
      <div className="w-full">
        <TextAreaField
          label={t("Only to these addresses")}
          rows={2}
          placeholder="0x…"
          className="font-mono text-sm"
          value={recipients}
          onChange={({ target }) => setRecipients(target.value)}
          hint={t("One a line. Empty: to any address.")}
          error={issueAt(error, "recipients") ?? list.map((_, at) => issueAt(error, `recipients.${at}`)).find(Boolean)}
        />
      </div>
      {error && !hasIssue && <ErrorNote error={error} />}
      <Button type="submit" isBusy={isBusy}>
        {t("Save limits")}
      </Button>
    </Form>
  );
}
