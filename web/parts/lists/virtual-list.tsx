// A long list of which only the visible part is in the page, scrolled with the window or in its own box.

import { useVirtualizer, useWindowVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useEffect, useEffectEvent, useLayoutEffect, useRef, useState } from "react";
import { keyAt, VirtualRows } from "./virtual-rows.tsx";

interface Props<Item> {
  label: string;
  items: readonly Item[];
  /** The height of a row in pixels, as a first guess; each is measured. */
  estimate: number;
  keyOf: (item: Item) => string;
  renderItem: (item: Item, index: number) => ReactNode;
  /** Called when the end comes near, to load more. */
  onEnd?: () => void;
}

/** Scrolls with the page. */
export function VirtualList<Item>({ label, items, estimate, keyOf, renderItem, onEnd }: Props<Item>) {
  const list = useRef<HTMLUListElement & HTMLOListElement>(null);
  const [offset, setOffset] = useState(0);
  useLayoutEffect(() => setOffset(list.current?.offsetTop ?? 0), []);
  const virtual = useWindowVirtualizer({
    count: items.length,
    estimateSize: () => estimate,
    overscan: 8,
    scrollMargin: offset,
    getItemKey: (index) => keyAt(items, index, keyOf),
  });
  useEndReached(virtual.getVirtualItems().at(-1)?.index, items.length, onEnd);
  return <VirtualRows list={list} label={label} offset={offset} {...{ virtual, items, renderItem }} />;
}

/** Scrolls in its own box, which takes the height of its place. */
export function VirtualBox<Item>({ label, items, estimate, keyOf, renderItem, onEnd }: Props<Item>) {
  const box = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: items.length,
    getScrollElement: () => box.current,
    estimateSize: () => estimate,
    overscan: 8,
    getItemKey: (index) => keyAt(items, index, keyOf),
  });
  useEndReached(virtual.getVirtualItems().at(-1)?.index, items.length, onEnd);
  return (
    <div ref={box} className="min-h-0 flex-1 overflow-y-auto" tabIndex={0} role="region" aria-label={label}>
      <VirtualRows {...{ virtual, items, renderItem }} />
    </div>
  );
}

function useEndReached(last: number | undefined, count: number, onEnd: (() => void) | undefined): void {
  const reach = useEffectEvent(() => onEnd?.());
  /** Which end is near: another one after more rows have come. */
  const nearEnd = last !== undefined && last >= count - 5 ? count : undefined;
  useEffect(() => {
    if (nearEnd !== undefined) reach();
  }, [nearEnd]);
}
