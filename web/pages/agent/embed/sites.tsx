// The sites that may show the chat.

import { useState } from "react";
import { Link } from "wouter";
import { Button } from "../../../parts/button.tsx";
import { messageOf } from "../../../parts/error-note.tsx";
import { TextField } from "../../../parts/forms/field.tsx";
import { Form } from "../../../parts/forms/form.tsx";
import { Section } from "../../../parts/page/page.tsx";
import { showError, showToast } from "../../../parts/toast.tsx";
import { Notice } from "../../../parts/values/status.tsx";
import { rich, t } from "../../../viewer/language.ts";
import { useAgent } from "../agent.tsx";
import { useConfiguration } from "../config/configuration.ts";
import { embedOf, originOf, withEmbed } from "./settings.ts";

export function Sites({ origins }: { origins: readonly string[] }) {
  const agent = useAgent();
  const { saveNow } = useConfiguration(agent.id);
  const [site, setSite] = useState("");
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);

  const save = (change: (origins: readonly string[]) => readonly string[]) =>
    saveNow((config) => withEmbed(config, { origins: change(embedOf(config).origins) }));
  const add = async () => {
    const origin = originOf(site);
    if (origin === undefined) {
      setProblem(
        t(
          "Give the address of a site with https, like https://www.example.com, or one on your machine, like http://localhost:3000",
        ),
      );
      return;
    }
    setBusy(true);
    try {
      await save((before) => [...before.filter((one) => one !== origin), origin]);
      setSite("");
    } catch (error) {
      setProblem(messageOf(error));
    }
    setBusy(false);
  };
  const remove = async (origin: string) => {
    try {
      await save((before) => before.filter((one) => one !== origin));
      showToast(t("{site} is removed", { site: origin }), {
        label: t("Undo"),
        run: () => void save((before) => [...before, origin]).catch((error: unknown) => showError(messageOf(error))),
      });
    } catch (error) {
      showError(messageOf(error));
    }
  };

  return (
    <Section
      title={t("On your site")}
      hint={t(
        "Visitors of your site talk to the agent there, without an account. Only the sites that you name here can show it.",
      )}
    >
      <div className="flex flex-col gap-4">
        {origins.length > 0 && (
          <ul aria-label={t("Sites that may show the chat")} className="divide-y divide-edge">
            {origins.map((origin) => (
              <li key={origin} className="flex items-center gap-3 py-1">
                <span className="min-w-0 flex-1 break-all font-mono text-sm">{origin}</span>
                <Button
                  look="bare"
                  aria-label={t("Remove {name}", { name: origin })}
                  onClick={() => void remove(origin)}
                >
                  {t("Remove")}
                </Button>
              </li>
            ))}
          </ul>
        )}
        <Form
          onSubmit={() => void (site.trim() !== "" && !isBusy && add())}
          className="flex max-w-xl flex-col items-start gap-3"
        >
          <div className="w-full">
            <TextField
              label={t("Address of your site")}
              value={site}
              placeholder="https://www.example.com"
              inputMode="url"
              maxLength={300}
              onChange={(event) => {
                setSite(event.target.value);
                setProblem(undefined);
              }}
              error={problem}
            />
          </div>
          <Button type="submit" isBusy={isBusy} disabled={site.trim() === ""}>
            {t("Add the site")}
          </Button>
        </Form>
        <Notice tone={origins.length > 0 ? "warn" : "idle"}>
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
