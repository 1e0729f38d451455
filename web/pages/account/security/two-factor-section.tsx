// The second factor: whether it is on, how many recovery codes are left, and turning it on and off.

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../../api/api.ts";
import { Button } from "../../../parts/button.tsx";
import { ErrorNote } from "../../../parts/error-note.tsx";
import { lazyDialog } from "../../../parts/lazy.tsx";
import { Section } from "../../../parts/page/page.tsx";
import { Skeleton } from "../../../parts/skeleton.tsx";
import { Notice, Status } from "../../../parts/values/status.tsx";
import { USER_KEY } from "../../../session/session.tsx";
import { formatTime, t, tn } from "../../../viewer/language.ts";
import { TurnOffDialog } from "./turn-off-dialog.tsx";

const EnrolmentDialog = lazyDialog(() => import("./enrolment-dialog.tsx"));

interface TwoFactor {
  enabled: boolean;
  since: string | null;
  recoveryCodesLeft: number;
}

const KEY = ["two-factor"] as const;
const FEW_CODES = 3;

export function TwoFactorSection() {
  const queries = useQueryClient();
  const [open, setOpen] = useState<"on" | "off">();
  const { data, error, refetch } = useQuery({
    queryKey: KEY,
    queryFn: () => api.get<TwoFactor>("/api/settings/2fa"),
  });
  const close = () => {
    setOpen(undefined);
    void queries.invalidateQueries({ queryKey: KEY });
    void queries.invalidateQueries({ queryKey: USER_KEY });
  };
  return (
    <Section
      title={t("Two-factor")}
      hint={t("A code of an app on your phone, beside the password. Whoever learns your password alone can't sign in.")}
      actions={
        data && (
          <Button look={data.enabled ? "quiet" : "primary"} onClick={() => setOpen(data.enabled ? "off" : "on")}>
            {data.enabled ? t("Turn off…") : t("Turn on…")}
          </Button>
        )
      }
    >
      {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Skeleton className="h-5 w-64" />}
      {data && (data.enabled ? <Enabled {...data} /> : <Status tone="idle">{t("Off")}</Status>)}
      {open === "on" && <EnrolmentDialog onClose={close} />}
      {open === "off" && <TurnOffDialog onClose={close} />}
    </Section>
  );
}

function Enabled({ since, recoveryCodesLeft }: TwoFactor) {
  return (
    <div className="flex flex-col items-start gap-3">
      <Status tone="good">
        {since ? t("On since {date}", { date: formatTime(Date.parse(since), { dateStyle: "long" }) }) : t("On")}
      </Status>
      {recoveryCodesLeft > FEW_CODES ? (
        <p className="text-soft">
          {tn("{n} recovery code is left.", "{n} recovery codes are left.", recoveryCodesLeft)}
        </p>
      ) : (
        <Notice tone="warn">
          <p>
            {tn("Only {n} recovery code is left.", "Only {n} recovery codes are left.", recoveryCodesLeft)}{" "}
            {t("Turn two-factor off and on again to get ten new ones.")}
          </p>
        </Notice>
      )}
    </div>
  );
}
