// The rows of a virtual list that are in the page, each at its place and measured.

import type { Virtualizer } from "@tanstack/react-virtual";
import { memo, type ReactNode, type Ref } from "react";

interface Props<Item> {
  virtual: Pick<Virtualizer<Element, Element>, "getTotalSize" | "getVirtualItems" | "measureElement">;
  items: readonly Item[];
  /** Called again for another item or when it is another function, and not while the list scrolls. */
  renderItem: (item: Item, index: number) => ReactNode;
  /** Whether the order means something, as in a conversation. */
  isOrdered?: boolean;
  label?: string;
  /** Pixels from the start of what is scrolled to the list. */
  offset?: number;
  list?: Ref<HTMLUListElement & HTMLOListElement>;
}

export function VirtualRows<Item>({ virtual, items, renderItem, isOrdered, label, offset = 0, list }: Props<Item>) {
  const List = isOrdered ? "ol" : "ul";
  return (
    <List ref={list} aria-label={label} className="relative w-full" style={{ height: virtual.getTotalSize() }}>
      {virtual.getVirtualItems().map(({ index, key, start }) => {
        const item = items[index];
        if (item === undefined) return null;
        return (
          <Row
            key={key}
            top={start - offset}
            measure={virtual.measureElement}
            {...{ item, index }}
            renderItem={renderItem as RowProps["renderItem"]}
          />
        );
      })}
    </List>
  );
}

interface RowProps {
  item: unknown;
  index: number;
  /** Pixels. */
  top: number;
  measure: (element: Element | null) => void;
  renderItem: (item: unknown, index: number) => ReactNode;
}

/** Stays as it is while the list scrolls: rendering all rows for each frame would take longer than a frame. */
const Row = memo(({ item, index, top, measure, renderItem }: RowProps) => (
  <li
    ref={measure}
    data-index={index}
    className="absolute inset-x-0 top-0"
    style={{ transform: `translateY(${top}px)` }}
  >
    {renderItem(item, index)}
  </li>
));

/** The key of the item at an index; items may have been removed since the rows were counted. */
export function keyAt<Item>(items: readonly Item[], index: number, keyOf: (item: Item) => string): string {
  const item = items[index];
  return item === undefined ? String(index) : keyOf(item);
}
