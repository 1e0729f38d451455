// What is paid through Stripe: plans to take, credits to buy, the customer portal, and invoices. Not there without it.

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../../api/api.ts";
import { useLive } from "../../../api/events.ts";
import { formatPrice, usePlans } from "../../../data/plans.ts";
import { Button } from "../../../parts/button.tsx";
import { ErrorNote } from "../../../parts/error-note.tsx";
import { SelectField } from "../../../parts/forms/field.tsx";
import { OutsideLink } from "../../../parts/outside-link.tsx";
import { Section } from "../../../parts/page/page.tsx";
import { showToast } from "../../../parts/toast.tsx";
import { Notice } from "../../../parts/values/status.tsx";
import { planName, USER_KEY, useUser } from "../../../session/session.tsx";
import { useParameter } from "../../../viewer/address.ts";
import { formatNumber, formatTime, t } from "../../../viewer/language.ts";

interface Billing {
  enabled: boolean;
  /** Of 100 credits. */
  creditPrice: { minorUnits: number; currency: string } | null;
  plans: string[];
  subscription: { status: string; periodEnd: string; endsThen: boolean; graceUntil: string | null } | null;
}

interface Invoices {
  invoices: {
    id: string;
    number: string | null;
    at: string;
    amount: { minorUnits: number; currency: string };
    url: string | null;
  }[];
}

const PACKS = [100, 500, 1_000, 5_000, 10_000];
const day = (at: string) => formatTime(Date.parse(at), { dateStyle: "medium" });

export function BillingSections() {
  const [isBack] = useParameter("paid");
  useLive(["billing"], ["payment.", "user.updated"]);
  useLive(USER_KEY, ["payment."]);
  const { data } = useQuery({
    queryKey: ["billing"],
    queryFn: () => api.get<Billing>("/api/billing"),
    staleTime: 60_000,
  });
  if (!data?.enabled) return null;
  return (
    <>
      {isBack && (
        <Notice>
          {t("Thank you. What you have paid for is here as soon as Stripe confirms it, mostly within seconds.")}
        </Notice>
      )}
      <PaySection billing={data} />
      <InvoiceSection />
    </>
  );
}

function PaySection({ billing: { plans: sold, creditPrice, subscription } }: { billing: Billing }) {
  const { plan: current } = useUser();
  const plans = usePlans().data?.plans.filter(({ id }) => sold.includes(id)) ?? [];
  const [credits, setCredits] = useState(500);
  const client = useQueryClient();
  const pay = useMutation({
    mutationFn: ({ path, body }: { path: string; body: object }) =>
      api.post<{ url: string | null; changed?: boolean }>(path, body),
    async onSuccess({ url, changed }) {
      if (url) return void window.location.assign(url);
      await Promise.all([USER_KEY, ["billing"], ["usage"]].map((queryKey) => client.invalidateQueries({ queryKey })));
      if (changed) showToast(t("The plan is in force."));
    },
  });
  const ask = (path: string, body: object = {}) => pay.mutate({ path, body });
  return (
    <Section
      title={t("Pay")}
      actions={
        subscription && <Button onClick={() => ask("/api/billing/portal")}>{t("Card, invoices and cancelling")}</Button>
      }
    >
      {subscription?.graceUntil && (
        <p role="status" className="mb-4 text-bad">
          {t("A payment has failed. The plan stays in force until {until}; update your card.", {
            until: day(subscription.graceUntil),
          })}
        </p>
      )}
      {subscription?.endsThen && (
        <p className="mb-4">{t("It is cancelled, and ends on {end}.", { end: day(subscription.periodEnd) })}</p>
      )}
      {pay.error && <ErrorNote error={pay.error} />}
      <ul className="flex flex-wrap gap-3">
        {plans.map(({ id, name, price }) => (
          <li key={id}>
            <Button
              look={id === current ? "quiet" : "primary"}
              isBusy={pay.isPending}
              disabled={id === current && !subscription?.endsThen}
              onClick={() => ask("/api/billing/plan", { plan: id })}
            >
              {price
                ? t("{plan} for {price} a month", { plan: name ?? planName(id), price: formatPrice(price) })
                : (name ?? planName(id))}
            </Button>
          </li>
        ))}
      </ul>
      {creditPrice && (
        <div className="mt-5 flex flex-wrap items-end gap-3">
          <div className="w-60">
            <SelectField
              label={t("Credits")}
              value={String(credits)}
              onChange={(event) => setCredits(Number(event.target.value))}
            >
              {PACKS.map((count) => (
                <option key={count} value={count}>
                  {t("{credits} for {price}", {
                    credits: formatNumber(count),
                    price: formatPrice({ ...creditPrice, minorUnits: (creditPrice.minorUnits * count) / 100 }),
                  })}
                </option>
              ))}
            </SelectField>
          </div>
          <Button isBusy={pay.isPending} onClick={() => ask("/api/billing/credits", { credits })}>
            {t("Buy credits")}
          </Button>
        </div>
      )}
    </Section>
  );
}

function InvoiceSection() {
  const { data } = useQuery({
    queryKey: ["billing", "invoices"],
    queryFn: () => api.get<Invoices>("/api/billing/invoices"),
  });
  if (!data || data.invoices.length === 0) return null;
  return (
    <Section title={t("Invoices")}>
      <ul className="flex flex-col gap-1">
        {data.invoices.map(({ id, number, at, amount, url }) => (
          <li key={id} className="flex flex-wrap gap-3">
            <span>{day(at)}</span>
            <span>{formatPrice(amount)}</span>
            {url && <OutsideLink href={url}>{number ?? id}</OutsideLink>}
          </li>
        ))}
      </ul>
    </Section>
  );
}
