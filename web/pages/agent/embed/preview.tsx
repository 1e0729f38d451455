// Shows the real chat in a small page of its own, as it would look with what is being typed. It is a picture: a chat keeps the
// keyboard's focus in it, which belongs to this page.

import { ExternalLink } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { OutsideButton } from "../../../parts/outside-link.tsx";
import { t } from "../../../viewer/language.ts";
import type { Look } from "./look-form.tsx";

/** Made by plugins/embed/frame-page.ts, run by web/embed/preview.ts. */
const ADDRESS = "/embed/~preview";

interface Props {
  name: string;
  look: Look;
  /** Where the chat can be tried; undefined while it is off. */
  address: string | undefined;
}

export function Preview({ name, look: { greeting, accent, theme }, address }: Props) {
  const frame = useRef<HTMLIFrameElement>(null);
  /** How often the page was loaded: its script listens then. */
  const [loads, setLoads] = useState(0);
  useEffect(() => {
    if (loads === 0) return;
    const look = { name, greeting: greeting.trim(), accent: accent ?? null, theme };
    frame.current?.contentWindow?.postMessage(look, location.origin);
  }, [loads, name, greeting, accent, theme]);
  return (
    <section className="lg:sticky lg:top-5" aria-labelledby="embed-preview">
      <h2 id="embed-preview" className="mb-2 font-semibold text-md">
        {t("What visitors see")}
      </h2>
      <iframe
        ref={frame}
        src={ADDRESS}
        inert
        onLoad={() => setLoads((before) => before + 1)}
        title={t("Preview of the chat")}
        className="h-[44rem] max-h-[85dvh] w-full rounded-large border border-edge bg-well"
      />
      {address !== undefined && (
        <div className="mt-3">
          <OutsideButton href={address}>
            <ExternalLink aria-hidden="true" />
            {t("Try it on a page of its own")}
          </OutsideButton>
        </div>
      )}
    </section>
  );
}
