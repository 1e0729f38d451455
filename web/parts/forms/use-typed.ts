// Keeps what somebody types over a stored value. Until then the field follows the value, which another tab may change.

import { useState } from "react";

/** The text of the field, and a function that changes it; undefined makes it follow the stored text again, as after saving. */
export function useTyped(stored: string): [string, (text: string | undefined) => void] {
  const [typed, setTyped] = useState<string>();
  return [typed ?? stored, (text) => setTyped(text === stored ? undefined : text)];
}
