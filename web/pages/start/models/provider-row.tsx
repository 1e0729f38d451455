// One provider: whether it works, where its key comes from, and what can be done.

import { Button } from "../../../parts/button.tsx";
import { ErrorNote } from "../../../parts/error-note.tsx";
import { withUndo } from "../../../parts/toast.tsx";
import { Status, type Tone } from "../../../parts/values/status.tsx";
import { When } from "../../../parts/values/when.tsx";
import { t } from "../../../viewer/language.ts";
import { Answer } from "../answer.tsx";
import { forgetProvider, type Provider } from "../providers.ts";
import { useTry } from "../use-try.ts";

interface Props {
  provider: Provider;
  /** Its key is being removed, and may come back. */
  isHidden: boolean;
  /** Shows it without its key; returns what shows it again. */
  onHide: () => () => void;
  onForgotten: () => Promise<void>;
  onKey: () => void;
  onAddress: () => void;
}

export function ProviderRow({ provider, isHidden, onHide, onForgotten, onKey, onAddress }: Props) {
  const { id, label, isOllama, canChangeAddress, keySource, isOverridden } = provider;
  const name = isOllama ? "Ollama" : label;
  const { result, error, isBusy, ask } = useTry(id);
  const isStored = provider.source === "stored" || isOverridden;
  const inUse = provider.inUse && !isHidden;
  const remove = () => {
    const show = onHide();
    withUndo(
      t("The settings of {provider} are removed", { provider: name }),
      () => show,
      async () => {
        await forgetProvider(id);
        await onForgotten();
        show();
      },
    );
  };
  return (
    <li className="flex flex-col gap-3 py-3">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <div className="min-w-0 flex-1 basis-56">
          <h3 className="flex flex-wrap items-center gap-x-3 font-semibold">
            {name}
            <State provider={provider} inUse={inUse} />
          </h3>
          <p className="text-soft text-sm">{isHidden ? t("No key") : <Source provider={provider} />}</p>
        </div>
        <div className="flex flex-wrap gap-2">
          {inUse && (
            <Button onClick={() => void ask()} isBusy={isBusy}>
              {t("Try it")}
            </Button>
          )}
          {canChangeAddress && <Button onClick={onAddress}>{t("Own server")}</Button>}
          {keySource !== "environment" && (
            <Button onClick={onKey}>{provider.hasKey && !isHidden ? t("Replace the key") : t("Add a key")}</Button>
          )}
          {isStored && !isHidden && (
            <Button look="danger" onClick={remove}>
              {t("Remove")}
            </Button>
          )}
        </div>
      </div>
      {error !== undefined && <ErrorNote error={error} onRetry={() => void ask()} />}
      {result && inUse && <Answer provider={name} result={result} />}
    </li>
  );
}

function State({ provider: { health }, inUse }: { provider: Provider; inUse: boolean }) {
  const normal = "font-normal text-base";
  if (!inUse) {
    return (
      <span className={normal}>
        <Status tone="idle">{t("not set up")}</Status>
      </span>
    );
  }
  const states: Record<string, [Tone, string]> = {
    up: ["good", t("answers")],
    down: ["bad", t("can't be reached")],
    resting: ["warn", t("failed repeatedly, is tried again soon")],
    unknown: ["busy", t("not asked yet")],
  };
  const [tone, word] = states[health ?? "unknown"] ?? ["busy", t("not asked yet")];
  return (
    <span className={normal}>
      <Status tone={tone}>{word}</Status>
    </span>
  );
}

/** Where key and address come from, in a sentence or two. */
function Source({ provider }: { provider: Provider }) {
  const { keySource, keyEnd, hasKey, isOllama, isOverridden, addressSource, baseUrl, ownBaseUrl, updatedAt } = provider;
  const end = keyEnd ?? "";
  const hasOwnAddress = baseUrl !== ownBaseUrl;
  return (
    <>
      {isOllama && <>{t("Found on this machine, without a key.")} </>}
      {keySource === "environment" && (
        <>
          {keyEnd
            ? t("Key …{end}, from the environment ({variable}).", { end, variable: provider.keyVariable })
            : t("A key from the environment ({variable}).", { variable: provider.keyVariable })}{" "}
        </>
      )}
      {keySource === "stored" && (
        <>
          {keyEnd ? t("Key …{end}, stored", { end }) : t("A key, stored")} {updatedAt && <When at={updatedAt} />}.{" "}
        </>
      )}
      {!hasKey && !isOllama && !hasOwnAddress && t("No key")}
      {hasOwnAddress && (
        <>
          {t("Address: {address}", { address: baseUrl })}
          {addressSource === "environment" && ` (${provider.addressVariable})`}{" "}
        </>
      )}
      {isOverridden && <>{t("The key that is stored here waits: the one of the environment is used.")} </>}
    </>
  );
}
