// Shows the changes between two configurations, key by key: long texts by lines, everything else as values.

import { TextDiff } from "../../../parts/text/text-diff.tsx";
import { Badge } from "../../../parts/values/status.tsx";
import { t } from "../../../viewer/language.ts";
import { type Change, type Config, changesOf } from "./config-changes.ts";
import { keyWords } from "./key-words.ts";

interface Props {
  before: Config;
  after: Config;
  heads: readonly [string, string];
}

const LONG = 60;

export function ChangesView({ before, after, heads }: Props) {
  const changes = changesOf(before, after);
  if (changes.length === 0) return <p className="text-soft">{t("Nothing differs.")}</p>;
  return (
    <ul className="flex flex-col gap-4">
      {changes.map((change) => (
        <li key={change.path} className="min-w-0">
          <h3 className="mb-1 flex flex-wrap items-center gap-2">
            <Key path={change.path} />
            <Kind change={change} />
          </h3>
          {isLong(change) ? (
            <TextDiff before={asText(change.before)} after={asText(change.after)} heads={heads} />
          ) : (
            <p className="flex flex-wrap items-baseline gap-x-2 gap-y-1 font-mono text-sm">
              {change.before !== undefined && (
                <del className="rounded-round bg-bad-wash px-1.5">{asText(change.before)}</del>
              )}
              {change.before !== undefined && change.after !== undefined && <span aria-hidden="true">→</span>}
              {change.after !== undefined && (
                <ins className="rounded-round bg-good-wash px-1.5 no-underline">{asText(change.after)}</ins>
              )}
            </p>
          )}
        </li>
      ))}
    </ul>
  );
}

/** The key in words, with its path as the API writes it. */
function Key({ path }: { path: string }) {
  const words = keyWords(path);
  return (
    <>
      {words !== undefined && <span className="font-medium">{words}</span>}
      <code className={`break-all font-mono text-sm ${words === undefined ? "font-medium" : "text-soft"}`}>{path}</code>
    </>
  );
}

function Kind({ change: { before, after } }: { change: Change }) {
  if (before === undefined) return <Badge tone="good">{t("new")}</Badge>;
  return after === undefined ? <Badge tone="bad">{t("gone")}</Badge> : null;
}

const isLong = ({ before, after }: Change): boolean =>
  [before, after].some((value) => asText(value).length > LONG || asText(value).includes("\n"));

function asText(value: unknown): string {
  if (value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}
