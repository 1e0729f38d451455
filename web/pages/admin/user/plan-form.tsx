// The plan of an account: given for some days or taken away, and its credits.

import { useState } from "react";
import { api, path } from "../../../api/api.ts";
import { usePlans } from "../../../data/plans.ts";
import { Button } from "../../../parts/button.tsx";
import { SelectField, TextField } from "../../../parts/forms/field.tsx";
import { Form } from "../../../parts/forms/form.tsx";
import { useTyped } from "../../../parts/forms/use-typed.ts";
import { Section } from "../../../parts/page/page.tsx";
import { showToast } from "../../../parts/toast.tsx";
import { When } from "../../../parts/values/when.tsx";
import { planName } from "../../../session/session.tsx";
import { formatNumber, t } from "../../../viewer/language.ts";
import type { AccountDetail } from "../api-types.ts";
import { useAccountChange } from "./use-account-change.ts";

export function PlanForm({ account }: { account: AccountDetail }) {
  const { subscription } = account;
  const plans = usePlans().data?.plans.filter(({ id }) => id !== "free") ?? [];
  const [plan, setPlan] = useTyped(subscription?.plan ?? "starter");
  const [days, setDays] = useState("30");
  const [credits, setCredits] = useTyped(String(account.credits));
  const base = path`/api/admin/users/${account.id}`;
  const give = useAccountChange<void>(
    account.id,
    () => api.put<AccountDetail>(`${base}/subscription`, { plan, days: Number(days) }),
    () => {
      setPlan(undefined);
      showToast(t("The plan is in force."));
    },
  );
  const end = useAccountChange<void>(
    account.id,
    () => api.delete<AccountDetail>(`${base}/subscription`),
    () => showToast(t("The plan is “{plan}” now.", { plan: planName("free") })),
  );
  const change = useAccountChange<void>(
    account.id,
    () => api.patch<AccountDetail>(base, { credits: Number(credits) }),
    () => {
      setCredits(undefined);
      showToast(t("The credits are changed."));
    },
  );
  const submit = (work: () => void) => () => {
    work();
  };
  return (
    <Section title={t("Plan and credits")}>
      <p className="mb-4">
        {subscription ? (
          <>
            <strong className="font-semibold">{planName(subscription.plan)}</strong>,{" "}
            {subscription.active ? t("in force until") : t("ended")} <When at={subscription.currentPeriodEnd} isExact />
          </>
        ) : (
          t("No subscription: the plan is “{plan}”.", { plan: planName(account.plan) })
        )}
      </p>
      <Form onSubmit={submit(() => give.mutate())} className="flex flex-wrap items-end gap-3">
        <div className="w-36">
          <SelectField label={t("Plan")} className="h-9" value={plan} onChange={(event) => setPlan(event.target.value)}>
            {plans.map(({ id, name }) => (
              <option key={id} value={id}>
                {name ?? planName(id)}
              </option>
            ))}
          </SelectField>
        </div>
        <div className="w-28">
          <TextField
            label={t("For days")}
            className="h-9"
            type="number"
            min={1}
            max={36_500}
            required
            value={days}
            onChange={(event) => setDays(event.target.value)}
          />
        </div>
        <Button type="submit" isBusy={give.isPending} className="min-h-9">
          {t("Give the plan")}
        </Button>
        {subscription && (
          <Button look="danger" className="min-h-9" isBusy={end.isPending} onClick={() => end.mutate()}>
            {t("End it now")}
          </Button>
        )}
      </Form>
      <Form onSubmit={submit(() => change.mutate())} className="mt-5 flex flex-wrap items-end gap-3">
        <div className="w-36">
          <TextField
            label={t("Credits")}
            className="h-9"
            type="number"
            min={0}
            max={1_000_000_000}
            required
            value={credits}
            onChange={(event) => setCredits(event.target.value)}
          />
        </div>
        <Button
          type="submit"
          className="min-h-9"
          isBusy={change.isPending}
          disabled={credits === String(account.credits)}
        >
          {t("Set the credits")}
        </Button>
        <p className="w-full text-soft text-sm">
          {t("Now {credits}. Credits pay for models once the part that the plan includes is used up.", {
            credits: formatNumber(account.credits),
          })}
        </p>
      </Form>
    </Section>
  );
}
