// A long list of which only the visible part is in the page, scrolled with the window or in its own box.

import { useVirtualizer, useWindowVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useEffect, useEffectEvent, useLayoutEffect, useRef, useState } from "react";

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
  const list = useRef<HTMLUListElement>(null);
  const [offset, setOffset] = useState(0);
  useLayoutEffect(() => setOffset(list.current?.offsetTop ?? 0), []);
  const virtual = useWindowVirtualizer({
    count: items.length,
    estimateSize: () => estimate,
    overscan: 8,
    scrollMargin: offset,
    getItemKey: (index) => keyFor(items, index, keyOf),
  });
  const rows = virtual.getVirtualItems();
  useEndReached(rows.at(-1)?.index, items.length, onEnd);
  return (
    <ul ref={list} aria-label={label} className="relative" style={{ height: virtual.getTotalSize() }}>
      {rows.map(({ index, key, start }) => {
        const item = items[index];
        if (item === undefined) return null;
        return (
          <li
            key={key}
            ref={virtual.measureElement}
            data-index={index}
            className="absolute inset-x-0 top-0"
            style={{ transform: `translateY(${start - offset}px)` }}
          >
            {renderItem(item, index)}
          </li>
        );
      })}
    </ul>
  );
}

/** Scrolls in its own box, which takes the height of its place. */
export function VirtualBox<Item>({ label, items, estimate, keyOf, renderItem, onEnd }: Props<Item>) {
  const box = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: items.length,
    getScrollElement: () => box.current,
    estimateSize: () => estimate,
    overscan: 8,
    getItemKey: (index) => keyFor(items, index, keyOf),
  });
  const rows = virtual.getVirtualItems();
  useEndReached(rows.at(-1)?.index, items.length, onEnd);
  return (
    <div ref={box} className="min-h-0 flex-1 overflow-y-auto" tabIndex={0} role="region" aria-label={label}>
      <ul className="relative" style={{ height: virtual.getTotalSize() }}>
        {rows.map(({ index, key, start }) => {
          const item = items[index];
          if (item === undefined) return null;
          return (
            <li
              key={key}
              ref={virtual.measureElement}
              data-index={index}
              className="absolute inset-x-0 top-0"
              style={{ transform: `translateY(${start}px)` }}
            >
              {renderItem(item, index)}
            </li>
          );
        })}
      </ul>
    </div>
  );
}

function keyFor<Item>(items: readonly Item[], index: number, keyOf: (item: Item) => string): string {
  const item = items[index];
  return item === undefined ? String(index) : keyOf(item);
}

function useEndReached(last: number | undefined, count: number, onEnd: (() => void) | undefined): void {
  const reach = useEffectEvent(() => onEnd?.());
  /** Which end is near: another one after more rows have come. */
  const nearEnd = last !== undefined && last >= count - 5 ? count : undefined;
  useEffect(() => {
    if (nearEnd !== undefined) reach();
  }, [nearEnd]);
}
