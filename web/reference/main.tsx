// The page of the API at /swagger: shows the operation that the address names, beside a searchable list of all.
import { useEffect, useMemo, useState } from "react";
import { createRoot } from "react-dom/client";
import { type ApiDocument, type Entry, entriesOf, searchTextOf, stemOf } from "./api-document.ts";
import { CredentialBox } from "./credential-box.tsx";
import { OperationView } from "./operation-view.tsx";
import "../tokens.css";
import "./reference.css";
import { inline, Text } from "./text.tsx";

const chosenId = () => decodeURIComponent(location.hash.slice(1));

function Reference({ api }: { api: ApiDocument }) {
  const entries = useMemo(() => entriesOf(api), [api]);
  const [id, setId] = useState(chosenId);
  useEffect(() => {
    const follow = () => {
      setId(chosenId());
      scrollTo(0, 0);
      document.getElementById("content")?.focus({ preventScroll: true });
    };
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);
  const entry = entries.find(({ operation }) => operation.operationId === id);
  useEffect(() => {
    document.title = entry ? `${entry.operation.summary} · ${api.info.title}` : api.info.title;
  }, [entry, api]);
  return (
    <>
      <header>
        <a className="home" href="#top">
          {api.info.title} <span className="kind">{api.info.version}</span>
        </a>
        <CredentialBox api={api} />
      </header>
      <div className="columns">
        <Navigation entries={entries} api={api} current={entry} />
        <main id="content" tabIndex={-1}>
          {entry ? <OperationView api={api} entry={entry} /> : <Overview api={api} entries={entries} />}
        </main>
      </div>
    </>
  );
}

interface ListProps {
  api: ApiDocument;
  entries: Entry[];
}

function Navigation({ api, entries, current }: ListProps & { current: Entry | undefined }) {
  const [query, setQuery] = useState("");
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const texts = useMemo(() => new Map(entries.map((entry) => [entry, searchTextOf(api, entry)])), [api, entries]);
  const matches = (entry: Entry) => words.every((word) => texts.get(entry)?.includes(stemOf(word)));
  const found = words.length === 0 ? entries : entries.filter(matches);
  // On a phone the list is closed; a chosen operation closes it.
  const [isOpen, setOpen] = useState(isWide);
  const id = current?.operation.operationId;
  useEffect(() => {
    if (id !== undefined && !isWide()) setOpen(false);
  }, [id]);
  return (
    <nav aria-label="Operations">
      <details open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>Operations</summary>
        <input
          type="search"
          aria-label="Search operations"
          placeholder="Search operations"
          value={query}
          onInput={({ currentTarget }) => setQuery(currentTarget.value)}
        />
        <p role="status" className="count">
          {words.length > 0 ? `${found.length} found` : ""}
        </p>
        {api.tags.map(({ name }) => {
          const own = found.filter(({ tag }) => tag === name);
          if (own.length === 0) return null;
          return (
            <details key={name} open={words.length > 0 || current?.tag === name}>
              <summary>{name}</summary>
              <OperationList entries={own} current={current} />
            </details>
          );
        })}
      </details>
    </nav>
  );
}

const isWide = () => matchMedia("(min-width: 56rem)").matches;

function OperationList({ entries, current }: { entries: Entry[]; current?: Entry | undefined }) {
  return (
    <ul className="operations">
      {entries.map((entry) => {
        const { method, path, operation } = entry;
        return (
          <li key={operation.operationId}>
            <a href={`#${operation.operationId}`} aria-current={entry === current ? "page" : undefined}>
              <span className={`method ${method.toLowerCase()}`}>{method}</span>
              <span>
                <span className={operation.deprecated ? "old" : undefined}>{inline(operation.summary)}</span>
                <span className="place">{path}</span>
              </span>
            </a>
          </li>
        );
      })}
    </ul>
  );
}

function Overview({ api, entries }: ListProps) {
  return (
    <article>
      <h1>{api.info.title}</h1>
      <Text>{api.info.description}</Text>
      <p>
        <a href="swagger/json" download="openapi.json">
          Download the document (OpenAPI 3.1)
        </a>
      </p>
      {api.tags.map(({ name, description, externalDocs }) => (
        <details className="tag" key={name}>
          <summary>
            <h2>{name}</h2> {description && <span>{inline(description)}</span>}
          </summary>
          {externalDocs && (
            <p>
              <a href={guideOf(api, externalDocs.url)}>{externalDocs.description}</a>
            </p>
          )}
          <OperationList entries={entries.filter(({ tag }) => tag === name)} />
        </details>
      ))}
    </article>
  );
}

/** The guides are on the web surface, at whatever address this page was opened. */
const guideOf = (api: ApiDocument, url: string) => (api.paths["/api/auth/session"] ? new URL(url).pathname : url);

async function start(): Promise<void> {
  // The element with which @elysiajs/swagger names the document to the script of its page.
  const { url = "swagger/json" } = document.getElementById("api-reference")?.dataset ?? {};
  const root = document.body.appendChild(document.createElement("div"));
  // The request that the page preloads, so both must be made alike.
  const response = await fetch(url, { credentials: "same-origin" });
  if (!response.ok) {
    root.textContent = `The document can't be loaded: the server answered ${response.status}. Load the page again.`;
    return;
  }
  createRoot(root).render(<Reference api={(await response.json()) as ApiDocument} />);
}

void start();
