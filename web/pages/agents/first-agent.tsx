// The page of somebody without an agent: what an agent is, and templates to begin with.

import { Plus } from "lucide-react";
import { openNewAgent } from "../../app/new-agent.tsx";
import { NoRoom } from "../../app/no-room.tsx";
import { FROM_SCRATCH, useTemplates } from "../../data/templates.ts";
import { TemplateIcon } from "../../parts/agents/template-icon.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { t } from "../../viewer/language.ts";
import { useSetup } from "./setup-note.tsx";

export function FirstAgent() {
  const { data: setup } = useSetup();
  return (
    <section className="rounded-large border border-edge bg-card p-5 md:p-8">
      <h2 className="font-semibold text-lg">{t("Make your first agent")}</h2>
      <p className="mt-1 max-w-prose text-soft">
        {t(
          "An agent is a chat partner that follows your instructions. It answers here in the browser, and in Telegram, Discord and WhatsApp once you connect them. It remembers what people tell it.",
        )}
      </p>
      {setup && !setup.canMakeAgents ? (
        <div className="mt-5">
          <NoRoom />
        </div>
      ) : (
        <Templates />
      )}
    </section>
  );
}

function Templates() {
  const { data: templates, error, refetch } = useTemplates();
  return (
    <>
      <h3 className="mt-6 mb-2 font-medium">{t("What should it do?")}</h3>
      {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      <ul className="grid gap-3 sm:grid-cols-2 lg:grid-cols-3">
        {(templates ?? [undefined, undefined, undefined]).map((template, index) =>
          template ? (
            <li key={template.id}>
              <button
                type="button"
                onClick={() => openNewAgent(template.id)}
                className="flex h-full w-full items-start gap-3 rounded-large border border-line p-3 text-left transition-colors hover:bg-hover"
              >
                <TemplateIcon id={template.id} />
                <span className="min-w-0">
                  <span className="block font-medium">{template.name}</span>
                  <span className="block text-soft text-sm">{template.description}</span>
                </span>
              </button>
            </li>
          ) : (
            !error && (
              // biome-ignore lint/suspicious/noArrayIndexKey: placeholders have nothing else
              <li key={index}>
                <Skeleton className="h-24" />
              </li>
            )
          ),
        )}
        {templates && (
          <li>
            <button
              type="button"
              onClick={() => openNewAgent(FROM_SCRATCH)}
              className="flex h-full w-full items-start gap-3 rounded-large border border-line border-dashed p-3 text-left transition-colors hover:bg-hover"
            >
              <span className="grid size-9 shrink-0 place-items-center rounded-round bg-well text-soft">
                <Plus className="size-4.5" aria-hidden="true" />
              </span>
              <span className="min-w-0">
                <span className="block font-medium">{t("Something else")}</span>
                <span className="block text-soft text-sm">{t("Write your own instructions from scratch.")}</span>
              </span>
            </button>
          </li>
        )}
      </ul>
    </>
  );
}
