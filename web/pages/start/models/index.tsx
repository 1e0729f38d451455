// Which models answer, and with whose keys: for admins.

import { useState } from "react";
import { Button } from "../../../parts/button.tsx";
import { Dialog } from "../../../parts/dialog.tsx";
import { ErrorNote } from "../../../parts/error-note.tsx";
import { Page, Section } from "../../../parts/page/page.tsx";
import { Skeleton } from "../../../parts/skeleton.tsx";
import { Notice } from "../../../parts/values/status.tsx";
import { t } from "../../../viewer/language.ts";
import { KeyForm } from "../key-form.tsx";
import { type ProviderList, useProviders, useProvidersChanged } from "../providers.ts";
import { DefaultModels } from "./default-models.tsx";
import { LocalServerForm } from "./local-server-form.tsx";
import { ProviderRow } from "./provider-row.tsx";

/** What is open: the key or the address of a provider, or the key of any. */
type Opened = { kind: "key"; id?: string } | { kind: "address"; id: string };

export default function ModelsPage() {
  const { data, error, refetch } = useProviders();
  const changed = useProvidersChanged();
  const [opened, setOpened] = useState<Opened>();
  const [hidden, setHidden] = useState<readonly string[]>([]);
  const free = data?.providers.filter(({ keySource }) => keySource !== "environment") ?? [];
  const addKey = free.length > 0 && (
    <Button look="primary" onClick={() => setOpened({ kind: "key" })}>
      {t("Add a key")}
    </Button>
  );
  return (
    <Page title={t("Models")} intro={t("Which models answer for your agents, and with whose keys.")} actions={addKey}>
      {error && !data && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Skeleton className="h-96" />}
      {data && (
        <>
          <Serving list={data} />
          {data.serving !== "demo" && (
            <Section title={t("Default models")} hint={t("What agents think with that name no model of their own.")}>
              <DefaultModels providers={data.providers} />
            </Section>
          )}
          <Section
            title={t("Providers")}
            hint={t("The first in this list that is set up serves where nothing else is chosen.")}
          >
            <ul className="-my-3 divide-y divide-edge">
              {data.providers.map((provider) => (
                <ProviderRow
                  key={provider.id}
                  provider={provider}
                  isHidden={hidden.includes(provider.id)}
                  onHide={() => {
                    setHidden((before) => [...before, provider.id]);
                    return () => setHidden((before) => before.filter((id) => id !== provider.id));
                  }}
                  onForgotten={changed}
                  onKey={() => setOpened({ kind: "key", id: provider.id })}
                  onAddress={() => setOpened({ kind: "address", id: provider.id })}
                />
              ))}
            </ul>
          </Section>
        </>
      )}
      {data && opened?.kind === "key" && (
        <Dialog title={t("A key of a provider")} onClose={() => setOpened(undefined)}>
          <KeyForm
            providers={opened.id ? free.filter(({ id }) => id === opened.id) : free}
            onStored={() => void changed()}
          />
        </Dialog>
      )}
      {data && opened?.kind === "address" && (
        <Dialog title={t("A model server of your own")} onClose={() => setOpened(undefined)}>
          <LocalServerForm
            provider={data.providers.find(({ id }) => id === opened.id)}
            ollamaUrl={data.ollama.baseUrl}
            onStored={() => void changed()}
          />
        </Dialog>
      )}
    </Page>
  );
}

/** What answers now, and what to do if that is only the demo. */
function Serving({ list: { serving } }: { list: ProviderList }) {
  if (serving === "keys") return null;
  return (
    <div className="mb-5">
      {serving === "demo" ? (
        <Notice tone="warn">
          <p>
            {t(
              "Only the built-in demo model answers. Add the key of a provider, or start an Ollama on this machine: it is found by itself.",
            )}
          </p>
        </Notice>
      ) : (
        <Notice tone="good">
          <p>
            {t(
              "An Ollama on this machine answers: it costs nothing, and nothing leaves the machine. With a key of a provider, that one answers.",
            )}
          </p>
        </Notice>
      )}
    </div>
  );
}
