// Asks a provider a tiny question with the settings in force.

import { useState } from "react";
import { type TryResult, tryProvider } from "./providers.ts";

export function useTry(id: string) {
  const [result, setResult] = useState<TryResult>();
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  async function ask(): Promise<void> {
    setBusy(true);
    setResult(undefined);
    setError(undefined);
    try {
      setResult(await tryProvider(id, {}));
    } catch (failure) {
      setError(failure);
    } finally {
      setBusy(false);
    }
  }
  return { result, error, isBusy, ask };
}
