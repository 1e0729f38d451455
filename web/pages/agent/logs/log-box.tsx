// The lines in a box of their own, of which only the visible part is in the page. While somebody reads further down, new lines
// wait above.

import { useVirtualizer } from "@tanstack/react-virtual";
import { ArrowUp } from "lucide-react";
import { useEffect, useEffectEvent, useRef, useState } from "react";
import { Button } from "../../../parts/button.tsx";
import { t, tn } from "../../../viewer/language.ts";
import { LineLinks } from "./line-links.tsx";
import { Line, type LogLine } from "./log-line.tsx";

interface Props {
  agentId: string;
  /** Newest first. */
  lines: readonly LogLine[];
  isPaused: boolean;
  onEnd: () => void;
  onOpenTurn: (turnId: string) => void;
}

/** Pixels from the top within which the newest line counts as being read. */
const AT_TOP = 8;

export function LogBox({ agentId, lines, isPaused, onEnd, onOpenTurn }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const [isAtTop, setAtTop] = useState(true);
  const isHeld = isPaused || !isAtTop;
  const [heldAt, setHeldAt] = useState<string>();
  const newest = lines[0]?.id;
  if (!isHeld && heldAt !== newest) setHeldAt(newest);
  const skipped = isHeld
    ? Math.max(
        0,
        lines.findIndex(({ id }) => id === heldAt),
      )
    : 0;
  const shown = skipped === 0 ? lines : lines.slice(skipped);
  const virtual = useVirtualizer({
    count: shown.length,
    getScrollElement: () => box.current,
    estimateSize: () => 29,
    overscan: 10,
    getItemKey: (index) => shown[index]?.id ?? index,
  });
  const rows = virtual.getVirtualItems();
  const last = rows.at(-1)?.index ?? 0;
  const reachEnd = useEffectEvent(onEnd);
  useEffect(() => {
    if (shown.length > 0 && last >= shown.length - 10) reachEnd();
  }, [last, shown.length]);
  return (
    <div className="relative">
      {skipped > 0 && (
        <div className="absolute inset-x-0 top-2 z-10 flex justify-center">
          <Button
            className="shadow-raised"
            onClick={() => {
              setHeldAt(newest);
              box.current?.scrollTo({ top: 0 });
            }}
          >
            <ArrowUp aria-hidden="true" />
            {tn("{n} new line", "{n} new lines", skipped)}
          </Button>
        </div>
      )}
      <div
        ref={box}
        onScroll={({ currentTarget }) => setAtTop(currentTarget.scrollTop < AT_TOP)}
        className="h-[max(20rem,calc(100dvh-21rem))] overflow-y-auto"
        tabIndex={0}
        role="region"
        data-log=""
        aria-label={t("Lines of the log, newest first")}
      >
        <ol className="relative" style={{ height: virtual.getTotalSize() }}>
          {rows.map(({ index, key, start }) => {
            const line = shown[index];
            if (!line) return null;
            return (
              <li
                key={key}
                ref={virtual.measureElement}
                data-index={index}
                className="absolute inset-x-0 top-0"
                style={{ transform: `translateY(${start}px)` }}
              >
                <Line line={line}>
                  <LineLinks agentId={agentId} links={line.links} onOpenTurn={onOpenTurn} />
                </Line>
              </li>
            );
          })}
        </ol>
      </div>
    </div>
  );
}
