// A long feed that is read from its end, such as a conversation: it opens at the end, stays there while something is added,
// and keeps its place when older entries come in above. Only the visible part is in the page.

import { useVirtualizer } from "@tanstack/react-virtual";
import { ArrowDown } from "lucide-react";
import { type ReactNode, useCallback, useEffect, useEffectEvent, useLayoutEffect, useRef, useState } from "react";
import { t } from "../../viewer/language.ts";
import { keyAt, VirtualRows } from "./virtual-rows.tsx";

interface Props<Item> {
  label: string;
  /** Oldest first. */
  items: readonly Item[];
  /** The height of an entry in pixels, as a first guess; each is measured. */
  estimate: number;
  keyOf: (item: Item) => string;
  renderItem: (item: Item, index: number) => ReactNode;
  /** Called when the beginning comes near, to load older entries. */
  onStart?: (() => void) | undefined;
  /** The key of an entry to show in the middle, once it is there, in place of the end. */
  target?: string | undefined;
}

/** Pixels from the end within which the feed follows what is added, and from which on a button leads back. */
const NEAR_END = 60;
const AWAY = 300;
/** Pixels from the beginning at which older entries are asked for. */
const NEAR_START = 600;
/** How long a scroll may follow from what a person did. */
const INPUT_MS = 1_000;
/** Pixels before the first entry and after the last. */
const PADDING = 16;

export function VirtualFeed<Item>({ label, items, estimate, keyOf, renderItem, onStart, target }: Props<Item>) {
  const box = useRef<HTMLDivElement>(null);
  const [isAway, setAway] = useState(false);
  const keyFor = useCallback((index: number) => keyAt(items, index, keyOf), [items, keyOf]);
  const virtual = useVirtualizer({
    count: items.length,
    getScrollElement: () => box.current,
    estimateSize: () => estimate,
    overscan: 6,
    paddingStart: PADDING,
    paddingEnd: PADDING,
    getItemKey: keyFor,
    // What is in view stays there when entries come in above it.
    anchorTo: "end",
  });
  const isEmpty = items.length === 0;

  // A feed at its end stays there when entries, their measured heights or the box grow.
  const isFollowing = useRef(true);
  // The list keeps its place by itself where a row above it turns out higher or lower than guessed, unless it is at the end.
  virtual.shouldAdjustScrollPositionOnItemSizeChange = ({ start }, _, { scrollOffset }) =>
    !isFollowing.current && start < (scrollOffset ?? 0);
  const height = virtual.getTotalSize();
  useLayoutEffect(() => {
    const [element, list] = [box.current, box.current?.firstElementChild];
    if (!element || !list) return;
    scrollToEnd(element);
    const observer = new ResizeObserver(() => {
      if (isFollowing.current) scrollToEnd(element);
    });
    observer.observe(element);
    observer.observe(list);
    return () => observer.disconnect();
  }, []);

  const targetIndex = target === undefined ? -1 : items.findIndex((item) => keyOf(item) === target);
  const shownTarget = useRef<string>(undefined);
  // biome-ignore lint/correctness/useExhaustiveDependencies: it moves once for each target
  useLayoutEffect(() => {
    if (targetIndex < 0 || shownTarget.current === target) return;
    shownTarget.current = target;
    isFollowing.current = false;
    virtual.scrollToIndex(targetIndex, { align: "center" });
  }, [target, targetIndex]);

  const lastInput = useRef(Number.NEGATIVE_INFINITY);
  const noteInput = () => {
    lastInput.current = performance.now();
  };
  const onScroll = () => {
    const top = box.current?.scrollTop ?? 0;
    const distance = distanceFromEnd(box.current);
    // Entries that are measured move the box, too. Only a person's move is a wish to leave the end, or to come back to it.
    if (performance.now() - lastInput.current < INPUT_MS) isFollowing.current = distance <= NEAR_END;
    setAway(distance > AWAY && !isFollowing.current);
    if (top < NEAR_START) onStart?.();
  };

  const reachStart = useEffectEvent(() => onStart?.());
  // A feed that does not fill its box can't be scrolled.
  // biome-ignore lint/correctness/useExhaustiveDependencies: it follows the height
  useEffect(() => {
    if (!isEmpty && box.current && box.current.scrollHeight <= box.current.clientHeight) reachStart();
  }, [height, isEmpty]);

  return (
    <div className="relative min-h-0 flex-1">
      <div
        ref={box}
        role="region"
        aria-label={label}
        tabIndex={0}
        onScroll={onScroll}
        onWheel={noteInput}
        onTouchMove={noteInput}
        onPointerDown={noteInput}
        onKeyDown={noteInput}
        className="h-full overflow-y-auto [overflow-anchor:none]"
      >
        <VirtualRows isOrdered {...{ virtual, items, renderItem }} />
      </div>
      {isAway && (
        <button
          type="button"
          onClick={() => {
            isFollowing.current = true;
            // What was scrolled just before is no wish to leave the end that is reached now.
            lastInput.current = Number.NEGATIVE_INFINITY;
            scrollToEnd(box.current);
          }}
          className="absolute bottom-3 left-1/2 flex -translate-x-1/2 items-center gap-1.5 rounded-full border border-line bg-raised px-3 py-1 text-ink text-sm shadow-raised hover:bg-hover [&_svg]:size-3.5"
        >
          <ArrowDown aria-hidden="true" />
          {t("Jump to the latest")}
        </button>
      )}
    </div>
  );
}

const distanceFromEnd = (box: HTMLElement | null) => (box ? box.scrollHeight - box.clientHeight - box.scrollTop : 0);

function scrollToEnd(box: HTMLElement | null): void {
  if (box) box.scrollTop = box.scrollHeight;
}
