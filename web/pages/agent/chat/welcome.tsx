// The beginning of a conversation: what one can do here, with words to start from.

import { type Text, t, text } from "../../../viewer/language.ts";
import { Column } from "./messages/message.tsx";

const STARTS: readonly Text[] = [
  text("What can you do for me?"),
  text("Which tools do you have, and what do they do?"),
  text("Remember that I prefer short answers."),
];

export const Welcome = ({ name, onSuggest }: { name: string; onSuggest: (text: string) => void }) => (
  <div className="flex min-h-0 flex-1 flex-col justify-center overflow-y-auto">
    <Column className="flex flex-col gap-4 py-6">
      <div>
        <p className="font-semibold text-lg">
          <bdi>{t("Talk to {name}", { name })}</bdi>
        </p>
        <p className="mt-1 max-w-prose text-soft">
          {t(
            "Ask something, add a picture or a file, or record your voice. The agent goes on when you close this page; its answer waits here.",
          )}
        </p>
      </div>
      <ul aria-label={t("To begin with")} className="flex flex-wrap gap-2">
        {STARTS.map((start) => (
          <li key={start}>
            <button
              type="button"
              onClick={() => onSuggest(t(start))}
              className="rounded-full border border-line bg-card px-3 py-1 hover:bg-hover"
            >
              {t(start)}
            </button>
          </li>
        ))}
      </ul>
    </Column>
  </div>
);
