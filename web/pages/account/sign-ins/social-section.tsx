// The social identity of the account, which token-gated agents ask for.

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api } from "../../../app/api.ts";
import { t } from "../../../app/language.ts";
import { Button } from "../../../parts/button.tsx";
import { ErrorNote, messageOf } from "../../../parts/error-note.tsx";
import { Section } from "../../../parts/page.tsx";
import { Skeleton } from "../../../parts/skeleton.tsx";
import { showError, showToast } from "../../../parts/toast.tsx";
import { When } from "../../../parts/when.tsx";

interface SocialIdentity {
  fid: string | null;
  linkedAt: string | null;
}

const KEY = ["social-identity"] as const;

export function SocialSection() {
  const queries = useQueryClient();
  const { data, error, refetch } = useQuery({
    queryKey: KEY,
    queryFn: () => api.get<SocialIdentity>("/api/settings/social"),
  });
  const unlink = useMutation({
    mutationFn: () => api.delete("/api/settings/social"),
    onSuccess: () => showToast(t("The social identity is no longer linked")),
    onError: (failure) => showError(messageOf(failure)),
    onSettled: () => queries.invalidateQueries({ queryKey: KEY }),
  });
  return (
    <Section
      title={t("Social identity")}
      hint={t(
        "Your number at Farcaster. It shows who you are to apps that use this service; it does not sign you in here.",
      )}
      actions={
        data?.fid && (
          <Button isBusy={unlink.isPending} onClick={() => unlink.mutate()}>
            {t("Unlink")}
          </Button>
        )
      }
    >
      {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Skeleton className="h-5 w-48" />}
      {data?.fid && (
        <p>
          {t("Number {fid}", { fid: data.fid })}
          {data.linkedAt && (
            <span className="text-soft">
              {" · "}
              {t("linked")} <When at={data.linkedAt} />
            </span>
          )}
        </p>
      )}
      {data && !data.fid && (
        <p className="max-w-prose text-soft">
          {t("None is linked. An app in which you are signed in at Farcaster links it for you.")}
        </p>
      )}
    </Section>
  );
}
