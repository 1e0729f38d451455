// The plan with its end, the credits, and the referral code with what it brought.

import { useQuery } from "@tanstack/react-query";
import { api } from "../../../api/api.ts";
import { ButtonLink } from "../../../parts/button.tsx";
import { ErrorNote } from "../../../parts/error-note.tsx";
import { Figure, Section } from "../../../parts/page/page.tsx";
import { Skeleton } from "../../../parts/skeleton.tsx";
import { CodeBlock } from "../../../parts/text/code-block.tsx";
import { Status } from "../../../parts/values/status.tsx";
import { planName, useUser } from "../../../session/session.tsx";
import { formatNumber, formatTime, t, text } from "../../../viewer/language.ts";
import { BillingSections } from "./billing.tsx";
import { StablecoinSection } from "./stablecoin.tsx";

interface Referral {
  code: string;
  url: string;
  joined: number;
  creditsPerPerson: number;
}

const STATUS_LABELS: Readonly<Record<string, ReturnType<typeof text>>> = {
  active: text("Runs"),
  trialing: text("On trial"),
  past_due: text("Payment is missing"),
  canceled: text("Cancelled"),
};

export default function PlanPage() {
  return (
    <>
      <PlanSection />
      <BillingSections />
      <StablecoinSection />
      <ReferralSection />
    </>
  );
}

function PlanSection() {
  const { plan, credits, subscription, isAdmin } = useUser();
  const statusLabel = subscription && STATUS_LABELS[subscription.status];
  return (
    <Section title={t("Plan")} actions={<ButtonLink href="/usage">{t("What it includes, and your costs")}</ButtonLink>}>
      <dl className="grid grid-cols-2 gap-4 sm:grid-cols-3">
        <Figure label={t("Plan")} value={planName(plan)} hint={isAdmin && t("Admins have no limits of a plan.")} />
        <Figure label={t("Credits")} value={formatNumber(credits)} />
        {subscription && (
          <Figure
            label={subscription.active ? t("Until") : t("Ended")}
            value={formatTime(Date.parse(subscription.currentPeriodEnd), { dateStyle: "medium" })}
            hint={statusLabel && <Status tone={subscription.active ? "good" : "warn"}>{t(statusLabel)}</Status>}
          />
        )}
      </dl>
    </Section>
  );
}

function ReferralSection() {
  const { data, error, refetch } = useQuery({
    queryKey: ["referral"],
    queryFn: () => api.get<Referral>("/api/settings/referral"),
  });
  return (
    <Section
      title={t("Referral")}
      hint={
        data &&
        t("Whoever makes an account with your link gets {credits} credits, and so do you.", {
          credits: formatNumber(data.creditsPerPerson),
        })
      }
    >
      {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Skeleton className="h-24" />}
      {data && (
        <div className="flex flex-col gap-4">
          <CodeBlock code={data.url} label={t("Your link")} />
          <dl className="grid grid-cols-2 gap-4 sm:grid-cols-3">
            <Figure label={t("Code")} value={<span className="font-mono">{data.code}</span>} />
            <Figure label={t("People who came")} value={formatNumber(data.joined)} />
            <Figure label={t("Credits from that")} value={formatNumber(data.joined * data.creditsPerPerson)} />
          </dl>
        </div>
      )}
    </Section>
  );
}
