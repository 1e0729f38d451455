// The agent's chat on sites of its owner: which sites show it, how it looks there, and the code that they need.

import { Link } from "wouter";
import { ErrorNote } from "../../../parts/error-note.tsx";
import { useTyped } from "../../../parts/forms/use-typed.ts";
import { Section } from "../../../parts/page/page.tsx";
import { Skeleton } from "../../../parts/skeleton.tsx";
import { CodeBlock } from "../../../parts/text/code-block.tsx";
import { Notice } from "../../../parts/values/status.tsx";
import { rich, t } from "../../../viewer/language.ts";
import { useAgent } from "../agent.tsx";
import { useConfiguration } from "../config/configuration.ts";
import { LookForm } from "./look-form.tsx";
import { Preview } from "./preview.tsx";
import { type EmbedSettings, embedOf, frameSnippet, policySnippet, scriptSnippet, type Theme } from "./settings.ts";
import { Sites } from "./sites.tsx";

export default function EmbedPage() {
  const agent = useAgent();
  const { data, error, refetch } = useConfiguration(agent.id);
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
  if (data.imported) {
    return (
      <Section title={t("On your site")}>
        <Notice tone="warn">
          <p>
            {rich("This agent came from a file. <a>Read its set-up and save it</a>; then show it on your site.", {
              a: (words, key) => (
                <Link key={key} href={`/agents/${agent.id}/set-up`} className="underline">
                  {words}
                </Link>
              ),
            })}
          </p>
        </Notice>
      </Section>
    );
  }
  return <Settings settings={embedOf(data.config)} />;
}

function Settings({ settings }: { settings: EmbedSettings }) {
  const agent = useAgent();
  const [greeting, setGreeting] = useTyped(settings.greeting);
  const [accent, setAccent] = useTyped(settings.accent ?? "");
  const [theme, setTheme] = useTyped(settings.theme);
  const typed = { greeting, accent: accent === "" ? undefined : accent, theme: theme as Theme };
  return (
    <div className="grid items-start gap-x-5 lg:grid-cols-[minmax(0,1fr)_26rem]">
      <div className="min-w-0">
        <Sites origins={settings.origins} />
        <LookForm
          settings={settings}
          typed={typed}
          onGreeting={setGreeting}
          onAccent={setAccent}
          onTheme={setTheme}
          onSaved={() => {
            setGreeting(undefined);
            setAccent(undefined);
            setTheme(undefined);
          }}
        />
        <Code hasSites={settings.origins.length > 0} />
      </div>
      <Preview
        name={agent.name}
        look={typed}
        address={settings.origins.length > 0 ? `${location.origin}/embed/${agent.subdomain}` : undefined}
      />
    </div>
  );
}

function Code({ hasSites }: { hasSites: boolean }) {
  const { name, subdomain } = useAgent();
  const berth = location.origin;
  return (
    <Section title={t("The code")} hint={t("Put it into the HTML of each page that is to show the chat.")}>
      {hasSites ? (
        <div className="flex flex-col gap-4">
          <div className="flex flex-col gap-2">
            <h3 className="font-medium">{t("As a bubble in the corner")}</h3>
            <CodeBlock code={scriptSnippet(berth, subdomain)} label={t("Code for the bubble")} wraps />
            <p className="text-soft text-sm">
              {t(
                "data-position, data-theme, data-accent and data-lang change it for a single page. With data-remember, the conversation outlives the tab.",
              )}
            </p>
          </div>
          <div className="flex flex-col gap-2">
            <h3 className="font-medium">{t("In a frame, where no scripts of others may run")}</h3>
            <CodeBlock code={frameSnippet(berth, subdomain, name)} label={t("Code for the frame")} wraps />
            <p className="text-soft text-sm">
              {t(
                "It is as wide as the element around it: your style sheet makes it narrower, with max-width. Its conversations are not those of the bubble.",
              )}
            </p>
          </div>
          <div className="flex flex-col gap-2">
            <h3 className="font-medium">{t("If your site has a content security policy, allow there")}</h3>
            <CodeBlock code={policySnippet(berth)} label={t("Directives of the policy")} wraps />
          </div>
        </div>
      ) : (
        <p className="max-w-prose text-soft">{t("As soon as you have named a site, the code for it is shown here.")}</p>
      )}
    </Section>
  );
}
