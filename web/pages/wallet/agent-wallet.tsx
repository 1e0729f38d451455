// The wallet as one agent meets it: whether it may spend, within which limits, and what it has spent.

import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Link } from "wouter";
import { api, path } from "../../api/api.ts";
import { ButtonLink } from "../../parts/button.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { EmptyState } from "../../parts/page/empty-state.tsx";
import { Section } from "../../parts/page/page.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { Notice, Status } from "../../parts/values/status.tsx";
import { formatUsd, rich, t, tn } from "../../viewer/language.ts";
import { Spends, WaitingSpends } from "./spends.tsx";
import { type OwnWallet, POLICY_KEY, type Policy, WALLETS_KEY } from "./wallet.ts";

interface Props {
  agentId: string;
  name: string;
}

export default function AgentWallet(props: Props) {
  const wallets = useQuery({
    queryKey: WALLETS_KEY,
    queryFn: () => api.get<{ wallets: OwnWallet[] }>("/api/wallets"),
  });
  if (wallets.error && !wallets.data) return <ErrorNote error={wallets.error} onRetry={() => void wallets.refetch()} />;
  if (!wallets.data) return <Skeleton className="h-44" />;
  const hasWallet = wallets.data.wallets.some(({ kind }) => kind === "own");
  return (
    <>
      {hasWallet ? <Share {...props} /> : <NoWallet {...props} />}
      <WaitingSpends agentId={props.agentId} />
      <Spends agentId={props.agentId} />
    </>
  );
}

const NoWallet = ({ name }: Props) => (
  <div className="mb-5">
    <EmptyState
      title={t("Your account has no wallet yet")}
      action={<ButtonLink href="/wallet">{t("To your wallet")}</ButtonLink>}
    >
      {t("Agents spend from the wallet of your account. Make one there, and {name} may use it within your limits.", {
        name,
      })}
    </EmptyState>
  </div>
);

/** What the agent may take of the wallet. */
function Share({ agentId, name }: Props) {
  const policy = useQuery({ queryKey: POLICY_KEY, queryFn: () => api.get<Policy>("/api/wallet/policy") });
  const skills = useQuery({
    queryKey: ["agent", agentId, "skills"],
    queryFn: () => api.get<{ skills: { id: string; enabled: boolean }[] }>(path`/api/agents/${agentId}/skills`),
  });
  const isOn = skills.data?.skills.find(({ id }) => id === "wallet")?.enabled;
  const failed = [policy, skills].find(({ error, data }) => error && !data);
  return (
    <Section
      title={t("What it may spend")}
      hint={t("{name} spends from the wallet of your account, and only in conversations with you.", { name })}
      actions={<ButtonLink href="/wallet">{t("To your wallet")}</ButtonLink>}
    >
      {failed && <ErrorNote error={failed.error} onRetry={() => void failed.refetch()} />}
      {!failed && (!policy.data || isOn === undefined) && <Skeleton className="h-32" />}
      {policy.data && isOn !== undefined && (
        <div className="flex flex-col gap-4">
          <Notice tone={isOn && policy.data.enabled ? "good" : "idle"}>
            <p>
              {!isOn
                ? rich("It may not spend: its skill “Wallet” is off. <a>Switch it on under Skills.</a>", {
                    a: linkTo(`/agents/${agentId}/skills`),
                  })
                : policy.data.enabled
                  ? rich("It may spend, within the limits below. <a>What it asks before</a> is set under Skills.", {
                      a: linkTo(`/agents/${agentId}/skills`),
                    })
                  : rich("All spending is stopped, for all your agents. <a>Allow it in your wallet.</a>", {
                      a: linkTo("/wallet"),
                    })}
            </p>
          </Notice>
          <Limits policy={policy.data} />
        </div>
      )}
    </Section>
  );
}

const linkTo = (href: string) => (words: string, key: string) => (
  <Link key={key} href={href} className="underline">
    {words}
  </Link>
);

function Limits({ policy: { perTransaction, perDay, approvalAbove, recipients, enabled } }: { policy: Policy }) {
  const usd = (text: string) => formatUsd(Number(text));
  const rows: readonly { label: string; value: ReactNode }[] = [
    {
      label: t("Spending"),
      value: enabled ? <Status tone="good">{t("allowed")}</Status> : <Status tone="idle">{t("stopped")}</Status>,
    },
    { label: t("At most at once"), value: usd(perTransaction) },
    { label: t("At most in 24 hours"), value: usd(perDay) },
    { label: t("Asks you above"), value: approvalAbove === null ? t("never") : usd(approvalAbove) },
    {
      label: t("May pay"),
      value: recipients === null ? t("anybody") : tn("{n} address", "{n} addresses", recipients.length),
    },
  ];
  return (
    <>
      <dl className="grid grid-cols-2 gap-x-6 gap-y-3 sm:grid-cols-3">
        {rows.map(({ label, value }) => (
          <div key={label}>
            <dt className="text-soft text-sm">{label}</dt>
            <dd className="font-medium">{value}</dd>
          </div>
        ))}
      </dl>
      <p className="max-w-prose text-soft text-sm">
        {rich("These are the limits of your account: all your agents share them. <a>Change them in your wallet.</a>", {
          a: linkTo("/wallet"),
        })}
      </p>
    </>
  );
}
