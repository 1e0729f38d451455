// Cards or rows: as the person last chose in this browser; before that, rows if there are many.

import { useState } from "react";

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
