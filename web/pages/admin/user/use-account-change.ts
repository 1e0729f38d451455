// Changes an account and shows the result at once.

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { messageOf } from "../../../parts/error-note.tsx";
import { showError } from "../../../parts/toast.tsx";
import type { AccountDetail } from "../api-types.ts";

/** `change` sends the request, which answers with the account. A failure is shown as a message. */
export function useAccountChange<Input>(
  id: string,
  change: (input: Input) => Promise<AccountDetail>,
  onDone?: (input: Input) => void,
) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSuccess(account, input) {
      client.setQueryData(["admin", "user", id], account);
      void client.invalidateQueries({ queryKey: ["admin", "users"] });
      void client.invalidateQueries({ queryKey: ["admin", "audit"] });
      onDone?.(input);
    },
    onError: (error) => showError(messageOf(error)),
  });
}
