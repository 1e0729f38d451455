// Sends a request to this server with the visitor's session or a pasted key, and shows the answer as it arrives.
import { type SubmitEvent, useId, useRef, useState } from "react";
import { asText, type Entry, exampleOf } from "./api-document.ts";
import { CodeBlock } from "./code-block.tsx";
import { curlOf, type Draft, prepare } from "./request.ts";

interface Outcome {
  status: string;
  isGood: boolean;
  headers: string;
  body: string;
}

/** Characters of an answer that are shown; more would make the page slow. */
const MAX_SHOWN = 200_000;

export function TryIt({ entry }: { entry: Entry }) {
  const { operation } = entry;
  const content = operation.requestBody?.content;
  const example = exampleOf(content);
  const [draft, setDraft] = useState<Draft>({
    parameters: Object.fromEntries((operation.parameters ?? []).map(({ name }) => [name, ""])),
    body: example ? asText(example.value) : "",
    bodyType: example?.type ?? Object.keys(content ?? {})[0],
    file: undefined,
    isStream: false,
  });
  const [outcome, setOutcome] = useState<Outcome>();
  const [isBusy, setBusy] = useState(false);
  const running = useRef<AbortController>(undefined);
  const id = useId();
  const canStream = Object.values(operation.responses).some(({ content }) => content?.["text/event-stream"]);
  const change = (part: Partial<Draft>) => setDraft((now) => ({ ...now, ...part }));

  async function send(event: SubmitEvent<HTMLFormElement>) {
    event.preventDefault();
    running.current = new AbortController();
    setBusy(true);
    setOutcome(undefined);
    try {
      const { url, init } = prepare(entry, draft);
      await read(await fetch(url, { ...init, redirect: "manual", signal: running.current.signal }), setOutcome);
    } catch (error) {
      if (!running.current.signal.aborted) {
        setOutcome({ status: "No answer", isGood: false, headers: "", body: String(error) });
      }
    } finally {
      setBusy(false);
    }
  }

  return (
    <form className="try" onSubmit={send} aria-label="Try it">
      {(operation.parameters ?? []).map(({ name, in: place, required = false, example: shown, description }) => (
        <div className="field" key={name}>
          <label htmlFor={id + name}>
            <code>{name}</code> <span className="kind">{place}</span>
          </label>
          <input
            id={id + name}
            name={name}
            required={required}
            value={draft.parameters[name] ?? ""}
            placeholder={shown === undefined ? "" : String(shown)}
            title={description}
            onInput={({ currentTarget }) =>
              change({ parameters: { ...draft.parameters, [name]: currentTarget.value } })
            }
          />
        </div>
      ))}
      {draft.bodyType === "multipart/form-data" ? (
        <div className="field">
          <label htmlFor={`${id}file`}>File</label>
          <input
            id={`${id}file`}
            type="file"
            onChange={({ currentTarget }) => change({ file: currentTarget.files?.[0] })}
          />
        </div>
      ) : (
        draft.bodyType && (
          <div className="field">
            <label htmlFor={`${id}body`}>
              Body <span className="kind">{draft.bodyType}</span>
            </label>
            <textarea
              id={`${id}body`}
              name="body"
              spellCheck={false}
              rows={Math.min(18, draft.body.split("\n").length + 1)}
              value={draft.body}
              onInput={({ currentTarget }) => change({ body: currentTarget.value })}
            />
          </div>
        )
      )}
      {canStream && (
        <label className="check">
          <input
            type="checkbox"
            checked={draft.isStream}
            onChange={({ currentTarget }) => change({ isStream: currentTarget.checked })}
          />
          As server-sent events
        </label>
      )}
      <div className="actions">
        <button type="submit" disabled={isBusy}>
          Send {entry.method}
        </button>
        {isBusy && (
          <button type="button" className="quiet" onClick={() => running.current?.abort()}>
            Stop
          </button>
        )}
      </div>
      <details>
        <summary>As a command</summary>
        <CodeBlock label="The request for curl" text={curlOf(entry, draft)} />
      </details>
      <div role="status">
        {isBusy && !outcome && <p>Waiting for the answer …</p>}
        {outcome && <p className={outcome.isGood ? "good" : "bad"}>{outcome.status}</p>}
      </div>
      {outcome && (
        <>
          {outcome.headers && (
            <details>
              <summary>Headers</summary>
              <CodeBlock label="Headers of the answer" text={outcome.headers} />
            </details>
          )}
          {outcome.body && <CodeBlock label="Body of the answer" text={outcome.body} />}
        </>
      )}
    </form>
  );
}

/** Shows the answer while it arrives; JSON is indented at the end. */
async function read(response: Response, show: (outcome: Outcome) => void): Promise<void> {
  if (response.type === "opaqueredirect") {
    return show({
      status: "A redirect. Browsers hide where to; the command shows it.",
      isGood: true,
      headers: "",
      body: "",
    });
  }
  const { status, statusText, ok, headers } = response;
  const shown = {
    status: `${status} ${statusText}`.trim(),
    isGood: ok,
    headers: [...headers].map(([name, value]) => `${name}: ${value}`).join("\n"),
  };
  const type = headers.get("content-type") ?? "";
  if (type !== "" && !/json|text|xml|javascript|mpegurl/.test(type)) {
    const { size } = await response.blob();
    return show({ ...shown, body: `${size} bytes of ${type}` });
  }
  let body = "";
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
    body = (body + part.value).slice(0, MAX_SHOWN);
    show({ ...shown, body });
  }
  show({ ...shown, body: type.includes("json") ? indented(body) : body });
}

function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
