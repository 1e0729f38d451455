// How the list looks: as the person last chose in this browser; before that, rows if there are many, and the latest first.

import { useState } from "react";
import { useParameter } from "../../viewer/address.ts";

export type View = "grid" | "list";

const STORED_AS = "berth-agents-view";
const MANY = 24;

export function useView(total: number): [View, (view: View) => void] {
  const [chosen, setChosen] = useState(() => localStorage.getItem(STORED_AS));
  const view = chosen === "grid" || chosen === "list" ? chosen : total > MANY ? "list" : "grid";
  return [
    view,
    (next) => {
      localStorage.setItem(STORED_AS, next);
      setChosen(next);
    },
  ];
}

const ORDER_STORED_AS = "berth-agents-order";

/** The order of the address, else the one that was last chosen; "" for the usual one. */
export function useOrder(): [string, (order: string) => void] {
  const [inAddress, setInAddress] = useParameter("sort");
  const [chosen, setChosen] = useState(() => localStorage.getItem(ORDER_STORED_AS) ?? "");
  return [
    inAddress || chosen,
    (next) => {
      localStorage.setItem(ORDER_STORED_AS, next);
      setChosen(next);
      setInAddress(next);
    },
  ];
}
