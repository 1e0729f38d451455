// Keeps filters and tabs in the address, so that back, reload and links work.

import { useLocation, useSearchParams } from "wouter";

/** One parameter of the address; "" when it is not there. Setting "" removes it. Typing does not fill the history. */
export function useParameter(name: string): [string, (value: string) => void] {
  const [params, setParams] = useSearchParams();
  const change = (value: string) =>
    setParams(
      (before) => {
        const next = new URLSearchParams(before);
        if (value) next.set(name, value);
        else next.delete(name);
        return next;
      },
      { replace: true },
    );
  return [params.get(name) ?? "", change];
}

/** The path as `useLocation()` gives it: without percent signs where it can be read. */
export function currentPath(): string {
  try {
    return decodeURI(location.pathname);
  } catch {
    return location.pathname;
  }
}

/** Goes to another page of the console. */
export const useNavigate = () => useLocation()[1];
