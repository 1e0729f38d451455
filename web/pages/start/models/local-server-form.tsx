// Takes the address of a model server of one's own, tries it, and stores it if it answers.

import { useState } from "react";
import { ApiError } from "../../../api/errors.ts";
import { Button } from "../../../parts/button.tsx";
import { ErrorNote } from "../../../parts/error-note.tsx";
import { TextField } from "../../../parts/forms/field.tsx";
import { Form } from "../../../parts/forms/form.tsx";
import { t } from "../../../viewer/language.ts";
import { Answer } from "../answer.tsx";
import { type Provider, saveProvider, type TryResult, tryProvider } from "../providers.ts";

interface Props {
  provider: Provider | undefined;
  /** Of an Ollama that answers now. */
  ollamaUrl: string | null;
  onStored: () => void;
}

export function LocalServerForm({ provider, ollamaUrl, onStored }: Props) {
  const isOwn = provider?.addressSource === "stored";
  const [address, setAddress] = useState(isOwn ? provider.baseUrl : (ollamaUrl ?? ""));
  const [key, setKey] = useState("");
  const [result, setResult] = useState<TryResult>();
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  if (!provider) return null;
  const issue = error instanceof ApiError ? (error.issueAt("baseUrl") ?? addressProblem(error)) : undefined;

  async function check(): Promise<void> {
    if (!provider || isBusy) return;
    const wanted = { baseUrl: address.trim(), apiKey: key.trim() === "" ? null : key.trim() };
    setBusy(true);
    setError(undefined);
    setResult(undefined);
    try {
      const answer = await tryProvider(provider.id, wanted);
      setResult(answer);
      if (!answer.ok) return;
      await saveProvider(provider.id, wanted);
      setKey("");
      onStored();
    } catch (failure) {
      setError(failure);
    } finally {
      setBusy(false);
    }
  }

  return (
    <Form onSubmit={() => void check()} className="flex flex-col gap-4">
      <p className="text-soft">
        {t(
          "Any server that speaks OpenAI's protocol: Ollama, llama.cpp, vLLM, LM Studio. It takes the place of {provider}.",
          {
            provider: provider.label,
          },
        )}
      </p>
      <TextField
        label={t("Address")}
        type="url"
        required
        inputMode="url"
        className="font-mono"
        value={address}
        placeholder="http://127.0.0.1:11434/v1"
        onChange={(event) => setAddress(event.target.value)}
        error={issue}
        hint={t("On this machine or public. Other private networks must be allowed by the operator (OUTBOUND_ALLOW).")}
      />
      <TextField
        label={t("Key, if it wants one")}
        type="password"
        name="server-key"
        className="font-mono"
        value={key}
        onChange={(event) => setKey(event.target.value)}
      />
      <div>
        <Button type="submit" look="primary" isBusy={isBusy}>
          {isBusy ? t("Asking it…") : t("Check and keep this address")}
        </Button>
      </div>
      {error !== undefined && !issue && <ErrorNote error={error} />}
      {result && <Answer provider={t("The server")} result={result} />}
    </Form>
  );
}

const addressProblem = ({ code, message }: ApiError): string | undefined =>
  code === "ADDRESS_NOT_ALLOWED" || code === "INVALID_ADDRESS" ? message : undefined;
