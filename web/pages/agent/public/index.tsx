// An agent's page for everybody: on or off, its greeting, its address, and the sites that may show it.

import { ExternalLink } from "lucide-react";
import { Link } from "wouter";
import { ErrorNote, messageOf } from "../../../parts/error-note.tsx";
import { Switch } from "../../../parts/forms/field.tsx";
import { useTyped } from "../../../parts/forms/use-typed.ts";
import { OutsideButton } from "../../../parts/outside-link.tsx";
import { Section } from "../../../parts/page/page.tsx";
import { Skeleton } from "../../../parts/skeleton.tsx";
import { showError, showToast } from "../../../parts/toast.tsx";
import { CopyValue } from "../../../parts/values/copy-value.tsx";
import { QrCode } from "../../../parts/values/qr-code.tsx";
import { Notice } from "../../../parts/values/status.tsx";
import { rich, t } from "../../../viewer/language.ts";
import { useAgent } from "../agent.tsx";
import { type PublicSettings, useChangePublic, usePublicSettings } from "./data.ts";
import { EmbedSection } from "./embed-section.tsx";
import { GreetingForm } from "./greeting-form.tsx";
import { OtherAgentsSection } from "./other-agents-section.tsx";
import { Preview } from "./preview.tsx";

export default function PublicPage() {
  const agent = useAgent();
  const { data, error, refetch } = usePublicSettings(agent.id);
  if (error && !data) return <ErrorNote error={error} onRetry={() => void refetch()} />;
  if (!data) {
    return (
      <div role="status">
        <span className="sr-only">{t("Loading…")}</span>
        <Skeleton className="mb-5 h-40" />
        <Skeleton className="h-64" />
      </div>
    );
  }
  return <Settings settings={data} />;
}

function Settings({ settings }: { settings: PublicSettings }) {
  const agent = useAgent();
  const [greeting, setGreeting] = useTyped(settings.greeting);
  return (
    <div className="grid items-start gap-x-5 lg:grid-cols-[minmax(0,1fr)_22rem]">
      <div className="min-w-0">
        <Visitors settings={settings} />
        <GreetingForm settings={settings} greeting={greeting} onChange={setGreeting} />
        <EmbedSection settings={settings} />
        <OtherAgentsSection settings={settings} />
      </div>
      <Preview name={agent.name} status={agent.status} isOpen={settings.enabled} greeting={greeting} />
    </div>
  );
}

function Visitors({ settings }: { settings: PublicSettings }) {
  const agent = useAgent();
  const change = useChangePublic(agent.id);
  const { enabled, url } = settings;
  const turn = (next: boolean) =>
    change.mutate(
      { enabled: next },
      {
        onSuccess: () =>
          showToast(next ? t("Everybody can talk to it now") : t("The page is closed"), {
            label: t("Undo"),
            run: () => change.mutate({ enabled: !next }),
          }),
        onError: (error) => showError(messageOf(error)),
      },
    );
  return (
    <Section
      title={t("Public page")}
      hint={t("A page on the web where everybody can talk to your agent, without an account.")}
    >
      <div className="flex flex-col gap-4">
        <Switch label={t("Visitors may talk to it")} isOn={enabled} onChange={turn} />
        {enabled ? (
          <div className="flex flex-col-reverse items-start gap-5 sm:flex-row">
            <QrCode value={url} label={t("The address of the page, for a phone")} size={132} />
            <div className="flex min-w-0 flex-1 flex-col items-start gap-3">
              <CopyValue value={url} label={t("Copy the address")} />
              <OutsideButton href={url}>
                <ExternalLink aria-hidden="true" />
                {t("Open the page")}
              </OutsideButton>
              <p className="max-w-prose text-soft text-sm">
                {t(
                  "Each visitor has a conversation of their own. Nobody sees yours, or what your agent knows about you.",
                )}
              </p>
            </div>
          </div>
        ) : (
          <p className="max-w-prose text-soft">
            {t("Now the page shows only the name of your agent and how it is, and nobody can write to it there.")}
          </p>
        )}
        <Notice tone={enabled ? "warn" : "idle"}>
          <p>
            {rich("Visitors spend your budget. <a>Set a daily limit</a>, so that it stays small.", {
              a: (words, key) => (
                <Link key={key} href={`/agents/${agent.id}/set-up`} className="underline">
                  {words}
                </Link>
              ),
            })}
          </p>
        </Notice>
      </div>
    </Section>
  );
}
