// Draws what visitors will see, with the greeting as it is being typed. The page itself is not framed here: it could
// spend the budget, and would not know the new greeting yet.

import { t } from "../../../viewer/language.ts";

interface Props {
  name: string;
  status: string;
  isOpen: boolean;
  greeting: string;
}

export function Preview({ name, status, isOpen, greeting }: Props) {
  const isAsleep = status === "stopped";
  return (
    <figure className="lg:sticky lg:top-5">
      <figcaption className="mb-2 font-semibold text-md">{t("What visitors see")}</figcaption>
      <div className="flex flex-col overflow-hidden rounded-large border border-edge bg-card">
        <div className="flex items-center gap-3 border-edge border-b p-4">
          <span
            aria-hidden="true"
            className="grid size-10 shrink-0 place-items-center rounded-full bg-fill font-semibold text-md text-white"
          >
            {[...name][0]?.toUpperCase()}
          </span>
          <div className="min-w-0">
            <p className="font-semibold">
              <bdi>{name}</bdi>
            </p>
            <p className={`text-sm ${isAsleep ? "text-soft" : "text-good"}`}>{isAsleep ? t("Asleep") : t("Online")}</p>
          </div>
        </div>
        {isOpen ? (
          <>
            <div className="flex min-h-56 flex-col items-start gap-2 p-4">
              {greeting.trim() !== "" && (
                <p dir="auto" className="max-w-[85%] whitespace-pre-wrap rounded-large bg-well px-3 py-2">
                  {greeting}
                </p>
              )}
            </div>
            <div aria-hidden="true" className="flex gap-2 border-edge border-t p-3">
              <span className="flex-1 rounded-round border border-line px-2.5 py-1.5 text-soft">
                {t("Write a message")}
              </span>
              <span className="rounded-round bg-fill px-3 py-1.5 font-medium text-white">{t("Send")}</span>
            </div>
          </>
        ) : (
          <p className="p-4 text-soft">{t("An AI agent. It does not talk to visitors here.")}</p>
        )}
      </div>
    </figure>
  );
}
