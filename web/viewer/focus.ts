// Keeps the place of those who use the keyboard: when the element with the focus goes, such as a removed row or a link that
// led to another page, the focus moves to what is now at its place. By itself a browser shows no focus then.

import { useEffect } from "react";

const FOCUSABLE = ":is(a[href], button, input, select, textarea, summary, [tabindex='0']):not(:disabled)";
/** Menus and dialogs give the focus back by themselves, within this time. */
const WAIT_MS = 60;

interface Place {
  element: Element;
  /** The elements around it, from near to far. */
  around: Element[];
  x: number;
  y: number;
  page: string;
}

function placeOf(element: Element): Place {
  const around: Element[] = [];
  for (let one = element.parentElement; one && one !== document.body; one = one.parentElement) around.push(one);
  const { left, top } = element.getBoundingClientRect();
  return { element, around, x: left, y: top, page: location.pathname };
}

/** What is nearest to the place in the nearest element around it that still has something for the keyboard. */
function successorOf({ around, x, y, page }: Place): HTMLElement | undefined {
  const main = document.querySelector<HTMLElement>("main");
  if (page !== location.pathname) return main ?? undefined;
  const distance = (element: HTMLElement) => {
    const { left, top } = element.getBoundingClientRect();
    return Math.hypot(left - x, top - y);
  };
  for (const box of around) {
    if (!box.isConnected) continue;
    const [first, ...others] = [...box.querySelectorAll<HTMLElement>(FOCUSABLE)].filter(
      (element) => element.tabIndex >= 0 && element.checkVisibility(),
    );
    if (first) return others.reduce((best, one) => (distance(one) < distance(best) ? one : best), first);
    if (box === main) return main;
  }
  return undefined;
}

export function useFocusKept(): void {
  useEffect(() => {
    let last: Place | undefined;
    const hasNoFocus = () => document.activeElement === null || document.activeElement === document.body;
    const onKey = () => {
      const { activeElement } = document;
      last = activeElement && !hasNoFocus() ? placeOf(activeElement) : undefined;
    };
    const forget = () => {
      last = undefined;
    };
    const onChange = new MutationObserver(() => {
      if (!last || last.element.isConnected) return;
      const lost = last;
      last = undefined;
      setTimeout(() => {
        if (hasNoFocus()) successorOf(lost)?.focus();
      }, WAIT_MS);
    });
    addEventListener("keydown", onKey, { capture: true });
    addEventListener("pointerdown", forget, { capture: true });
    onChange.observe(document.body, { childList: true, subtree: true });
    return () => {
      removeEventListener("keydown", onKey, { capture: true });
      removeEventListener("pointerdown", forget, { capture: true });
      onChange.disconnect();
    };
  }, []);
}
