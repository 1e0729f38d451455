// The sites that may show the page in a frame, and the code that they need.

import { useState } from "react";
import { Link } from "wouter";
import { ApiError } from "../../../api/errors.ts";
import { Button } from "../../../parts/button.tsx";
import { messageOf } from "../../../parts/error-note.tsx";
import { TextField } from "../../../parts/forms/field.tsx";
import { Form } from "../../../parts/forms/form.tsx";
import { Section } from "../../../parts/page/page.tsx";
import { CodeBlock } from "../../../parts/text/code-block.tsx";
import { showError, showToast } from "../../../parts/toast.tsx";
import { rich, t } from "../../../viewer/language.ts";
import { useAgent } from "../agent.tsx";
import { type PublicSettings, useChangePublic } from "./data.ts";

export function EmbedSection({ settings }: { settings: PublicSettings }) {
  const agent = useAgent();
  const [site, setSite] = useState("");
  const add = useChangePublic(agent.id);
  const change = useChangePublic(agent.id);
  const { enabled, embedOrigins, url } = settings;
  const submit = () => {
    if (site.trim() === "" || add.isPending) return;
    add.mutate({ enabled, embedOrigins: [...embedOrigins, site.trim()] }, { onSuccess: () => setSite("") });
  };
  const remove = (origin: string) =>
    change.mutate(
      { enabled, embedOrigins: embedOrigins.filter((one) => one !== origin) },
      {
        onSuccess: () =>
          showToast(t("{site} is removed", { site: origin }), {
            label: t("Undo"),
            run: () => change.mutate({ enabled, embedOrigins }),
          }),
        onError: (error) => showError(messageOf(error)),
      },
    );
  return (
    <Section
      title={t("On your own site")}
      hint={t("Show the chat inside a page of yours. Only the sites that you name here can do that.")}
    >
      <div className="flex flex-col gap-4">
        <p className="max-w-prose">
          {rich("A bubble in the corner, with your colours, is under <a>On your site</a>, and needs no public page.", {
            a: (words, key) => (
              <Link key={key} href={`/agents/${agent.id}/embed`} className="text-sea underline">
                {words}
              </Link>
            ),
          })}
        </p>
        {embedOrigins.length > 0 && <Sites origins={embedOrigins} onRemove={remove} />}
        <Form onSubmit={submit} className="flex max-w-xl flex-wrap items-start gap-2">
          <div className="min-w-56 flex-1">
            <TextField
              label={t("Address of a site")}
              value={site}
              placeholder="https://www.example.com"
              inputMode="url"
              onChange={(event) => {
                setSite(event.target.value);
                add.reset();
              }}
              error={add.error ? problemOf(add.error) : undefined}
            />
          </div>
          <Button type="submit" isBusy={add.isPending} disabled={site.trim() === ""} className="mt-6">
            {t("Allow this site")}
          </Button>
        </Form>
        {embedOrigins.length > 0 && (
          <div className="flex flex-col gap-2">
            <p className="max-w-prose">{t("Put this into the HTML of your page, where the chat is to appear:")}</p>
            <CodeBlock code={snippet(url, agent.name)} label={t("Code to embed the page")} wraps />
            {!enabled && (
              <p className="text-soft text-sm">{t("It shows the chat as soon as visitors may talk to it.")}</p>
            )}
          </div>
        )}
      </div>
    </Section>
  );
}

function Sites({ origins, onRemove }: { origins: readonly string[]; onRemove: (origin: string) => void }) {
  return (
    <ul aria-label={t("Sites that may show the page")} className="divide-y divide-edge">
      {origins.map((origin) => (
        <li key={origin} className="flex items-center gap-3 py-1">
          <span className="min-w-0 flex-1 break-all font-mono text-sm">{origin}</span>
          <Button look="bare" aria-label={t("Remove {name}", { name: origin })} onClick={() => onRemove(origin)}>
            {t("Remove")}
          </Button>
        </li>
      ))}
    </ul>
  );
}

function problemOf(error: unknown): string {
  if (error instanceof ApiError && error.issues.some(({ path }) => path.startsWith("embedOrigins"))) {
    return t(
      "Give the address of a site with https, without a path: https://www.example.com, or one on your machine: http://localhost:3000",
    );
  }
  return messageOf(error);
}

const attribute = (value: string) => value.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");

const snippet = (url: string, name: string) =>
  `<iframe src="${attribute(url)}" title="${attribute(name)}" width="100%" height="576"\n  style="width: 100%; max-width: 28rem; height: 36rem; border: 0; border-radius: 12px"></iframe>`;
