// Very many items of one height, in as many columns as have room. Only those in view are in the page; it scrolls with the window.

import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { memo, type ReactNode, useEffect, useEffectEvent, useLayoutEffect, useRef, useState } from "react";

interface Props {
  label: string;
  count: number;
  /** Pixels. */
  rowHeight: number;
  /** The least width of a column in pixels; without it there is one column. */
  minWidth?: number;
  isBusy?: boolean;
  keyOf: (index: number) => string;
  /** Called again when it is another function, and not while the list scrolls. */
  renderItem: (index: number) => ReactNode;
  /** Called with the first and the last index in view, to load them. */
  onVisible?: (first: number, last: number) => void;
}

/** Another height is another list: what was measured counts no more. */
export const VirtualGrid = (props: Props) => <Grid key={props.rowHeight} {...props} />;

function Grid(props: Props) {
  const { label, count, rowHeight, minWidth, isBusy = false, keyOf, renderItem, onVisible } = props;
  const list = useRef<HTMLUListElement>(null);
  const { columns, top } = usePlace(list, minWidth);
  const rows = useWindowVirtualizer({
    count: Math.ceil(count / columns),
    estimateSize: () => rowHeight,
    overscan: 6,
    scrollMargin: top,
  });
  const visible = rows.getVirtualItems();
  const first = (visible[0]?.index ?? 0) * columns;
  const last = Math.min(count, ((visible.at(-1)?.index ?? 0) + 1) * columns) - 1;
  const tell = useEffectEvent(() => onVisible?.(first, last));
  useEffect(() => {
    if (first <= last) tell();
  }, [first, last]);
  return (
    <ul ref={list} aria-label={label} aria-busy={isBusy} className="relative" style={{ height: rows.getTotalSize() }}>
      {visible.flatMap(({ index: row, start }) =>
        Array.from({ length: columns }, (_, column) => row * columns + column)
          .filter((index) => index < count)
          .map((index) => (
            <Cell key={keyOf(index)} {...{ index, count, columns, renderItem }} top={start - top} height={rowHeight} />
          )),
      )}
    </ul>
  );
}

interface CellProps extends Pick<Props, "count" | "renderItem"> {
  index: number;
  columns: number;
  /** Pixels, as is `height`. */
  top: number;
  height: number;
}

/** Stays as it is while the list scrolls: rendering all cells for each frame would take longer than a frame. */
const Cell = memo(({ index, count, columns, top, height, renderItem }: CellProps) => (
  <li
    aria-setsize={count}
    aria-posinset={index + 1}
    className="absolute top-0"
    style={{
      height,
      width: `${100 / columns}%`,
      left: `${((index % columns) * 100) / columns}%`,
      transform: `translateY(${top}px)`,
    }}
  >
    {renderItem(index)}
  </li>
));

/** How many columns have room, and how far below the top of the page the list begins. */
function usePlace(list: { current: HTMLElement | null }, minWidth: number | undefined) {
  const [place, setPlace] = useState({ columns: 1, top: 0 });
  useLayoutEffect(() => {
    const element = list.current;
    if (!element) return;
    const measure = () => {
      const columns = minWidth === undefined ? 1 : Math.max(1, Math.floor(element.clientWidth / minWidth));
      const top = element.getBoundingClientRect().top + scrollY;
      setPlace((before) => (before.columns === columns && before.top === top ? before : { columns, top }));
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    observer.observe(document.body);
    return () => observer.disconnect();
  }, [list, minWidth]);
  return place;
}
