// The AI providers: which answer, how fast and how well, what they cost, and their keys.

import { useQuery } from "@tanstack/react-query";
import { KeyRound } from "lucide-react";
import type { ReactNode } from "react";
import { api } from "../../../api/api.ts";
import { ButtonLink } from "../../../parts/button.tsx";
import { Loaded } from "../../../parts/page/loaded.tsx";
import { Figure, Page } from "../../../parts/page/page.tsx";
import { Badge, Notice, Status } from "../../../parts/values/status.tsx";
import { When } from "../../../parts/values/when.tsx";
import { formatDuration, formatNumber, formatUsd, said, t, tn } from "../../../viewer/language.ts";
import type { Provider, Providers } from "../api-types.ts";
import { MissingCells } from "../missing-cells.tsx";

export default function ProvidersPage() {
  const query = useQuery({
    queryKey: ["admin", "providers"],
    queryFn: () => api.get<Providers>("/api/admin/providers"),
    refetchInterval: 10_000,
  });
  return (
    <Page
      title={t("AI providers")}
      intro={t(
        "Who answers for the agents of this server. When one fails, Berth uses another that has the same model.",
      )}
      actions={
        <ButtonLink href="/admin/models">
          <KeyRound aria-hidden="true" />
          {t("Keys and models")}
        </ButtonLink>
      }
    >
      <Loaded query={query} height="h-96">
        {({ providers, cells }) => {
          const used = providers.filter(isUsed);
          const others = providers.filter((provider) => provider.demo || !isUsed(provider));
          return (
            <>
              <MissingCells cells={cells} />
              {providers.some(({ demo }) => demo) && (
                <div className="mb-4">
                  <Notice tone="warn">
                    <p>
                      {t(
                        "No provider has a key, so the built-in demo model answers. Give one a key under “Keys and models”: agents use it at once.",
                      )}
                    </p>
                  </Notice>
                </div>
              )}
              <ul className="grid gap-4 lg:grid-cols-2">
                {used.map((provider) => (
                  <li key={provider.id} id={provider.id} className="scroll-mt-16">
                    <ProviderCard provider={provider} />
                  </li>
                ))}
              </ul>
              {others.length > 0 && (
                <p className="mt-5 text-soft">
                  {t("Not set up: {names}.", { names: others.map(({ name }) => name).join(", ") })}
                </p>
              )}
            </>
          );
        }}
      </Loaded>
    </Page>
  );
}

const isUsed = ({ configured, demo, monthUsd }: Provider) => configured || demo || monthUsd > 0;

function ProviderCard({ provider }: { provider: Provider }) {
  const { label, models, todayUsd, monthUsd, recent } = provider;
  return (
    <article className="flex h-full flex-col rounded-large border border-edge bg-card">
      <header className="flex items-start gap-3 border-edge border-b px-4 py-2.5">
        <div className="min-w-0 flex-1">
          <h2 className="font-semibold text-md">{said(label)}</h2>
          <State {...provider} />
        </div>
        <Badge>{tn("{n} model", "{n} models", models)}</Badge>
      </header>
      <dl className="grid flex-1 grid-cols-2 gap-4 p-4">
        <Figure label={t("Today")} value={formatUsd(todayUsd)} />
        <Figure label={t("This month")} value={formatUsd(monthUsd)} />
        <Figure
          label={t("Answers after")}
          value={recent.medianMs === null ? "–" : formatDuration(recent.medianMs)}
          hint={recent.p95Ms !== null && t("95 of 100 within {time}", { time: formatDuration(recent.p95Ms) })}
        />
        <Figure label={t("Failed calls")} value={<Failures {...recent} />} hint={<LastCall {...recent} />} />
      </dl>
    </article>
  );
}

function State({ configured, demo, reachable, breaker, retryAt, recent }: Provider) {
  if (demo) return <Status tone="warn">{t("Demo model answers")}</Status>;
  if (!configured) return <Status tone="idle">{t("Not set up")}</Status>;
  if (breaker === "open") {
    return (
      <Status tone="bad">
        {t("Paused after failures, next try")} {retryAt && <When at={retryAt} />}
      </Status>
    );
  }
  if (reachable === false) return <Status tone="bad">{t("Can't be reached")}</Status>;
  if (breaker === "half-open") return <Status tone="busy">{t("Is being tried again")}</Status>;
  if (recent.calls >= 20 && recent.failed / recent.calls >= 0.1) return <Status tone="warn">{t("Fails often")}</Status>;
  return reachable === null ? (
    <Status tone="busy">{t("Not checked yet")}</Status>
  ) : (
    <Status tone="good">{t("Works")}</Status>
  );
}

function Failures({ calls, failed }: Provider["recent"]): ReactNode {
  return calls === 0 ? "–" : formatNumber(failed / calls, { style: "percent", maximumFractionDigits: 1 });
}

function LastCall({ calls, lastAt }: Provider["recent"]) {
  if (lastAt === null) return t("No call since the start");
  return (
    <>
      {tn("of {n} call", "of the last {n} calls", calls)}, <When at={lastAt} />
    </>
  );
}
