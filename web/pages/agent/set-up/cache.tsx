// Whether answers to the very same conversation are reused; a change counts at once.

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api, path } from "../../../api/api.ts";
import { messageOf } from "../../../parts/error-note.tsx";
import { Switch } from "../../../parts/forms/field.tsx";
import { Section } from "../../../parts/page/page.tsx";
import { Skeleton } from "../../../parts/skeleton.tsx";
import { showError } from "../../../parts/toast.tsx";
import { t } from "../../../viewer/language.ts";

interface CacheSettings {
  enabled: boolean;
  maxAgeSeconds: number | null;
}

export function Cache({ id }: { id: string }) {
  const client = useQueryClient();
  const key = ["agent", id, "cache"] as const;
  const address = path`/api/agents/${id}/cache`;
  const { data } = useQuery({ queryKey: key, queryFn: () => api.get<CacheSettings>(address) });
  const change = useMutation({
    mutationFn: (enabled: boolean) => api.put<CacheSettings>(address, { enabled }),
    onMutate(enabled) {
      const before = client.getQueryData<CacheSettings>(key);
      client.setQueryData(key, { ...before, enabled });
      return before;
    },
    onError(error, _, before) {
      client.setQueryData(key, before);
      showError(messageOf(error));
    },
    onSuccess: (settings) => client.setQueryData(key, settings),
  });
  return (
    <Section
      title={t("Save on repeated questions")}
      hint={t(
        "If exactly the same conversation comes again, the agent gives the answer from before, which costs nothing. Good for question-and-answer bots, odd for chats.",
      )}
    >
      {data ? (
        <Switch label={t("Reuse answers")} isOn={data.enabled} onChange={(enabled) => change.mutate(enabled)} />
      ) : (
        <Skeleton className="h-6 w-40" />
      )}
    </Section>
  );
}
