// One account: what it is and has, and what an admin can do for it.

import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "wouter";
import { api, path } from "../../../api/api.ts";
import { Loaded } from "../../../parts/page/loaded.tsx";
import { Figure, Page, Section } from "../../../parts/page/page.tsx";
import { When } from "../../../parts/values/when.tsx";
import { formatNumber, t, tn } from "../../../viewer/language.ts";
import type { AccountDetail } from "../api-types.ts";
import { AccountState } from "../users/index.tsx";
import { AccountActions } from "./account-actions.tsx";
import { AccountHistory } from "./account-history.tsx";
import { AccountUsage } from "./account-usage.tsx";
import { FreezeAccount } from "./freeze-account.tsx";
import { PlanForm } from "./plan-form.tsx";
import { RemoveAccount } from "./remove-account.tsx";
import { SignInHelp } from "./sign-in-help.tsx";

export default function UserPage() {
  const { id = "" } = useParams<{ id: string }>();
  const query = useQuery({
    queryKey: ["admin", "user", id],
    queryFn: () => api.get<AccountDetail>(path`/api/admin/users/${id}`),
  });
  const { data } = query;
  return (
    <Page
      title={data ? data.name || data.email : t("Account")}
      intro={
        <Link href="/admin/users" className="text-sea underline">
          {t("All accounts")}
        </Link>
      }
    >
      <Loaded query={query} height="h-96">
        {(account) => (
          <>
            <Facts {...account} />
            <div className="grid items-start gap-x-5 lg:grid-cols-2">
              <PlanForm key={account.subscription?.currentPeriodEnd} account={account} />
              <div>
                <AccountActions account={account} />
                <SignInHelp account={account} />
              </div>
            </div>
            <FreezeAccount account={account} />
            <AccountUsage userId={account.id} />
            <AccountHistory userId={account.id} />
            <RemoveAccount account={account} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

const Facts = (account: AccountDetail) => (
  <Section title={t("Account")}>
    <dl className="grid grid-cols-2 gap-4 md:grid-cols-3 lg:grid-cols-6">
      <Figure
        label={t("State")}
        value={
          <span className="text-base">
            <AccountState {...account} />
          </span>
        }
      />
      <Figure label={t("Email address")} value={<span className="break-all text-base">{account.email}</span>} />
      <Figure
        label={t("Since")}
        value={
          <span className="text-base">
            <When at={account.createdAt} />
          </span>
        }
      />
      <Figure
        label={t("Agents")}
        value={
          <Link href={`/admin/agents?owner=${account.id}`} className="text-sea underline">
            {formatNumber(account.agents)}
          </Link>
        }
      />
      <Figure label={t("Signed in on")} value={tn("{n} device", "{n} devices", account.sessions)} />
      <Figure label={t("API keys")} value={formatNumber(account.keys)} />
    </dl>
  </Section>
);
